//! Deliveries that were slow or never came, and are missing where percentiles are read.

use analysis::Finding;
use analysis::finding::{DetailDifference, EqualTotals};
use model::{NoticeKind, NoticeTotals, Phase};
use stats::Histogram;
use units::Nanos;

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, s};

/// Ten notices in every second, eight of them after 10 ms, two after 5 s.
fn recorded() -> RecordedRun {
    let mut recorded = RecordedRun::closed();
    recorded.plan.catalog.notices = vec![NoticeKind { name: "delivery".to_owned() }];
    for record in &mut recorded.records {
        let mut totals = NoticeTotals { begun: 10, ended: 10, ..NoticeTotals::default() };
        let mut times = Histogram::new();
        if record.phase == Phase::Steady {
            totals.begun_in_steady = 10;
            for time in [[ms(10); 8].as_slice(), &[s(5); 2]].concat() {
                totals.times.record(time.0);
                times.record(time);
            }
        }
        record.notices = vec![totals];
        record.detail.as_mut().unwrap().notices = vec![times];
    }
    recorded
}

#[test]
fn a_distribution_without_the_slow_deliveries_is_caught() {
    let analysis = recorded().analyze();
    assert_valid(&analysis);
    let found = &analysis.load_points[0].notices[0];
    let [fast, slow] = [0.8, 0.81].map(|q| found.percentile(q).unwrap());
    assert!(fast < ms(11) && s(4) < slow, "{fast} {slow}");

    let analysis = recorded().analyze_details(|detail| {
        let times = &mut detail.notices[0];
        let n = times.n();
        *times = Histogram::new();
        (0..n).for_each(|_| times.record(Nanos::from_millis(10)));
    });
    let found = assert_caught(&analysis, "conservation");
    let Finding::Details { phase: Phase::Steady, difference } = found else { panic!("{found:?}") };
    let DetailDifference::Notice { name, details, intervals } = difference else { panic!("{difference:?}") };
    assert_eq!((name.as_str(), details.n), ("delivery", intervals.n));
    assert!(details.max < intervals.max);
}

/// Goal: none disappears between its beginning and the end of the load point.
#[test]
fn a_delivery_that_nobody_accounts_for_is_caught() {
    let mut recorded = recorded();
    recorded.records[7].notices[0].begun += 1;
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Totals(faults) = found else { panic!("{found:?}") };
    let fault = faults.first.fault;
    assert_eq!((fault.totals, fault.found, fault.expected), (EqualTotals::Notices, 11, 10));
}
