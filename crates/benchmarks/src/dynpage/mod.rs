//! dynpage: a page of 1000 characters made by a program, for users who think between pages.
//!
//! The original: "Webstone.asp", a script page of random characters, 100 to 1000 users with exponential think time.
//! Ours makes its characters from a seed in the request, so that every one can be checked, and has the page made by
//! any of six kinds of programs; every known difference is in `docs/benchmarks/dynpage.md`.

use crate::Builtin;

/// The dynamic page.
pub const DYNPAGE: Builtin = Builtin {
    id: "dynpage",
    definition_file: "dynpage.toml",
    definition: include_str!("definition.toml"),
    filelists: &[],
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Connection, Outcome, Step, Think, User};
    use units::{Nanos, Purpose, Rng};

    use super::*;
    use crate::pages::{PageMix, PageUser};

    /// Golden check G25: 30 + 30 + 510 + 30 s.
    #[test]
    fn a_load_point_takes_ten_minutes() {
        let definition = DYNPAGE.load().definition;
        let s = Nanos::from_secs;
        assert_eq!(definition.phases.steady, s(510));
        assert_eq!(definition.phases.quiet + definition.phases.issuing(), s(600));
        let levels = definition.load.levels.list(None, definition.load.unit);
        assert_eq!(levels, (1..=10).map(|step| f64::from(step) * 100.0).collect::<Vec<_>>());
    }

    /// Golden check G26: X ≤ N/Z.
    #[test]
    fn think_time_bounds_the_rate() {
        let Think::Exponential(mean) = DYNPAGE.load().workload.think else { panic!("users think") };
        for (users, bound) in [(100.0, 370.37), (500.0, 1851.85), (1000.0, 3703.70)] {
            assert!((users / mean.as_secs_f64() - bound).abs() < 0.005);
        }
    }

    /// Golden check G28: mean 0.270 ± 0.001 s and standard deviation 0.270 ± 0.0012 s over 10⁶ draws of a user.
    #[test]
    fn users_think_as_long_as_they_should() {
        let workload = DYNPAGE.load().workload;
        let keep_alive = Connection::KeepAlive { requests_max: None };
        let mut user = PageUser::new(Arc::new(PageMix::new(&workload, keep_alive, 100.0)));
        let mut rng = Rng::new(1, Purpose::User, 0);
        let (mut sum, mut squares, mut longest, mut n, mut last) = (0.0, 0.0, 0.0f64, 0, None);
        while n < 1_000_000 {
            match user.next(last.take(), &mut rng) {
                Step::Think(time) => {
                    let seconds = time.as_secs_f64();
                    (sum, squares, n) = (sum + seconds, squares + seconds * seconds, n + 1);
                    longest = longest.max(seconds);
                }
                Step::Perform(_) => last = Some(Outcome::Ok),
                _ => {}
            }
        }
        let mean = sum / 1e6;
        let deviation = (squares / 1e6 - mean * mean).sqrt();
        assert!((mean - 0.270).abs() < 0.001, "{mean}");
        assert!((deviation - 0.270).abs() < 0.0012, "{deviation}");
        // The longest of a million is about 0.27 · ln 10⁶ = 3.7 s: nothing is cut off.
        assert!(2.7 < longest, "{longest}");
    }

    #[test]
    fn every_page_has_a_seed_of_its_own() {
        let page = &DYNPAGE.load().workload.requests[0];
        assert_eq!(page.path_of(123_456), "/dyn?size=1000&seed=123456");
        assert_eq!((page.letters_seed(123_456), page.body_bytes(123_456)), (123_456, Some(1000)));
        assert_eq!(page.objects(100.0), 1 << 31);
    }
}
