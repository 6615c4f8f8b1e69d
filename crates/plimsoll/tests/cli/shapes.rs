//! Loads over time: what is planned, what is refused, and one short run.

use serde_json::Value;

use crate::support::Fixture;

/// Returns the lines about load, stages, phases, modifications and total time of a dry run.
fn planned(arguments: &[&str]) -> String {
    let ended = Fixture::new().run(&[&["run", "one-object", "--dry-run"], arguments].concat()).expect(0);
    let is_about_load = |line: &&str| {
        ["load   ", "stages", "phases", "modified", "total"].iter().any(|word| line.starts_with(word))
            && !line.contains("thread")
    };
    ended.stdout.lines().filter(is_about_load).collect::<Vec<_>>().join("\n")
}

fn refused(arguments: &[&str]) -> String {
    let ended = Fixture::new().run(&[&["run", "one-object", "--dry-run"], arguments].concat()).expect(2);
    let message = ended.stderr.split("\n\n").next().unwrap_or_default();
    message.trim_end().to_owned()
}

#[test]
fn the_plan_of_a_load_over_time_shows_its_stages() {
    insta::assert_snapshot!(planned(&["--stages", "30s:0..100,2m:100,10s:100..0"]), @r"
    load          over time, up to 100 users
    stages        30 s:0..100, 120 s:100, 10 s:100..0; judged in 9 stages, because ramps are cut into several
    phases        steady 160 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → closed loop, up to 100 users; stages 30 s:0..100, 120 s:100, 10 s:100..0
    total time    2 min 40 s of load: 9 stages of one load point
    ");
    insta::assert_snapshot!(planned(&["--ramp", "10/s..2000/s", "--until", "p99<200ms,errors<1%"]), @r"
    load          over time, up to 2000 operations per second
    stages        120 s:10..2000/s; judged in 20 stages, because ramps are cut into several; until p99<200ms,errors<1% is broken
    phases        steady 120 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → open loop, up to 2000 operations per second, constant arrivals, at most 1000 in flight; stages 120 s:10..2000/s; until p99<200ms,errors<1% is broken
    total time    at most 2 min 00 s of load: 20 stages of one load point
    ");
    insta::assert_snapshot!(planned(&["--soak", "7", "--duration", "1h"]), @r"
    load          over time, up to 7 users
    stages        600 s:7, 600 s:7, 600 s:7, 600 s:7, 600 s:7, 600 s:7; each of these 6 is judged
    phases        steady 3600 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → closed loop, up to 7 users; stages 600 s:7, 600 s:7, 600 s:7, 600 s:7, 600 s:7, 600 s:7
    total time    1 h 00 min of load: 6 stages of one load point
    ");
    insta::assert_snapshot!(planned(&["--spike", "20..200", "--drain", "3"]), @r"
    load          over time, up to 200 users
    stages        20 s:20, 10 s:200, 30 s:20; each of these 3 is judged
    phases        steady 60.0 s, drain 3.00 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → closed loop, up to 200 users; stages 20 s:20, 10 s:200, 30 s:20
    modified      drain: 0 s → 3 s
    total time    1 min 00 s of load: 3 stages of one load point
    ");
    insta::assert_snapshot!(planned(&["--stairs", "100..300/100/s", "--arrivals", "poisson"]), @r"
    load          over time, up to 300 operations per second
    stages        10 s:100/s, 10 s:200/s, 10 s:300/s; each of these 3 is judged
    phases        steady 30.0 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → open loop, up to 300 operations per second, Poisson arrivals, at most 1000 in flight; stages 10 s:100/s, 10 s:200/s, 10 s:300/s
    total time    30 s of load: 3 stages of one load point
    ");
    insta::assert_snapshot!(planned(&["--daily", "20..120"]), @r"
    load          over time, up to 120 users
    stages        5 s:55..42, 5 s:42..32, 5 s:32..25, 5 s:25..20, 5 s:20..23, 5 s:23..30, 5 s:30..45, 10 s:45..85, 5 s:85..98, 5 s:98..104, 5 s:104..100, 5 s:100..98, 5 s:98..102, 5 s:102..104, 5 s:104..103, 5 s:103..100, 5 s:100..102, 5 s:102..110, 5 s:110..120, 5 s:120..117, 5 s:117..100, 5 s:100..75, 5 s:75..55; judged in 24 stages, because ramps are cut into several
    phases        steady 120 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → closed loop, up to 120 users; stages 5 s:55..42, 5 s:42..32, 5 s:32..25, 5 s:25..20, 5 s:20..23, 5 s:23..30, 5 s:30..45, 10 s:45..85, 5 s:85..98, 5 s:98..104, 5 s:104..100, 5 s:100..98, 5 s:98..102, 5 s:102..104, 5 s:104..103, 5 s:103..100, 5 s:100..102, 5 s:102..110, 5 s:110..120, 5 s:120..117, 5 s:117..100, 5 s:100..75, 5 s:75..55
    total time    2 min 00 s of load: 24 stages of one load point
    ");
}

#[test]
fn mistakes_in_loads_over_time_are_explained() {
    let cases: [&[&str]; 11] = [
        &["--stages", "30s:0..100,2m:O"],
        &["--stages", "30s:0..100,2m:0"],
        &["--ramp", "10/s..2000"],
        &["--ramp", "10"],
        &["--soak", "10..20"],
        &["--daily", "20..200", "--duration", "10"],
        &["--ramp", "10..20", "--load", "5"],
        &["--ramp", "10..20", "--spike", "5..6"],
        &["--until", "p99<1s"],
        &["--ramp", "10..20", "--until", "rate>5"],
        &["--ramp", "10..20", "--until", "delivered>90%"],
    ];
    insta::assert_snapshot!(cases.map(refused).join("\n---\n"), @r"
    error: invalid value '30s:0..100,2m:O' for '--stages <STAGES>': expected a number of users from 0 to 1000000, found `O`
      30s:0..100,2m:O
                    ^
    hint: write length and level, or length and two levels: `2m:100`, `30s:0..100`, `30s:0..100/s`
    ---
    error: invalid value '30s:0..100,2m:0' for '--stages <STAGES>': a stage of 120 s without any load would measure nothing
      30s:0..100,2m:0
                 ^^^^
    hint: leave the stage out, or give it a level, such as 1; a ramp may begin or end at 0
    ---
    error: invalid value '10/s..2000' for '--ramp <FROM..TO>': `10/s` is a rate, but the level after it is a number of users
      10/s..2000
      ^^^^
    hint: write `/s` behind the last level
    ---
    error: invalid value '10' for '--ramp <FROM..TO>': expected two levels, such as `10..2000`; `--soak 100` keeps one
    ---
    error: invalid value '10..20' for '--soak <LEVEL>': expected one level above zero, such as `100`; `--ramp 10..2000` moves between two
    ---
    error: `--daily`: a stage of 0 s: stages last 1 s or more, in whole seconds
    hint: `--duration` is the length of all stages: make it longer, in whole seconds
    ---
    error: the argument '--ramp <FROM..TO>' cannot be used with '--load <LIST>'
    ---
    error: the argument '--ramp <FROM..TO>' cannot be used with '--spike <USUAL..PEAK>'
    ---
    error: `--until` ends a load in stages, but the load is one of load points
    hint: give stages, such as `--ramp 10..2000`; `--limit` judges load points, and `--find-max` searches them
    ---
    error: `rate>5` cannot end a load: one that rises begins below it
    hint: limit response times, `errors` or, in an open loop, `delivered`
    ---
    error: the limit `delivered>90%` applies only to an open loop, but the load is a number of users
    hint: leave it out, or give an open loop: `--rate`, or stages with `/s` such as `--ramp 10..2000/s`
    ");
}

/// Goal: users really come and go, and leave for good when a limit breaks. Two for 2 s, six for 2 s, two again, in a run by two
/// processes; each second has about as many operations in flight as its stage has users, and never as many as the other
/// stage. The limit can be judged after five seconds, and ends both processes' load long before its last stage.
#[test]
fn users_come_and_go_in_a_run_until_a_limit_breaks() {
    let fixture = Fixture::new();
    let stages = ["--stages", "2s:2,2s:6,60s:2", "--until", "p99<1us", "--agents", "local=2"];
    let ended = fixture.run(&[&["run", "one-object", "--json", "--out", "run.plim"], &stages[..]].concat());
    ended.assert_run();
    let lines = fixture.run(&["export", "run.plim", "--format", "ndjson"]).expect(0).stdout;
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut in_flight = vec![0.0; 64];
    let mut n_seconds = 0;
    for record in records.filter(|record| record["type"] == "interval" && record["phase"] == "steady") {
        let second = record["start_s"].as_f64().expect("a time") as usize;
        in_flight[second] += record["in_flight_mean"].as_f64().expect("a mean");
        n_seconds = n_seconds.max(second + 1);
    }
    assert!((5..30).contains(&n_seconds), "{n_seconds}: {}", ended.stdout);
    for (second, users) in [2.0, 2.0, 6.0, 6.0, 2.0].into_iter().enumerate() {
        // Users who are to leave finish their operations first, which takes long on a busy machine.
        assert!((in_flight[second] - users).abs() < 1.9, "second {second}: {in_flight:?}");
    }
}
