//! A mix that is not the benchmark's: rates of other operations are not comparable.

use analysis::Finding;
use model::{InputBand, InputCount, Load, Plan};
use units::Ratio;

use crate::record::{
    Operation, RecordedRun, assert_caught, assert_valid, ms, plan, remarks, rules_broken, scheduled,
};

/// Two kinds, half of the operations each, may be off by 5 % of that.
fn open() -> (Plan, Vec<Operation>) {
    let mut plan = RecordedRun::open(ms(0)).plan;
    plan.catalog.kinds.iter_mut().for_each(|kind| kind.share_gap_max = Some(0.05));
    let operations = scheduled(&plan, 0, ms(5), ms(0));
    (plan, operations)
}

/// Every tenth operation is of the small kind though it should be of the large one: 3 of 5 are small.
#[test]
fn a_generator_that_prefers_small_files_is_caught() {
    let (plan, mut operations) = open();
    assert_valid(&RecordedRun::of(plan.clone(), &operations).analyze());
    operations.iter_mut().skip(1).step_by(10).for_each(|operation| operation.kind = 0);
    let analysis = RecordedRun::of(plan.clone(), &operations).analyze();
    let found = assert_caught(&analysis, "mix");
    let [share, expected, limit] = [0.6, 0.5, 0.05].map(Ratio);
    assert_eq!(found, Finding::Mix { kind: "/small".to_owned(), share, expected, limit });
    assert_eq!(rules_broken(&analysis), ["mix"]);
    // A benchmark that sets no limit is not judged by its mix.
    let mut free = plan;
    free.catalog.kinds.iter_mut().for_each(|kind| kind.share_gap_max = None);
    assert_valid(&RecordedRun::of(free, &operations).analyze());
}

/// 4,000 operations: half of them ± 1.58 % is one deviation. 52 % are within the limit, whatever chance says;
/// of 200 operations, 54 % are within chance (3 · 3.5 %), whatever the limit says.
#[test]
fn shares_within_the_limit_or_within_chance_pass() {
    let (plan, mut operations) = open();
    operations.iter_mut().skip(1).step_by(50).for_each(|operation| operation.kind = 0);
    assert_valid(&RecordedRun::of(plan.clone(), &operations).analyze());

    let mut short = plan;
    short.phases.steady = ms(1_000);
    let mut operations = scheduled(&short, 0, ms(5), ms(0));
    operations.iter_mut().skip(1).step_by(24).for_each(|operation| operation.kind = 0);
    let analysis = RecordedRun::of(short, &operations).analyze();
    assert_valid(&analysis);
    let [small, large] = &analysis.load_points[0].kinds[..] else { panic!("two kinds") };
    assert_eq!((small.n, large.n), (108, 92));
}

/// Returns a run with a band of the share of small files, of which 3 in 5 are fetched in place of 1 in 2.
fn with_band(least: f64, most: f64, decides: bool) -> RecordedRun {
    let (mut plan, mut operations) = open();
    plan.catalog.kinds.iter_mut().for_each(|kind| kind.share_gap_max = None);
    plan.catalog.bands = vec![InputBand {
        name: "small files".to_owned(),
        part: InputCount::Kinds(vec![0]),
        whole: InputCount::Kinds(vec![0, 1]),
        least,
        most,
        deviation: 0.5,
        decides,
    }];
    operations.iter_mut().skip(1).step_by(10).for_each(|operation| operation.kind = 0);
    RecordedRun::of(plan, &operations)
}

/// A half of 0.05 needs (3 · 0.5 ÷ 0.05)² = 900 operations, of which there are 4,000; one of 0.01 needs 22,500.
#[test]
fn a_figure_outside_of_its_band_is_caught_where_chance_cannot_decide() {
    let outside = Finding::InputBand { name: "small files".to_owned(), found: 0.6, least: 0.45, most: 0.55 };
    assert_eq!(assert_caught(&with_band(0.45, 0.55, true).analyze(), "input-bands"), outside);
    let remarked = with_band(0.45, 0.55, false).analyze();
    assert_valid(&remarked);
    assert_eq!(remarks(&remarked, "input-bands"), [outside]);
    let inside = with_band(0.55, 0.65, true).analyze();
    assert_valid(&inside);
    assert_eq!(remarks(&inside, "input-bands"), []);
    let narrow = with_band(0.49, 0.51, true).analyze();
    assert_valid(&narrow);
    let found = remarks(&narrow, "input-bands");
    let [Finding::InputBandsNotJudged { bands }] = &found[..] else { panic!("{found:?}") };
    assert_eq!((bands[0].n, bands[0].needed), (4_000, 22_500));
}

/// Every fetch of the large file fails: it is half of what completed all the same.
#[test]
fn failed_operations_are_part_of_the_mix() {
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.rules.error_ratio_max = 1.0;
    plan.rules.little_gap_max = 1.0;
    plan.catalog.kinds.iter_mut().for_each(|kind| kind.share_gap_max = Some(0.05));
    let mut operations = crate::record::users(&plan, 10, |_, _| ms(70), ms(0));
    operations.iter_mut().filter(|one| one.kind == 1).for_each(|one| one.outcome = model::Outcome::Reset);
    assert_eq!(rules_broken(&RecordedRun::of(plan, &operations).analyze()), [""; 0]);
}
