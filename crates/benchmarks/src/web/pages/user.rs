//! A virtual user of the web family: fetches the requests of a page one by one, thinks, takes the next page.
//!
//! | state | event | next state | step |
//! |---|---|---|---|
//! | between pages | asked, no row left | – | leave |
//! | between pages | asked | request 0 of a page drawn by weight | perform: that request |
//! | request i | it succeeded, i is not the last | request i + 1 | perform: that request |
//! | request i | it succeeded, i is the last | after a page | unit: page, ok |
//! | request i | it failed | after a page | unit: page, not ok |
//! | after a page | asked, users think | between pages | think: a time as drawn |
//! | after a page | asked, users do not think | as between pages | |
//!
//! Users never retry, and leave only when their data have no row left for another page. After a failed request the rest of its page is skipped. Where
//! connections are kept for a session, the length of the session is drawn when it begins, and its last
//! request asks to close the connection.

use std::sync::Arc;

use model::{Outcome, Step, User, UserReply, WebRequest};
use units::Rng;

use super::PageMix;

/// A virtual user that fetches pages.
#[derive(Debug, Clone)]
pub struct PageUser {
    mix: Arc<PageMix>,
    state: State,
    /// Number of requests left in the session; 0 before it begins.
    session_left: u8,
    /// Number of pages for which there are data.
    pages_left: u32,
}

#[derive(Debug, Clone, Copy)]
enum State {
    BetweenPages,
    /// Indices of the page and of the request within it.
    Fetching {
        page: u16,
        request_index: u32,
    },
    AfterPage,
}

impl PageUser {
    /// Creates a user that has not begun, by its number among all users.
    pub fn new(mix: Arc<PageMix>, user: u32) -> PageUser {
        let pages_left = mix.pages_max(user);
        PageUser { mix, state: State::BetweenPages, session_left: 0, pages_left }
    }

    fn fetch(&mut self, page: u16, request_index: u32, kind: u16, rng: &mut Rng) -> Step<WebRequest> {
        self.state = State::Fetching { page, request_index };
        let number = self.mix.number(kind, rng);
        let begins = request_index == 0;
        Step::Perform(WebRequest { kind, closes: self.ends_session(rng), begins, number })
    }

    /// Counts a request of the session; returns whether it is the last.
    fn ends_session(&mut self, rng: &mut Rng) -> bool {
        if self.session_left == 0 {
            let Some(length) = self.mix.session(rng) else { return false };
            self.session_left = length as u8;
        }
        self.session_left -= 1;
        self.session_left == 0
    }
}

impl User for PageUser {
    type Operation = WebRequest;

    /// Returns the next step; see the table of the module.
    ///
    /// # Panics
    /// The answer to the last operation is missing, or a page has no request.
    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<WebRequest> {
        if let State::Fetching { page, request_index } = self.state {
            let ok = last.expect("an operation was performed").outcome == Outcome::Ok;
            if ok && let Some(kind) = self.mix.kind(page, request_index + 1) {
                return self.fetch(page, request_index + 1, kind, rng);
            }
            self.state = State::AfterPage;
            return Step::Unit { kind: page, ok };
        }
        if let State::AfterPage = self.state {
            self.state = State::BetweenPages;
            if let Some(time) = self.mix.think(rng) {
                return Step::think(time);
            }
        }
        match self.pages_left.checked_sub(1) {
            None => return Step::Leave,
            // Data that are never used up.
            Some(_) if self.pages_left == u32::MAX => {}
            Some(left) => self.pages_left = left,
        }
        let page = self.mix.page(rng);
        let kind = self.mix.kind(page, 0).expect("pages have requests");
        self.fetch(page, 0, kind, rng)
    }
}

#[cfg(test)]
mod tests {
    use model::{ConnectionLifetime, DataSet, RowPick, RowsEnd, ThinkTime, WebWorkload};
    use units::{Nanos, StreamPurpose};

    use super::*;
    use crate::web::webstone::{WEBSTONE_1_1, WEBSTONE_2_0_1};

    fn user(workload: &WebWorkload) -> PageUser {
        PageUser::new(Arc::new(PageMix::new(workload, ConnectionLifetime::PerRequest, 1.0, 1)), 0)
    }

