//! `history`: published results, and a run compared with them.

use crate::support::Fixture;

#[test]
fn published_results_are_listed() {
    let fixture = Fixture::new();
    let ended = fixture.run(&["history"]).expect(0).expect_stdout("Apple Network Server 700/200");
    assert!(ended.stdout.contains("NetServer LH 3/400"), "{}", ended.stdout);
    let of_one = fixture.run(&["history", "webstone-2.0.1", "--json"]).expect(0).json();
    let results = of_one["results"].as_array().unwrap();
    let fastest = results.iter().find(|one| one["subject"] == "Apple Network Server 700/200").unwrap();
    assert_eq!((fastest["rate_per_s"].as_f64(), fastest["load"].as_str()), (Some(449.16), Some("180 users")));
    fixture
        .run(&["history", "one-object"])
        .expect(2)
        .expect_stderr("no published results of `one-object`")
        .expect_stderr("webstone-1.1");
}

#[test]
fn a_run_is_compared_with_published_results() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "webstone-2.0.1", "--load", "2", "--settle", "0", "--duration", "2", "--out", "run.plim"];
    let ended = fixture.run(&arguments);
    ended.assert_run();
    // A run this short is not valid on every machine; without a valid result there is nothing to compare.
    if fixture.report(&fixture.path("run.plim"))["headline"].is_null() {
        fixture
            .run(&["history", "--beside", "run.plim"])
            .expect(2)
            .expect_stderr("has no valid result to compare");
        return;
    }
    let json = fixture.run(&["history", "--beside", "run.plim", "--json"]).expect(0).json();
    let rate = json["rate"].as_f64().unwrap();
    for one in json["published"].as_array().unwrap() {
        let published = one["rate_per_s"].as_f64().unwrap();
        assert!((one["equivalents"].as_f64().unwrap() * published / rate - 1.0).abs() < 1e-9, "{one}");
    }
    let text = fixture.run(&["history", "--beside", "run.plim"]).expect(0);
    text.expect_stdout("× Apple Network Server 700/200").expect_stdout("does not compare like with like");
}
