//! `--limit` and `--find-max`: the user's limits, and the highest load within them.

use serde_json::Value;

use crate::support::Fixture;

const SHORT: [&str; 6] = ["--settle", "0", "--duration", "1", "--out", "run.plim"];

#[test]
fn a_missed_limit_is_reported_with_its_exit_code() {
    let fixture = Fixture::new();
    let run = ["run", "one-object", "--load", "2", "--sut-quota", "0.1", "--limit", "p50<1us,errors<1%"];
    let ended = fixture.run(&[&run[..], &SHORT].concat());
    // If the run is not valid, that is reported first.
    match ended.code {
        Some(5) => assert!(ended.stdout.contains("\nVALID"), "{ended:?}"),
        _ => ended.assert_run_is_noise(),
    }
    assert!(ended.stdout.contains("Limit missed at 2 users: p50 was "), "{}", ended.stdout);
    assert!(!ended.stdout.contains("missed at 2 users: errors"), "{}", ended.stdout);
    fixture.run(&["audit", "run.plim"]).expect(0);
}

#[test]
fn limits_that_are_met_are_reported() {
    let fixture = Fixture::new();
    let run = ["run", "one-object", "--load", "2", "--sut-quota", "0.1", "--limit", "mean<1min,errors<1%"];
    fixture.run(&[&run[..], &SHORT].concat()).expect_run().expect_stdout("Limits met: ");
}

/// A twentieth of a CPU: users wait for the quota and not for one another, so that some number of users misses the limit.
#[test]
fn the_highest_load_within_a_limit_is_found() {
    let fixture = Fixture::new();
    let run = [
        "run",
        "one-object",
        "--sut-quota",
        "0.05",
        "--find-max",
        "--max-load",
        "200",
        "--limit",
        "p90<20ms",
    ];
    let ended = fixture.run(&[&run[..], &SHORT].concat());
    // If no number of users meets the limit, it is missed; without a valid load point, the search has no result.
    if ended.code != Some(5) {
        ended.assert_run_or(&["search"]);
    }
    fixture.run(&["audit", "run.plim"]).expect(0);
    let found = ended.stdout.lines().find(|line| line.starts_with("Highest load: ")).unwrap();
    let report = fixture.report(&fixture.path("run.plim"));
    let points = report["load_points"].as_array().unwrap();
    assert!(1 < points.len() && points.iter().all(|point| point["total"]["errors"] == 0), "{found}");
    assert!(found.contains(&format!("{} load points", points.len())), "{found}");
    if ended.code == Some(0) {
        // The load found was run, perhaps more than once, and met the limit.
        let users: u64 = found.split_whitespace().nth(2).unwrap().parse().unwrap();
        let p90 = |point: &Value| {
            let percentiles = point["response"]["percentiles"].as_array().unwrap();
            percentiles.iter().find(|one| one["q"] == 0.9).unwrap()["value_s"].as_f64().unwrap()
        };
        let mut best = points.iter().filter(|point| point["load"]["users"] == users);
        assert!(best.any(|point| p90(point) < 0.02), "{found}");
    }
}

/// Goal: a server that cannot be limited is not run as if it were. Method: control groups are not mounted, or not writable
/// by the user.
#[test]
fn a_server_that_cannot_be_limited_is_refused_before_any_load() {
    for (limit, said) in [
        ("--sut-memory '24 MiB'", "cannot enforce the memory limit of 25165824 bytes (24.0 MiB) of "),
        ("--sut-disk reads=80", "cannot enforce the disk limit of 80 reads/s"),
    ] {
        let fixture = Fixture::new();
        let run = format!(
            r#""$plimsoll" run one-object --sut nginx --sut-quota none {limit} --load 1 --duration 1 --out run.plim"#
        );
        let line = format!(
            r#"run() {{ {run}; }}; export -f run
            if [ "$(id -u)" = 0 ]; then
                unshare --mount bash -c 'umount --recursive --lazy /sys/fs/cgroup; run'
            else
                run
            fi"#
        );
        let option = limit.split(' ').next().unwrap();
        fixture
            .shell(&line)
            .expect(4)
            .expect_stderr(said)
            .expect_stderr(&format!("without `{option}` the server runs unlimited"));
        assert!(!fixture.path("run.plim").exists());
    }
}

#[test]
fn limits_with_mistakes_are_refused() {
    let fixture = Fixture::new();
    let refused = |limit: &str| {
        let ended = fixture.run(&["run", "one-object", "--limit", limit]).expect(2);
        ended.stderr.split_once("\n\nFor more").map_or(ended.stderr.clone(), |(head, _)| head.to_owned())
    };
    for limit in ["", "p99", "p99<", "p99<5", "p99>5ms", "speed<5ms", "errors<5ms", "p99<5ms,p99<6ms"] {
        let text = refused(limit);
        assert!(text.starts_with("error: "), "{limit}: {text}");
    }
    insta::assert_snapshot!(refused("p99<50"), @r"
    error: invalid value 'p99<50' for '--limit <LIMITS>': expected a time with its unit, found `50` without one
      p99<50
          ^^
    hint: write a limit such as `p99<50ms`
    ");
    insta::assert_snapshot!(refused("speed<50ms"), @r"
    error: invalid value 'speed<50ms' for '--limit <LIMITS>': expected a metric, found `speed`
      speed<50ms
      ^^^^^
    hint: metrics are p50, p90, p95, p99, p99.9, mean, max, errors, delivered, rate, and any other percentile
    ");
}
