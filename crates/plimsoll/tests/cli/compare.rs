//! Several servers, or one with several settings, run in turns and put beside one another.

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
    let rows = |name: &str| ended.stdout.lines().filter(|line| line.contains(name)).count();
    assert_eq!([rows(" nginx "), rows(" apache ")], [3, 3], "{}", ended.stdout);
    assert!(ended.stdout.ends_with("campaign/nginx.plim\ncampaign/apache.plim\n"), "{}", ended.stdout);
    for name in ["nginx", "apache"] {
        lab.run(&["audit", &format!("campaign/{name}.plim")]).expect(0);
        assert!(lab.path(&format!("campaign/{name}.html")).is_file());
    }
    let html = std::fs::read_to_string(lab.path("campaign/comparison.html")).unwrap();
    assert!(html.contains("nginx") && html.contains("apache") && html.trim_end().ends_with("</html>"));
}

#[test]
fn numbers_of_workers_are_compared() {
    let lab = Lab::new();
    let arguments =
        ["run", "webstone-2.0.1", "--filelist", "dynamic-light", "--sut", "nginx", "--gateway", "fastcgi"];
    let ended =
        lab.run(&[&arguments[..], &["--workers", "1,4", "--load", "2"], &SHORT].concat()).expect_run();
    for (file, workers) in [("campaign/nginx-fastcgi-1.plim", "1"), ("campaign/nginx-fastcgi-4.plim", "4")] {
        assert!(ended.stdout.contains(file), "{}", ended.stdout);
        lab.run(&["audit", file]).expect(0);
        assert_eq!(lab.fact(&lab.path(file), "Gateway", "workers asked for").as_deref(), Some(workers));
        assert_eq!(lab.report(&lab.path(file))["load_points"][0]["total"]["errors"], 0);
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let lab = Lab::new();
    let refused = |arguments: &[&str], text: &str| {
        lab.run(&[&["run", "dynpage", "--dry-run"], arguments].concat()).expect(2).says(text);
    };
    refused(&["--sut", "nginx,nginx"], "`nginx, cgi × 4` is asked for twice");
    refused(&["--sut", "nginx", "--workers", "4,4"], "asked for twice");
    lab.write("campaign/nginx.plim", "precious");
    let servers = ["run", "webstone-1.1", "--sut", "nginx,apache", "--load", "1"];
    lab.run(&[&servers[..], &SHORT].concat()).expect(2).says("`campaign/nginx.plim` exists already");
    assert!(!lab.path("campaign/apache.plim").exists());
}
