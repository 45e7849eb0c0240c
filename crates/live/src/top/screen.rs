//! The screen: who it is about, the rows, the keys.

use super::state::{List, Shown, Sort, State};
use instrument_analysis::text::{grouped, percent, quantity, shortened};
use instrument_names::printable::printable;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState};

/// Keys and what they do.
const KEYS: [(&str, &str); 14] = [
    ("s", "order: what a method took itself"),
    ("t", "order: the same with all that it called"),
    ("c", "order: calls"),
    ("n", "order: names"),
    ("d", "order by what was added since the last refresh, or by all of it"),
    ("Tab", "threads, or methods"),
    ("r", "the next resource: running, waiting, allocations, .."),
    ("/", "only names with a text; Enter keeps it, Esc clears it"),
    ("Space", "pause, go on"),
    ("+ -", "refresh more often, less often"),
    ("u", "refresh now"),
    ("j k", "next row, row before; also arrows, PgUp, PgDn, Home, End"),
    ("? h", "these keys"),
    ("q", "quit; also Ctrl-C"),
];
/// A screen of fewer columns has no bars and no calls that were added.
const NARROW: u16 = 90;
/// Columns of a figure with its unit, such as `< 124.3 ms`.
const FIGURE: u16 = 10;
/// Cells of a bar.
const BAR: usize = 10;

/// Styles, with colours or without.
struct Styles {
    is_coloured: bool,
}

impl Styles {
    fn colour(&self, colour: Color) -> Style {
        if self.is_coloured { Style::default().fg(colour) } else { Style::default() }
    }

    fn strong(&self) -> Style {
        Style::default().add_modifier(Modifier::BOLD)
    }

