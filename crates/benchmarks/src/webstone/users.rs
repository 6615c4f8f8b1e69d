//! What a WebStone user does next: fetch a page, file by file, then the next page at once.
//!
//! | state | event | next state | step |
//! |---|---|---|---|
//! | between pages | asked | fetching file 0 of a page drawn by weight | perform: fetch that file |
//! | fetching file i | it succeeded, i is not the last | fetching file i + 1 | perform: fetch that file |
//! | fetching file i | it succeeded, i is the last | between pages | unit: page, ok |
//! | fetching file i | it failed | between pages | unit: page, not ok |
//!
//! No think time, no retry, never leaves. After a failed file the rest of its page is abandoned.

use std::sync::Arc;

use model::{Outcome, Page, Step, User, WebRequest, Workload};
use units::{Dice, Weights};

/// The pages of a workload, ready to be drawn from; one for all users of a run.
#[derive(Debug, Clone)]
pub struct PageMix {
    pages: Vec<Page>,
    weights: Weights,
}

impl PageMix {
    /// Makes the mix of a workload.
    pub fn new(workload: &Workload) -> PageMix {
        PageMix { pages: workload.pages.clone(), weights: workload.page_weights() }
    }
}

/// A virtual user that fetches pages.
#[derive(Debug, Clone)]
pub struct PageUser {
    mix: Arc<PageMix>,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    BetweenPages,
    /// Indexes of the page, and of the file within it.
    Fetching {
        page: u16,
        file: u32,
    },
}

impl PageUser {
    /// Makes a user that has not begun.
    pub fn new(mix: Arc<PageMix>) -> PageUser {
        PageUser { mix, state: State::BetweenPages }
    }

    fn fetch(&mut self, page: u16, file: u32) -> Step<WebRequest> {
        self.state = State::Fetching { page, file };
        Step::Perform(WebRequest { object: self.mix.pages[usize::from(page)].objects[file as usize] })
    }
}

impl User for PageUser {
    type Operation = WebRequest;

    /// Returns the next step; see the table of the module.
    ///
    /// # Panics
    /// If the outcome of the operation performed just before is not given.
    fn next(&mut self, last: Option<Outcome>, dice: &mut Dice) -> Step<WebRequest> {
        let State::Fetching { page, file } = self.state else {
            let page = dice.weighted(&self.mix.weights) as u16;
            return self.fetch(page, 0);
        };
        let ok = last.expect("an operation was performed") == Outcome::Ok;
        let n_files = self.mix.pages[usize::from(page)].objects.len();
        if ok && (file as usize + 1) < n_files {
            return self.fetch(page, file + 1);
        }
        self.state = State::BetweenPages;
        Step::Unit { kind: page, ok }
    }
}
