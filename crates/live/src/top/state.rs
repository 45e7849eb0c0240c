//! What is shown, and what keys do to it.

use std::time::{Duration, SystemTime};

use instrument_analysis::moment::{Figures, Moment, Row};
use instrument_names::word::words;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Rows that a page key moves by.
const PAGE: usize = 20;
/// The shortest and the longest time between two refreshes that keys lead to.
const INTERVALS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(60)];

words! {
    /// What rows are sorted by, the largest first.
    Sort {
        Own = "self": "What a method consumed itself",
        Total = "total": "The same with all that it called",
        Calls = "calls": "Calls",
        Name = "name": "Name, from A to Z",
    }
}

/// What the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Methods,
    Threads,
}

/// A row as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) label: String,
    pub(super) now: Figures,
    /// What was added since the refresh before.
    pub(super) added: Figures,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) now: Moment,
    before: Option<Moment>,
    /// When the figures were read.
    pub(super) read: SystemTime,
    /// The resource that is requested.
    pub(super) resource: String,
    pub(super) list: List,
    pub(super) sort: Sort,
    /// The order is that of what was added.
    pub(super) by_added: bool,
    pub(super) filter: String,
    /// Keys go into the filter.
    pub(super) is_typing: bool,
    pub(super) is_helping: bool,
    pub(super) is_paused: bool,
    pub(super) interval: Duration,
    pub(super) selected: usize,
    /// A refresh is wanted before it is due.
    pub(super) wants_now: bool,
    /// Why the last refresh failed.
    pub(super) problem: Option<String>,
    pub(super) has_ended: bool,
    pub(super) rows: Vec<Shown>,
}

impl State {
    pub(super) fn new(now: Moment, sort: Sort, interval: Duration) -> State {
        let mut state = State {
            resource: now.resource.clone(),
            now,
            before: None,
            read: SystemTime::now(),
            list: List::Methods,
            sort,
            by_added: false,
            filter: String::new(),
            is_typing: false,
            is_helping: false,
            is_paused: false,
            interval,
            selected: 0,
            wants_now: false,
            problem: None,
            has_ended: false,
            rows: Vec::new(),
        };
        state.arrange();
        state
    }

    /// Whether there is more to come.
    pub(super) fn is_watching(&self) -> bool {
        self.now.is_live && !self.is_paused
    }

    /// Takes new figures; those of the same resource are compared with the old ones.
    pub(super) fn take(&mut self, moment: Moment, read: SystemTime) {
        self.problem = None;
        self.read = read;
        let before = std::mem::replace(&mut self.now, moment);
        self.before = (before.resource == self.now.resource).then_some(before);
        self.arrange();
    }

    /// What was added to all of it since the refresh before.
    pub(super) fn added(&self) -> Option<Figures> {
        self.before.as_ref().map(|before| self.now.total.less(Some(&before.total)))
    }

    /// Sorts and filters anew; the selection stays with its row.
    fn arrange(&mut self) {
        let selected = self.rows.get(self.selected).map(|row| row.label.clone());
        let of = |moment: &'_ Moment| -> Vec<Row> {
            match self.list {
                List::Methods => moment.methods.clone(),
                List::Threads => moment.threads.clone(),
            }
        };
        let now = of(&self.now);
        // Without a refresh before nothing was added.
        let before = self.before.as_ref().map_or_else(|| now.clone(), of);
        let words = self.filter.to_lowercase();
        let rows = now.iter().zip(Moment::since(&now, &before));
        let rows = rows.filter(|(row, _)| row.label.to_lowercase().contains(&words));
        let shown = |(row, added): (&Row, Figures)| Shown { label: row.label.clone(), now: row.now, added };
        let mut rows: Vec<_> = rows.map(shown).collect();
        let figures = |row: &Shown| if self.by_added { row.added } else { row.now };
        rows.sort_by(|a, b| {
            let (x, y) = (figures(a), figures(b));
            let order = match self.sort {
                Sort::Own if self.list == List::Methods => y.base.total_cmp(&x.base),
                Sort::Own | Sort::Total => y.cum.total_cmp(&x.cum),
                Sort::Calls => y.calls.cmp(&x.calls),
                Sort::Name => std::cmp::Ordering::Equal,
            };
            order.then_with(|| a.label.cmp(&b.label))
        });
        self.rows = rows;
        let place = selected.and_then(|label| self.rows.iter().position(|row| row.label == label));
        // Whoever looks at the first row looks at what is first.
        self.selected = if self.selected == 0 { 0 } else { place.unwrap_or(0) };
    }

    /// Does what a key stands for.
    pub(super) fn key(&mut self, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            if let KeyCode::Char('c' | 'd') = key.code {
                self.has_ended = true;
            }
            return;
        }
        if self.is_typing {
            match key.code {
                KeyCode::Enter => self.is_typing = false,
                KeyCode::Esc => {
                    self.is_typing = false;
                    self.filter.clear();
                }
                KeyCode::Backspace => {
                    self.filter.pop();
                }
                KeyCode::Char(c) => self.filter.push(c),
                _ => {}
            }
            return self.arrange();
        }
        if self.is_helping {
            self.is_helping = false;
            return;
        }
        let last = self.rows.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('q') => self.has_ended = true,
            KeyCode::Esc if self.filter.is_empty() => self.has_ended = true,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('s') => self.sort = Sort::Own,
            KeyCode::Char('t') => self.sort = Sort::Total,
            KeyCode::Char('c') => self.sort = Sort::Calls,
            KeyCode::Char('n') => self.sort = Sort::Name,
            KeyCode::Char('d') => self.by_added = !self.by_added,
            KeyCode::Char('r') => self.next_resource(),
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('?' | 'h') => self.is_helping = true,
            KeyCode::Char('+') => self.interval = (self.interval / 2).max(INTERVALS[0].min(self.interval)),
            KeyCode::Char('-') => self.interval = (self.interval * 2).min(INTERVALS[1].max(self.interval)),
            KeyCode::F(5) | KeyCode::Char('u') => self.wants_now = true,
            KeyCode::Tab => {
                self.list = if self.list == List::Methods { List::Threads } else { List::Methods };
                (self.rows, self.selected) = (Vec::new(), 0);
            }
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::PageDown => self.selected = (self.selected + PAGE).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(PAGE),
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = last,
            _ => return,
        }
        let moves =
            [KeyCode::Down, KeyCode::Up, KeyCode::PageDown, KeyCode::PageUp, KeyCode::Home, KeyCode::End];
        if !moves.contains(&key.code) && !matches!(key.code, KeyCode::Char('j' | 'k')) {
            self.arrange();
        }
    }

    fn next_resource(&mut self) {
        let all = &self.now.resources;
        let at = all.iter().position(|name| *name == self.resource).map_or(0, |at| at + 1);
        if let Some(next) = all.get(at % all.len().max(1)) {
            self.resource.clone_from(next);
            self.wants_now = true;
        }
    }
}