    /// Runs a user of the 1.1 pages for `n` steps; an operation fails if its file is in `broken`.
    fn transcript(seed: u64, n: usize, broken: &[&str]) -> String {
        let workload = WEBSTONE_1_1.load().workload.web().unwrap().clone();
        let mut user = user(&workload);
        let mut rng = Rng::new(seed, StreamPurpose::User, 0);
        let mut last = None;
        let mut lines = Vec::new();
        for _ in 0..n {
            match user.next(last.take(), &mut rng) {
                Step::Perform(WebRequest { kind, .. }) => {
                    let path = &workload.requests[usize::from(kind)].name;
                    let outcome = if broken.contains(&path.as_str()) { Outcome::Reset } else { Outcome::Ok };
                    lines.push(format!("get {path}: {}", outcome.name()));
                    last = Some(UserReply::of(outcome));
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
    fn files_of_a_page_are_fetched_in_order_and_the_next_page_follows_immediately() {
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
    fn after_a_failure_the_rest_of_the_page_is_skipped_without_retry() {
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
    fn empirical_mean(workload: &WebWorkload) -> f64 {
        let mut user = user(workload);
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut bytes = 0u64;
        let mut n = 0;
        let mut last = None;
        while n < 1_000_000 {
            if let Step::Perform(request) = user.next(last.take(), &mut rng) {
                bytes += workload.requests[usize::from(request.kind)].body_bytes(request.number).unwrap();
                n += 1;
                last = Some(UserReply::of(Outcome::Ok));
            }
        }
        bytes as f64 / 1e6
    }

    /// Golden check G3: three standard deviations, with the files of a page correlated.
    #[test]
    fn a_million_requests_of_1_1_have_the_mean_body_of_the_pages() {
        let mean = empirical_mean(&WEBSTONE_1_1.load().workload.web().unwrap().clone());
        assert!((mean - 6838.0).abs() < 50.0, "{mean}");
    }

    /// Golden check G5: three standard deviations, σ = 172,903 B.
    #[test]
    fn a_million_requests_of_2_0_1_have_the_mean_body_of_the_files() {
        let mean = empirical_mean(&WEBSTONE_2_0_1.load().workload.web().unwrap().clone());
        assert!((mean - 19_773.0).abs() < 520.0, "{mean}");
    }

    #[test]
    fn users_think_after_a_page_and_close_connections_with_their_sessions() {
        let think = ThinkTime::Fixed(Nanos::from_millis(5));
        let workload = WebWorkload { think, ..WEBSTONE_2_0_1.load().workload.web().unwrap().clone() };
        let mix = PageMix::new(&workload, ConnectionLifetime::Sessions, 1.0, 1);
        let mut user = PageUser::new(Arc::new(mix), 0);
        let mut rng = Rng::new(2, StreamPurpose::User, 0);
        let mut lengths = Vec::new();
        let mut length = 0;
        let mut last = None;
        while lengths.len() < 200 {
            match user.next(last.take(), &mut rng) {
                Step::Perform(request) => {
                    length += 1;
                    if request.closes {
                        lengths.push(std::mem::take(&mut length));
                    }
                    last = Some(UserReply::of(Outcome::Ok));
                }
                Step::Unit { .. } => {
                    assert_eq!(user.next(None, &mut rng), Step::think(Nanos::from_millis(5)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(lengths.iter().all(|length| *length == 1 || (5..=15).contains(length)), "{lengths:?}");
        let short = lengths.iter().filter(|length| **length == 1).count();
        assert!((40..=80).contains(&short), "30 % of 200 sessions, three standard deviations: {short}");
    }

    /// Five rows of data among two users: user 1 takes rows 1 and 3.
    #[test]
    fn a_user_without_a_row_left_leaves() {
        let data = DataSet {
            name: "users".into(),
            file: "users.csv".into(),
            hash: String::new(),
            rows: 5,
            pick: RowPick::Unique,
            at_end: RowsEnd::Leave,
        };
        let workload =
            WebWorkload { data: vec![data], ..WEBSTONE_2_0_1.load().workload.web().unwrap().clone() };
        let mix = Arc::new(PageMix::new(&workload, ConnectionLifetime::PerRequest, 2.0, 2));
        let mut user = PageUser::new(mix, 1);
        let mut rng = Rng::new(2, StreamPurpose::User, 0);
        let mut n_pages = 0;
        let mut last = None;
        loop {
            match user.next(last.take(), &mut rng) {
                Step::Perform(request) => {
                    n_pages += u32::from(request.begins);
                    last = Some(UserReply::of(Outcome::Ok));
                }
                Step::Leave => break,
                _ => {}
            }
        }
        assert_eq!(n_pages, 2);
    }

    /// Goal: ten thousand users take little memory.
    #[test]
    fn a_user_is_small() {
        assert!(size_of::<PageUser>() <= 24);
    }
}
