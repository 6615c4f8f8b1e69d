//! Several servers, or one with several settings, put beside one another: while they are run in turns, and later.

use crate::support::Lab;

const SHORT: [&str; 8] = ["--sut-quota", "0.4", "--files", "files", "--duration", "1", "--out", "campaign"];

#[test]
fn servers_take_turns_and_are_compared() {
    let lab = Lab::new();
    let servers = ["run", "webstone-1.1", "--sut", "nginx,apache", "--load", "1,4"];
    let ended = lab.run(&[&servers[..], &SHORT].concat()).expect_run();
    // Each load point of both before the next of either.
    let lines = ended.stderr.lines().filter(|line| line.contains(" errors "));
    let turns: Vec<&str> = lines.map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(turns.len(), 4, "{}", ended.stderr);
    assert_eq!(turns.iter().filter(|name| **name == "nginx").count(), 2, "{turns:?}");
    assert_ne!(turns[0], turns[1]);
    assert_ne!(turns[2], turns[3]);
    // A row for each load point, and one that sums up.
    let is_row = |line: &&str| line.ends_with("valid") || line.ends_with("incomplete");
    let rows = |name: &str| ended.stdout.lines().filter(is_row).filter(|line| line.contains(name)).count();
    assert_eq!([rows(" nginx "), rows(" apache ")], [3, 3], "{}", ended.stdout);
    // What was said at the end is said again from the files.
    let again = lab.run(&["compare", "campaign"]).expect(0);
    let sentence = again.stdout.lines().find(|line| line.contains("apache")).unwrap();
    assert!(ended.stdout.contains(sentence), "{sentence}\n{}", ended.stdout);
    assert!(ended.stdout.ends_with("campaign/nginx.plim\ncampaign/apache.plim\n"), "{}", ended.stdout);
    for name in ["nginx", "apache"] {
        lab.run(&["audit", &format!("campaign/{name}.plim")]).expect(0);
        assert!(lab.path(&format!("campaign/{name}.html")).is_file());
    }
    let html = std::fs::read_to_string(lab.path("campaign/comparison.html")).unwrap();
    assert!(html.contains("nginx") && html.contains("apache") && html.trim_end().ends_with("</html>"));
    for whole in ["What is the same in the configuration", "Test disclosure", "Benchmark and production"] {
        assert!(html.contains(whole), "{whole}: what reports of single runs say is left out");
    }
}

