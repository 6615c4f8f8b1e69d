//! `history`: published results, and a run beside them.

use crate::support::Lab;

#[test]
fn published_results_are_listed() {
    let lab = Lab::new();
    let ended = lab.run(&["history"]).expect(0).prints("Apple Network Server 700/200");
    assert!(ended.stdout.contains("NetServer LH 3/400"), "{}", ended.stdout);
    let of_one = lab.run(&["history", "webstone-2.0.1", "--json"]).expect(0).json();
    let results = of_one["results"].as_array().unwrap();
    let fastest = results.iter().find(|one| one["subject"] == "Apple Network Server 700/200").unwrap();
    assert_eq!((fastest["rate_per_s"].as_f64(), fastest["load"].as_str()), (Some(449.16), Some("180 users")));
    lab.run(&["history", "one-object"])
        .expect(2)
        .says("no published results of `one-object`")
        .says("webstone-1.1");
}

#[test]
fn a_run_is_set_beside_them() {
    let lab = Lab::new();
    let arguments =
        ["run", "webstone-2.0.1", "--load", "2", "--settle", "0", "--duration", "2", "--out", "run.plim"];
    let ended = lab.run(&arguments);
    ended.assert_run();
    // Whether so short a run is valid is the machine's affair; without a valid result there is nothing to set beside.
    if lab.report(&lab.path("run.plim"))["headline"].is_null() {
        lab.run(&["history", "--beside", "run.plim"])
            .expect(2)
            .says("has no valid result to set beside others");
        return;
    }
    let json = lab.run(&["history", "--beside", "run.plim", "--json"]).expect(0).json();
    let rate = json["rate"].as_f64().unwrap();
    for one in json["published"].as_array().unwrap() {
        let published = one["rate_per_s"].as_f64().unwrap();
        assert!((one["equivalents"].as_f64().unwrap() * published / rate - 1.0).abs() < 1e-9, "{one}");
    }
    let text = lab.run(&["history", "--beside", "run.plim"]).expect(0);
    text.prints("× Apple Network Server 700/200").prints("no comparison of like with like");
}
