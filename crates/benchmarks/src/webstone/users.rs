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

#[cfg(test)]
mod tests {
    use units::Purpose;

    use super::*;
    use crate::webstone::{WEBSTONE_1_1, WEBSTONE_2_0_1};

    fn user(workload: &Workload) -> PageUser {
        PageUser::new(Arc::new(PageMix::new(workload)))
    }

    /// Lets a user of the 1.1 pages run until it has made `n` steps; an operation fails if its file is in `broken`.
    fn transcript(seed: u64, n: usize, broken: &[&str]) -> String {
        let workload = WEBSTONE_1_1.load().workload;
        let (mut user, mut dice) = (user(&workload), Dice::new(seed, Purpose::User, 0));
        let mut last = None;
        let mut lines = Vec::new();
        for _ in 0..n {
            match user.next(last.take(), &mut dice) {
                Step::Perform(WebRequest { object }) => {
                    let path = &workload.objects[object as usize].path;
                    let outcome = if broken.contains(&path.as_str()) { Outcome::Reset } else { Outcome::Ok };
                    lines.push(format!("get {path}: {}", outcome.name()));
                    last = Some(outcome);
                }
                Step::Unit { kind, ok } => {
                    lines.push(format!("page {kind} {}", if ok { "ok" } else { "failed" }))
                }
                other => lines.push(format!("{other:?}")),
            }
        }
        lines.join("\n")
    }

    #[test]
    fn files_of_a_page_are_fetched_in_order_and_the_next_page_follows_at_once() {
        insta::assert_snapshot!(transcript(3, 12, &[]), @r"
        get /file4k.html: ok
        get /file6k.html: ok
        page 2 ok
        get /file2k.html: ok
        get /file3k.html: ok
        page 0 ok
        get /file12k.html: ok
        get /file14k.html: ok
        get /file15k.html: ok
        get /file17k.html: ok
        get /file18k.html: ok
        page 5 ok
        ");
    }

    #[test]
    fn after_a_failure_the_rest_of_the_page_is_abandoned_and_nothing_is_repeated() {
        insta::assert_snapshot!(transcript(3, 12, &["/file2k.html", "/file5k.html"]), @r"
        get /file4k.html: ok
        get /file6k.html: ok
        page 2 ok
        get /file2k.html: reset
        page 0 failed
        get /file12k.html: ok
        get /file14k.html: ok
        get /file15k.html: ok
        get /file17k.html: ok
        get /file18k.html: ok
        page 5 ok
        get /file1k.html: ok
        ");
    }

    /// Mean body bytes over 10⁶ requests of one user.
    fn empirical_mean(workload: &Workload) -> f64 {
        let (mut user, mut dice) = (user(workload), Dice::new(1, Purpose::User, 0));
        let (mut bytes, mut n, mut last) = (0u64, 0, None);
        while n < 1_000_000 {
            if let Step::Perform(request) = user.next(last.take(), &mut dice) {
                bytes += workload.objects[request.object as usize].bytes;
                n += 1;
                last = Some(Outcome::Ok);
            }
        }
        bytes as f64 / 1e6
    }

    /// Golden check G3: three standard deviations, with the files of a page correlated.
    #[test]
    fn a_million_requests_of_1_1_have_the_mean_body_of_the_pages() {
        let mean = empirical_mean(&WEBSTONE_1_1.load().workload);
        assert!((mean - 6838.0).abs() < 50.0, "{mean}");
    }

    /// Golden check G5: three standard deviations, σ = 172,903 B.
    #[test]
    fn a_million_requests_of_2_0_1_have_the_mean_body_of_the_files() {
        let mean = empirical_mean(&WEBSTONE_2_0_1.load().workload);
        assert!((mean - 19_773.0).abs() < 520.0, "{mean}");
    }

    /// Goal: ten thousand users cost next to nothing.
    #[test]
    fn a_user_is_small() {
        assert!(size_of::<PageUser>() <= 24);
    }
}