#[test]
fn numbers_of_workers_are_compared() {
    let lab = Lab::new();
    let arguments =
        ["run", "webstone-2.0.1", "--filelist", "dynamic-light", "--sut", "nginx", "--gateway", "fastcgi"];
    let more = ["--profile", "default", "--workers", "1,4", "--load", "2"];
    let ended = lab.run(&[&arguments[..], &more, &SHORT].concat()).expect_run();
    for workers in ["1", "4"] {
        let file = &format!("campaign/nginx-fastcgi-{workers}-profile-default.plim");
        assert!(ended.stdout.contains(file), "{}", ended.stdout);
        lab.run(&["audit", file]).expect(0);
        assert_eq!(lab.fact(&lab.path(file), "Gateway", "workers asked for").as_deref(), Some(workers));
        assert_eq!(lab.report(&lab.path(file))["load_points"][0]["total"]["errors"], 0);
    }
    // One name everywhere: while it runs, in comparisons, in a campaign's report, and of the file.
    let names = ["nginx-fastcgi-1, profile default", "nginx-fastcgi-4, profile default"];
    for name in names {
        assert!(ended.stdout.contains(&format!("\n{name}\n")), "{}", ended.stdout);
    }
    let json = lab.run(&["compare", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["runs"][0]["name"], names[0]);
    assert_eq!(json["sides"][1]["name"], names[1]);
    let page = lab.run(&["report", "campaign", "--format", "markdown"]).expect(0).stdout;
    assert!(page.contains(names[1]) && !page.contains("fastcgi × 4"), "{page}");
}

/// As with `--sut-groups`, for which two CPUs are too few.
#[test]
fn a_server_on_different_numbers_of_cpus_is_told_apart_by_them() {
    let lab = Lab::new();
    for cpus in ["0", "0-1"] {
        let out = format!("campaign/cpus-{cpus}.plim");
        let short = ["--sut-cpus", cpus, "--sut-quota", "0.4", "--duration", "1", "--out", &out];
        lab.run(&[&["run", "one-object", "--load", "1", "--settle", "0"], &short[..]].concat()).expect_run();
    }
    let json = lab.run(&["compare", "campaign", "--json"]).expect(0).json();
    let names: Vec<&str> =
        json["sides"].as_array().unwrap().iter().map(|side| side["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["built-in, 1 CPU", "built-in, 2 CPUs"]);
}

/// The reported case: three repetitions of lighttpd stood as three servers, since `server.port = N` was not known as
/// the run's own port.
#[test]
fn repetitions_of_every_server_are_one_side() {
    let lab = Lab::new();
    let arguments =
        ["run", "one-object", "--sut", "nginx,lighttpd", "--load", "1", "--settle", "0", "--repeat", "2"];
    lab.run(&[&arguments[..], &SHORT].concat()).expect_run();
    let json = lab.run(&["compare", "campaign", "--json"]).expect(0).json();
    let sides: Vec<(&str, &serde_json::Value)> = json["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| (side["name"].as_str().unwrap(), &side["runs"]))
        .collect();
    let (nginx, lighttpd) = (serde_json::json!([0, 2]), serde_json::json!([1, 3]));
    assert_eq!(sides, [("nginx", &nginx), ("lighttpd", &lighttpd)], "{}", json["configuration"]);
}

/// Runs of one server in two folders, whose files have the same name, are told apart by the server first.
#[test]
fn a_campaign_calls_a_server_by_one_name_in_every_benchmark() {
    let lab = Lab::new();
    for (benchmark, folder) in [("one-object", "both/one"), ("webstone-1.1", "both/two")] {
        std::fs::create_dir_all(lab.path(folder)).unwrap();
        let out = format!("{folder}/built-in.plim");
        lab.run(&["run", benchmark, "--load", "1", "--settle", "0", "--duration", "1", "--out", &out])
            .expect_run();
    }
    let page = lab.run(&["report", "both", "--format", "markdown"]).expect(0).stdout;
    assert!(page.contains("**built-in**") && !page.contains("one/built-in"), "{page}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let lab = Lab::new();
    let refused = |arguments: &[&str], text: &str| {
        lab.run(&[&["run", "dynpage", "--dry-run"], arguments].concat()).expect(2).says(text);
    };
    refused(&["--sut", "nginx,nginx"], "`nginx-cgi-4` is asked for twice");
    refused(&["--sut", "nginx", "--workers", "4,4"], "asked for twice");
    lab.write("campaign/nginx.plim", "precious");
    let servers = ["run", "webstone-1.1", "--sut", "nginx,apache", "--load", "1"];
    lab.run(&[&servers[..], &SHORT].concat()).expect(2).says("`campaign/nginx.plim` already exists");
    assert!(!lab.path("campaign/apache.plim").exists());
}

/// Records a run of the built-in server; `name` has no extension.
fn recorded(lab: &Lab, name: &str, more: &[&str]) {
    let out = format!("{name}.plim");
    let arguments = ["run", "one-object", "--settle", "0", "--duration", "2", "--out", &out];
    lab.run(&[&arguments[..], more].concat()).expect_run();
}

#[test]
fn runs_are_compared_after_the_fact() {
    let lab = Lab::new();
    recorded(&lab, "slow", &["--load", "1", "--sut-quota", "0.1"]);
    recorded(&lab, "fast", &["--load", "1", "--sut-quota", "0.2"]);
    let arguments = ["compare", "slow.plim", "fast.plim", "--html", "both.html"];
    // One quota is twice the other; two seconds are too short to tell, and whether they are valid is the machine's
    // affair.
    let ended = lab.run(&arguments).expect(0).prints("Configuration that differs:");
    let said = ["The runs are too short to say whether", "no load in common at which both are valid"];
    assert!(said.iter().any(|said| ended.stdout.contains(said)), "{}", ended.stdout);
    assert!(ended.stdout.ends_with("report  both.html\n"), "{}", ended.stdout);
    let html = std::fs::read_to_string(lab.path("both.html")).unwrap();
    for section in ["differences", "configurations", "disclosure"] {
        assert!(html.contains(&format!("id=\"{section}\"")), "{section}");
    }
    let json = lab.run(&["compare", "slow.plim", ".", "--json"]).expect(0).json();
    let names = |json: &serde_json::Value| {
        let runs = json["runs"].as_array().unwrap().iter();
        runs.map(|run| run["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&json), ["slow", "fast"], "each once");
    assert_eq!(json["sides"][1]["name"], "built-in (fast)");
    assert_eq!(json["levels"][0]["figures"].as_array().unwrap().len(), 2);
    assert_eq!(json["configuration"][0]["section"], "Server");
    let json = lab.run(&["compare", ".", "--baseline", "slow.plim", "--json"]).expect(0).json();
    assert_eq!(names(&json), ["slow", "fast"]);
}

#[test]
fn repetitions_of_one_server_are_one_side() {
    let lab = Lab::new();
    let arguments = ["run", "one-object", "--load", "1", "--settle", "0", "--duration", "1", "--repeat", "3"];
    let ended = lab.run(&[&arguments[..], &["--out", "campaign"]].concat()).expect_run();
    assert!(ended.stdout.contains("All 3 runs are repetitions of built-in"), "{}", ended.stdout);
    let json = lab.run(&["compare", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["sides"].as_array().unwrap().len(), 1);
    assert_eq!(json["sides"][0]["runs"], serde_json::json!([0, 1, 2]));
}

#[test]
fn like_is_compared_with_like() {
    let lab = Lab::new();
    recorded(&lab, "one", &["--load", "1"]);
    recorded(&lab, "other", &["--load", "1,2", "--seed", "7"]);
    let refused = lab.run(&["compare", "one.plim", "other.plim"]).expect(2);
    refused
        .says("`other` differs from `one` in load points (2 from 1 user to 2 users, not 1 user)")
        .says("in seed (7, not ")
        .says("hint: `--anyway` compares them all the same");
    let ended = lab.run(&["compare", "one.plim", "other.plim", "--anyway"]).expect(0);
    ended.says("warning: not alike: `other` differs from `one` in seed");
    std::fs::copy(lab.path("one.plim"), lab.path("copy.plim")).unwrap();
    lab.run(&["compare", "one.plim", "copy.plim"]).expect(2).says("are records of the same run");
    lab.run(&["compare", "one.plim"]).expect(2).says("expected two runs or more").says("hint:");
    lab.run(&["compare", "one.plim", "none.plim"]).expect(2).says("none.plim");
    std::fs::create_dir(lab.path("empty")).unwrap();
    lab.run(&["compare", "one.plim", "empty"]).expect(2).says("there are no run files in `empty`");
    lab.run(&["compare", "one.plim", "other.plim", "--anyway", "--html", "one.plim"])
        .expect(2)
        .says("overwrite");
}
