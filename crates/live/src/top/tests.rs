//! The screen as text, and what keys do.

use super::screen;
use super::state::{Sort, State};
use instrument_analysis::moment::{Figures, Moment, Row};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use std::time::{Duration, SystemTime};

fn row(name: &str, calls: u64, base: f64, cum: f64) -> Row {
    Row { name: name.to_owned(), label: name.to_owned(), now: Figures { calls, base, cum } }
}

/// A program after so many seconds, in each of which it does the same; `parse` comes first by itself, `main` with all that it calls.
fn moment(seconds: u64) -> Moment {
    let n = seconds as f64;
    Moment {
        resource: "running".to_owned(),
        unit: "ns".to_owned(),
        resources: ["running", "waiting", "allocations"].map(str::to_owned).to_vec(),
        methods: vec![
            row("Shop.main(String[])", 1, 2e6 * n, 1e9 * n),
            row("Parser.parse(\u{1b}[2J)", 1000 * seconds, 6e8 * n, 7e8 * n),
            row("Cart.price(int)", 200_000 * seconds, 3.98e8 * n, 3.98e8 * n),
            row("Cart.start()", 1, 9e6, 9e6),
            row("com.acme.Shop.lambda$main$0(java.util.Map, java.util.List, int)", 700 * seconds, 0.0, 0.0),
        ],
        thread_count: 8,
        unmet: Some(3e6),
        threads: vec![row("main", 201_000 * seconds, 0.0, 9e8 * n), row("pool-*", 1, 0.0, 1e8 * n)],
        total: Figures { calls: 201_001 * seconds, base: 1e9 * n, cum: 1e9 * n },
        elapsed: Some(1_100_000_000 * seconds),
        is_live: true,
        programs: "shop.jar (pid 4711)".to_owned(),
    }
}

fn state() -> State {
    let mut state = State::new(moment(2), Sort::Own, Duration::from_secs(1));
    state.take(moment(3), SystemTime::UNIX_EPOCH);
    state
}

/// Compares a screen with the one that is kept.
#[track_caller]
fn is_as_kept(name: &str, state: &State, width: u16) {
    insta::with_settings!({snapshot_path => "../../tests/snapshots/top", prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(name, screen_of(state, width));
    });
}

fn press(state: &mut State, keys: &str) {
    for key in keys.chars() {
        let code = match key {
            '\t' => KeyCode::Tab,
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            key => KeyCode::Char(key),
        };
        state.key(KeyEvent::new(code, KeyModifiers::NONE));
    }
}

fn terminal(state: &State, width: u16, is_coloured: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, 10)).unwrap();
    terminal.draw(|frame| screen::draw(frame, state, is_coloured)).unwrap();
    terminal
}

fn screen_of(state: &State, width: u16) -> String {
    terminal(state, width, false).backend().to_string()
}

/// The names of the rows, from the top.
fn names(state: &State) -> Vec<&str> {
    state.rows.iter().map(|row| row.label.split('(').next().unwrap()).collect()
}

#[test]
fn methods_are_shown_with_what_was_added() {
    is_as_kept("methods", &state(), 110);
}

#[test]
fn a_narrow_screen_has_fewer_columns() {
    is_as_kept("narrow", &state(), 70);
}

#[test]
fn threads_and_keys_are_shown() {
    let mut state = state();
    press(&mut state, "\t");
    is_as_kept("threads", &state, 110);
    press(&mut state, "?");
    is_as_kept("keys", &state, 80);
    // The next key only puts them away.
    press(&mut state, "q");
    assert!(!state.is_helping && !state.has_ended);
}