    fn turned(&self) -> Style {
        Style::default().add_modifier(Modifier::REVERSED)
    }
}

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, is_coloured: bool) {
    let styles = Styles { is_coloured };
    let [title, totals, rows, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(heading(state, &styles), title);
    frame.render_widget(sums(state), totals);
    table(frame, rows, state, &styles);
    frame.render_widget(bottom(state, foot.width, &styles), foot);
    if state.is_helping {
        help(frame);
    }
}

fn heading<'a>(state: &State, styles: &Styles) -> Line<'a> {
    let now = &state.now;
    let life = match (now.is_live, state.is_paused) {
        (true, true) => Span::styled("paused", styles.colour(Color::Yellow)),
        (true, false) => Span::styled("recorded", styles.colour(Color::Green)),
        (false, _) => Span::styled("ended", styles.colour(Color::Red)),
    };
    let mut parts =
        vec![Span::styled(printable(&now.programs).into_owned(), styles.strong()), "  ".into(), life];
    if let Some(elapsed) = now.elapsed {
        parts.push(format!(" for {}", quantity(elapsed as f64, "ns")).into());
    }
    if now.is_live {
        let every = humantime::format_duration(state.interval);
        parts.push(format!("; refreshed every {every}").into());
    }
    Line::from(parts)
}

/// All of it, and what was added to it.
fn sums<'a>(state: &State) -> Line<'a> {
    let now = &state.now;
    let added = state.added();
    let more = |text: Option<String>| text.map_or_else(String::new, |text| format!(" (+{text})"));
    let figure = quantity(now.total.cum, &now.unit);
    let figures = more(added.map(|added| quantity(added.cum, &now.unit)));
    let calls = more(added.map(|added| grouped(added.calls)));
    Line::from(format!(
        "{} {figure}{figures}  calls {}{calls}  threads {}  methods {}",
        now.resource,
        grouped(now.total.calls),
        grouped(now.thread_count),
        grouped(now.methods.len() as u64)
    ))
}

fn table(frame: &mut Frame<'_>, area: Rect, state: &State, styles: &Styles) {
    let is_wide = area.width >= NARROW;
    let is_methods = state.list == List::Methods;
    let mark = |text: &str, sort: Sort| {
        let is_it = state.sort == sort || (!is_methods && sort == Sort::Total && state.sort == Sort::Own);
        format!("{text}{}", if is_it { if state.by_added { "*+" } else { "*" } } else { "" })
    };
    let mut heads = vec![mark("calls", Sort::Calls)];
    let most = grouped(state.now.total.calls).len() as u16;
    let mut widths = vec![most.max(7)];
    if is_wide {
        heads.push("+calls".into());
        widths.push(most.max(7));
    }
    if is_methods {
        heads.push(mark("self", Sort::Own));
    } else {
        heads.push(mark("total", Sort::Total));
    }
    heads.extend(["added".to_owned(), "%".to_owned()]);
    widths.extend([FIGURE, FIGURE, 5]);
    if is_wide {
        heads.push(String::new());
        widths.push(BAR as u16);
    }
    if is_methods {
        heads.push(mark("total", Sort::Total));
        widths.push(FIGURE);
    }
    // Each has a blank behind it.
    let taken: u16 = widths.iter().map(|width| width + 1).sum();
    let names = area.width.saturating_sub(taken).max(16);
    widths.push(names);
    let last = heads.len();
    heads.push(mark(if is_methods { "method" } else { "thread" }, Sort::Name));
    let header = heads.into_iter().enumerate().map(|(i, head)| cell(head, i < last));
    let header = Row::new(header).style(styles.strong().add_modifier(Modifier::UNDERLINED));
    // Only rows that can be seen are made.
    let room = usize::from(area.height.saturating_sub(1)).max(1);
    let first = state.selected.saturating_sub(room.saturating_sub(1));
    let seen = state.rows.iter().skip(first).take(room);
    let rows = seen.map(|row| line(row, state, (is_wide, is_methods), usize::from(names), styles));
    let table = Table::new(rows, widths.into_iter().map(Constraint::Length))
        .header(header)
        .row_highlight_style(styles.turned());
    let mut place = TableState::new().with_selected(Some(state.selected - first));
    frame.render_stateful_widget(table, area, &mut place);
}

/// `room`: the columns of a name.
fn line<'a>(
    row: &Shown,
    state: &State,
    (is_wide, is_methods): (bool, bool),
    room: usize,
    styles: &Styles,
) -> Row<'a> {
    let unit = &state.now.unit;
    let own = |of: &instrument_analysis::moment::Figures| if is_methods { of.base } else { of.cum };
    let none_of = |value: f64, text: String| if value == 0.0 { "-".to_owned() } else { text };
    let added = own(&row.added);
    let mut cells = vec![cell(grouped(row.now.calls), true)];
    if is_wide {
        cells.push(cell(none_of(row.added.calls as f64, grouped(row.added.calls)), true));
    }
    cells.push(cell(state.now.figure(own(&row.now)), true));
    cells.push(cell(none_of(added, quantity(added, unit)), true).style(styles.colour(Color::Yellow)));
    let (part, whole) = if state.by_added {
        (added, state.added().map_or(0.0, |all| all.cum))
    } else {
        (own(&row.now), state.now.total.cum)
    };
    cells.push(cell(none_of(part, percent(part, whole)), true));
    if is_wide {
        let share = if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 };
        let full = (share * BAR as f64).round() as usize;
        cells.push(Cell::from(Span::styled("\u{2588}".repeat(full), styles.colour(Color::Cyan))));
    }
    if is_methods {
        cells.push(cell(state.now.figure(row.now.cum), true));
    }
    cells.push(cell(shortened(&printable(&row.label), Some(room)).into_owned(), false));
    Row::new(cells)
}

fn cell<'a>(text: String, is_figure: bool) -> Cell<'a> {
    let alignment = if is_figure { Alignment::Right } else { Alignment::Left };
    Cell::from(Text::from(text).alignment(alignment))
}

fn bottom<'a>(state: &State, width: u16, styles: &Styles) -> Line<'a> {
    if state.is_typing {
        return Line::from(format!("/{}_", printable(&state.filter)));
    }
    if let Some(problem) = &state.problem {
        return Line::styled(printable(problem).into_owned(), styles.colour(Color::Red));
    }
    let only = if state.filter.is_empty() {
        String::new()
    } else {
        format!("only {:?} ({} rows)  ", printable(&state.filter), state.rows.len())
    };
    let keys = "s t c n order  d added  Tab threads  r resource  / filter  Space pause  ? keys  q quit";
    let fits = only.chars().count() + keys.len() <= usize::from(width);
    Line::from(format!("{only}{}", if fits { keys } else { "/ filter  Space pause  ? keys  q quit" }))
}

fn help(frame: &mut Frame<'_>) {
    let lines = KEYS.map(|(keys, text)| format!(" {keys:<6} {text} "));
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as u16 + 2;
    let height = KEYS.len() as u16 + 2;
    let area = frame.area();
    let place = Rect {
        x: area.width.saturating_sub(width) / 2,
        y: area.height.saturating_sub(height) / 2,
        width: width.min(area.width),
        height: height.min(area.height),
    };
    frame.render_widget(Clear, place);
    frame.render_widget(
        Paragraph::new(lines.map(Line::from).to_vec()).block(Block::bordered().title(" keys ")),
        place,
    );
}
