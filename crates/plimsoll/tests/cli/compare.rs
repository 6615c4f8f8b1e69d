//! Comparisons of several servers, or of one server with several settings: in interleaved runs, and afterwards.

use crate::support::Fixture;

const SHORT: [&str; 8] = ["--sut-quota", "0.4", "--files", "files", "--duration", "1", "--out", "campaign"];

#[test]
fn servers_are_run_interleaved_and_compared() {
    let fixture = Fixture::new();
    let servers = ["run", "webstone-1.1", "--sut", "nginx,apache", "--load", "1,4"];
    let ended = fixture.run(&[&servers[..], &SHORT].concat()).expect_run();
    // Each load point is run on both servers before the next.
    let lines = ended.stderr.lines().filter(|line| line.contains(" errors "));
    let turns: Vec<&str> = lines.map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(turns.len(), 4, "{}", ended.stderr);
    assert_eq!(turns.iter().filter(|name| **name == "nginx").count(), 2, "{turns:?}");
    assert_ne!(turns[0], turns[1]);
    assert_ne!(turns[2], turns[3]);
    // One row per load point, and a summary row.
    let is_row = |line: &&str| line.ends_with("valid") || line.ends_with("incomplete");
    let rows = |name: &str| ended.stdout.lines().filter(is_row).filter(|line| line.contains(name)).count();
    assert_eq!([rows(" nginx "), rows(" apache ")], [3, 3], "{}", ended.stdout);
    // `compare` of the files prints the same conclusions.
    let again = fixture.run(&["compare", "campaign"]).expect(0);
    let sentence = again.stdout.lines().find(|line| line.contains("apache")).unwrap();
    assert!(ended.stdout.contains(sentence), "{sentence}\n{}", ended.stdout);
    assert!(ended.stdout.ends_with("campaign/nginx.plim\ncampaign/apache.plim\n"), "{}", ended.stdout);
    for name in ["nginx", "apache"] {
        fixture.run(&["audit", &format!("campaign/{name}.plim")]).expect(0);
        assert!(fixture.path(&format!("campaign/{name}.html")).is_file());
    }
    let html = std::fs::read_to_string(fixture.path("campaign/comparison.html")).unwrap();
    assert!(html.contains("nginx") && html.contains("apache") && html.trim_end().ends_with("</html>"));
    for whole in ["Identical configuration", "Test disclosure", "Benchmark and production"] {
        assert!(html.contains(whole), "{whole}: what reports of single runs say is left out");
    }
}

#[test]
fn numbers_of_workers_are_compared() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "webstone-2.0.1", "--filelist", "dynamic-light", "--sut", "nginx", "--gateway", "fastcgi"];
    let more = ["--profile", "default", "--workers", "1,4", "--load", "2"];
    let ended = fixture.run(&[&arguments[..], &more, &SHORT].concat()).expect_run();
    for workers in ["1", "4"] {
        let file = &format!("campaign/nginx-fastcgi-{workers}-profile-default.plim");
        assert!(ended.stdout.contains(file), "{}", ended.stdout);
        fixture.run(&["audit", file]).expect(0);
        assert_eq!(
            fixture.fact(&fixture.path(file), "Gateway", "workers asked for").as_deref(),
            Some(workers)
        );
        assert_eq!(fixture.report(&fixture.path(file))["load_points"][0]["total"]["errors"], 0);
    }
    // The server has the same name everywhere: in the progress display, comparison, campaign report and file name.
    let names = ["nginx-fastcgi-1, profile default", "nginx-fastcgi-4, profile default"];
    for name in names {
        assert!(ended.stdout.contains(&format!("\n{name}\n")), "{}", ended.stdout);
    }
    let json = fixture.run(&["compare", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["runs"][0]["name"], names[0]);
    assert_eq!(json["sides"][1]["name"], names[1]);
    let page = fixture.run(&["report", "campaign", "--format", "markdown"]).expect(0).stdout;
    assert!(page.contains(names[1]) && !page.contains("fastcgi × 4"), "{page}");
}