#[test]
fn keys_sort() {
    let mut state = state();
    assert_eq!(
        names(&state),
        ["Parser.parse", "Cart.price", "Cart.start", "Shop.main", "com.acme.Shop.lambda$main$0"]
    );
    press(&mut state, "t");
    assert_eq!(names(&state)[..2], ["Shop.main", "Parser.parse"]);
    press(&mut state, "c");
    assert_eq!(names(&state)[..2], ["Cart.price", "Parser.parse"]);
    press(&mut state, "n");
    assert_eq!(
        names(&state),
        ["Cart.price", "Cart.start", "Parser.parse", "Shop.main", "com.acme.Shop.lambda$main$0"]
    );
    // What took most since the start is not what took most lately.
    press(&mut state, "sd");
    assert_eq!(
        names(&state),
        ["Parser.parse", "Cart.price", "Shop.main", "Cart.start", "com.acme.Shop.lambda$main$0"]
    );
    let added: Vec<_> = state.rows.iter().map(|row| (row.added.calls, row.added.base)).collect();
    assert_eq!(added, [(1000, 6e8), (200_000, 3.98e8), (0, 2e6), (0, 0.0), (700, 0.0)]);
}

#[test]
fn a_filter_keeps_names_until_it_is_cleared() {
    let mut state = state();
    press(&mut state, "/cartq");
    assert!(!state.has_ended, "keys go into the filter");
    assert_eq!(names(&state), [""; 0]);
    state.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
    assert_eq!(names(&state), ["Cart.price", "Cart.start"]);
    press(&mut state, "\n");
    assert!(screen_of(&state, 110).contains("only \"cart\" (2 rows)"));
    press(&mut state, "\u{1b}");
    assert_eq!((state.rows.len(), state.has_ended), (5, false));
    press(&mut state, "\u{1b}");
    assert!(state.has_ended);
}

#[test]
fn the_selection_stays_with_its_row() {
    let mut state = state();
    press(&mut state, "j");
    assert_eq!(state.rows[state.selected].label, "Cart.price(int)");
    press(&mut state, "n");
    assert_eq!(state.rows[state.selected].label, "Cart.price(int)");
    press(&mut state, "kkk");
    assert_eq!(state.selected, 0);
    press(&mut state, "jjjjjjjjj");
    assert_eq!(state.selected, 4);
}

#[test]
fn a_pause_and_an_end_end_the_refreshes() {
    let mut state = state();
    assert!(state.is_watching());
    press(&mut state, " ");
    assert!(!state.is_watching() && screen_of(&state, 110).contains("paused"));
    press(&mut state, " u");
    assert!(state.is_watching() && state.wants_now);
    state.take(Moment { is_live: false, ..moment(3) }, SystemTime::UNIX_EPOCH);
    assert!(!state.is_watching() && screen_of(&state, 110).contains("ended"));
    state.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(state.has_ended);
}

/// Figures of another resource are no difference.
#[test]
fn another_resource_begins_anew() {
    let mut state = state();
    assert!(state.added().is_some());
    press(&mut state, "r");
    assert_eq!((state.resource.as_str(), state.wants_now), ("waiting", true));
    state.take(Moment { resource: "waiting".to_owned(), ..moment(4) }, SystemTime::UNIX_EPOCH);
    assert!(state.added().is_none());
    assert!(state.rows.iter().all(|row| row.added == Figures::default()));
    press(&mut state, "rr");
    assert_eq!(state.resource, "running");
}

#[test]
fn the_time_between_refreshes_has_bounds() {
    let mut state = state();
    press(&mut state, "++++++");
    assert_eq!(state.interval, Duration::from_millis(250));
    press(&mut state, "------------");
    assert_eq!(state.interval, Duration::from_secs(60));
}

/// Every cell has the terminal's own colour, and nothing that a name holds controls the terminal.
#[test]
fn without_colour_there_is_none() {
    let state = state();
    let colours = |is_coloured: bool| {
        let terminal = terminal(&state, 110, is_coloured);
        let cells = terminal.backend().buffer().content();
        assert!(cells.iter().all(|cell| !cell.symbol().contains('\u{1b}')));
        cells.iter().filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset).count()
    };
    assert_eq!(colours(false), 0);
    assert!(colours(true) > 10);
    assert!(screen_of(&state, 110).contains("Parser.parse(\\u001b[2J)"));
}

/// A terminal may be of any size.
#[test]
fn no_size_is_too_small() {
    let mut state = state();
    press(&mut state, "?");
    for (width, height) in [(1, 1), (3, 2), (20, 4), (300, 3)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| screen::draw(frame, &state, true)).unwrap();
    }
}