/// As with `--sut-groups`, for which two CPUs are too few.
#[test]
fn a_server_on_different_numbers_of_cpus_is_told_apart_by_them() {
    let fixture = Fixture::new();
    for cpus in ["0", "0-1"] {
        let out = format!("campaign/cpus-{cpus}.plim");
        let short = ["--sut-cpus", cpus, "--sut-quota", "0.4", "--duration", "1", "--out", &out];
        fixture
            .run(&[&["run", "one-object", "--load", "1", "--settle", "0"], &short[..]].concat())
            .expect_run();
    }
    let json = fixture.run(&["compare", "campaign", "--json"]).expect(0).json();
    let names: Vec<&str> =
        json["sides"].as_array().unwrap().iter().map(|side| side["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["built-in, 1 CPU", "built-in, 2 CPUs"]);
}

/// Reported: three repetitions of lighttpd were taken for three servers, because the port in `server.port = N` was not
/// recognized as the run's own.
#[test]
fn repetitions_of_every_server_are_one_side() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "one-object", "--sut", "nginx,lighttpd", "--load", "1", "--settle", "0", "--repeat", "2"];
    fixture.run(&[&arguments[..], &SHORT].concat()).expect_run();
    let json = fixture.run(&["compare", "campaign", "--json"]).expect(0).json();
    let sides: Vec<(&str, &serde_json::Value)> = json["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| (side["name"].as_str().unwrap(), &side["runs"]))
        .collect();
    let nginx = serde_json::json!([0, 2]);
    let lighttpd = serde_json::json!([1, 3]);
    assert_eq!(sides, [("nginx", &nginx), ("lighttpd", &lighttpd)], "{}", json["configuration"]);
}

/// Runs of one server in two directories, whose files have the same name, are named by the server.
#[test]
fn a_campaign_calls_a_server_by_one_name_in_every_benchmark() {
    let fixture = Fixture::new();
    for (benchmark, folder) in [("one-object", "both/one"), ("webstone-1.1", "both/two")] {
        std::fs::create_dir_all(fixture.path(folder)).unwrap();
        let out = format!("{folder}/built-in.plim");
        fixture
            .run(&["run", benchmark, "--load", "1", "--settle", "0", "--duration", "1", "--out", &out])
            .expect_run();
    }
    let page = fixture.run(&["report", "both", "--format", "markdown"]).expect(0).stdout;
    assert!(page.contains("**built-in**") && !page.contains("one/built-in"), "{page}");
}

#[test]
fn invalid_comparisons_are_refused() {
    let fixture = Fixture::new();
    let refused = |arguments: &[&str], text: &str| {
        fixture.run(&[&["run", "dynpage", "--dry-run"], arguments].concat()).expect(2).expect_stderr(text);
    };
    refused(&["--sut", "nginx,nginx"], "`nginx-cgi-4` is listed twice");
    refused(&["--sut", "nginx", "--workers", "4,4"], "listed twice");
    fixture.write("campaign/nginx.plim", "precious");
    let servers = ["run", "webstone-1.1", "--sut", "nginx,apache", "--load", "1"];
    fixture
        .run(&[&servers[..], &SHORT].concat())
        .expect(2)
        .expect_stderr("`campaign/nginx.plim` already exists");
    assert!(!fixture.path("campaign/apache.plim").exists());
}

/// Records a run of the built-in server; `name` has no extension.
fn recorded(fixture: &Fixture, name: &str, more: &[&str]) {
    let out = format!("{name}.plim");
    let arguments = ["run", "one-object", "--settle", "0", "--duration", "2", "--out", &out];
    fixture.run(&[&arguments[..], more].concat()).expect_run();
}

#[test]
fn recorded_runs_are_compared() {
    let fixture = Fixture::new();
    recorded(&fixture, "slow", &["--load", "1", "--sut-quota", "0.1"]);
    recorded(&fixture, "fast", &["--load", "1", "--sut-quota", "0.2"]);
    let arguments = ["compare", "slow.plim", "fast.plim", "--html", "both.html"];
    // One quota is twice the other; two seconds are too short to tell, and the verdict depends on the machine.
    let ended = fixture.run(&arguments).expect(0).expect_stdout("Configuration differences:");
    let possible = ["The runs are too short to determine whether", "no common load at which both are valid"];
    assert!(possible.iter().any(|text| ended.stdout.contains(text)), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("report  both.html\n"), "{}", ended.stdout);
    let html = std::fs::read_to_string(fixture.path("both.html")).unwrap();
    for section in ["differences", "configurations", "disclosure"] {
        assert!(html.contains(&format!("id=\"{section}\"")), "{section}");
    }
    let json = fixture.run(&["compare", "slow.plim", ".", "--json"]).expect(0).json();
    let names = |json: &serde_json::Value| {
        let runs = json["runs"].as_array().unwrap().iter();
        runs.map(|run| run["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&json), ["slow", "fast"], "each once");
    assert_eq!(json["sides"][1]["name"], "built-in (fast)");
    assert_eq!(json["levels"][0]["figures"].as_array().unwrap().len(), 2);
    assert_eq!(json["configuration"][0]["section"], "Server");
    let json = fixture.run(&["compare", ".", "--baseline", "slow.plim", "--json"]).expect(0).json();
    assert_eq!(names(&json), ["slow", "fast"]);
}

#[test]
fn repetitions_of_one_server_are_one_side() {
    let fixture = Fixture::new();
    let arguments = ["run", "one-object", "--load", "1", "--settle", "0", "--duration", "1", "--repeat", "3"];
    let ended = fixture.run(&[&arguments[..], &["--out", "campaign"]].concat()).expect_run();
    assert!(ended.stdout.contains("All 3 runs are repetitions of built-in"), "{}", ended.stdout);
    let json = fixture.run(&["compare", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["sides"].as_array().unwrap().len(), 1);
    assert_eq!(json["sides"][0]["runs"], serde_json::json!([0, 1, 2]));
}

#[test]
fn runs_with_different_settings_are_refused() {
    let fixture = Fixture::new();
    recorded(&fixture, "one", &["--load", "1"]);
    recorded(&fixture, "other", &["--load", "1,2", "--seed", "7"]);
    let refused = fixture.run(&["compare", "one.plim", "other.plim"]).expect(2);
    refused
        .expect_stderr("`other` differs from `one` in load points (2 from 1 user to 2 users, not 1 user)")
        .expect_stderr("in seed (7, not ")
        .expect_stderr("hint: `--anyway` compares them");
    let ended = fixture.run(&["compare", "one.plim", "other.plim", "--anyway"]).expect(0);
    ended.expect_stderr("warning: different settings: `other` differs from `one` in seed");
    std::fs::copy(fixture.path("one.plim"), fixture.path("copy.plim")).unwrap();
    fixture.run(&["compare", "one.plim", "copy.plim"]).expect(2).expect_stderr("are records of the same run");
    fixture
        .run(&["compare", "one.plim"])
        .expect(2)
        .expect_stderr("expected two runs or more")
        .expect_stderr("hint:");
    fixture.run(&["compare", "one.plim", "none.plim"]).expect(2).expect_stderr("none.plim");
    std::fs::create_dir(fixture.path("empty")).unwrap();
    fixture.run(&["compare", "one.plim", "empty"]).expect(2).expect_stderr("`empty` contains no run files");
    fixture
        .run(&["compare", "one.plim", "other.plim", "--anyway", "--html", "one.plim"])
        .expect(2)
        .expect_stderr("overwrite");
}
