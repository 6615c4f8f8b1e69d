//! The web benchmarks on installed servers: files, page generators, TLS and HTTP/2.

use serde_json::Value;

use crate::support::Fixture;

/// Runs on nginx and on Apache, whose processes drop root privileges; passes fixture and report to `check`.
#[track_caller]
fn check(benchmark: &str, arguments: &[&str], check: impl Fn(&Fixture, &Value)) {
    for sut in ["nginx", "apache"] {
        let fixture = Fixture::new();
        let server =
            ["run", benchmark, "--sut", sut, "--sut-quota", "0.4", "--files", "files", "--out", "run.plim"];
        fixture.run(&[&server, arguments].concat()).expect_run();
        fixture.run(&["audit", "run.plim"]).expect(0);
        assert!(fixture.path("run.html").is_file());
        let report = fixture.report(&fixture.path("run.plim"));
        assert_eq!(report["ending"]["kind"], "complete");
        for point in report["load_points"].as_array().unwrap() {
            assert_eq!(point["total"]["errors"], 0, "{sut}: {point}");
            assert!(0 < point["total"]["n"].as_u64().unwrap(), "{sut}: {point}");
        }
        check(&fixture, &report);
    }
}

fn fact(fixture: &Fixture, section: &str, name: &str) -> String {
    fixture.fact(&fixture.path("run.plim"), section, name).unwrap_or_default()
}

/// Returns the number of operations of each kind at the last load point, by name.
fn kinds(report: &Value) -> Vec<(String, u64)> {
    let kinds = report["load_points"].as_array().unwrap().last().unwrap()["kinds"].as_array().unwrap();
    kinds
        .iter()
        .map(|kind| (kind["name"].as_str().unwrap().to_owned(), kind["n"].as_u64().unwrap()))
        .collect()
}

#[test]
fn web96_offers_its_mix_at_its_rates() {
    let arguments = ["--quick", "--max-load", "180", "--duration", "1", "--settle", "0"];
    check("web96", &arguments, |fixture, report| {
        let points = report["load_points"].as_array().unwrap();
        let rates: Vec<f64> =
            points.iter().map(|point| point["load"]["per_second"].as_f64().unwrap()).collect();
        assert_eq!(rates, [36.0, 72.0, 108.0, 144.0, 180.0]);
        // √(20 · 180) = 60 directories of 36 files.
        assert_eq!(files_below(&fixture.path("files/spec")), 60 * 36);
        let kinds = kinds(report);
        assert!(kinds[..2].iter().all(|(_, n)| 30 < *n), "{kinds:?}");
    });
}

#[test]
fn webbench_starts_a_program_for_every_fifth_request() {
    let arguments = ["--load", "1,4", "--ramp-up", "0", "--duration", "2", "--ramp-down", "0"];
    check("webbench-1.0", &arguments, |fixture, report| {
        assert_eq!(fact(fixture, "Gateway", "kind"), "cgi");
        let kinds = kinds(report);
        let all: u64 = kinds.iter().map(|(_, n)| n).sum();
        let share = kinds.last().unwrap().1 as f64 / all as f64;
        assert!((0.1..0.3).contains(&share), "{kinds:?}");
    });
}

#[test]
fn webstone_2_has_filelists_with_dynamic_pages() {
    let arguments = ["--filelist", "dynamic-medium", "--gateway", "cgi", "--load", "2", "--duration", "1"];
    check("webstone-2.0.1", &arguments, |fixture, report| {
        assert_eq!(fact(fixture, "Gateway", "kind"), "cgi");
        let list = report["modifications"].to_string();
        assert!(list.contains("dynamic-medium"), "{list}");
    });
}

#[test]
fn dynpage_runs_through_a_fastcgi_program() {
    let arguments = ["--quick", "--gateway", "fastcgi", "--load", "50", "--duration", "1"];
    check("dynpage", &arguments, |fixture, _| {
        assert_eq!(fact(fixture, "Gateway", "kind"), "fastcgi");
    });
}

#[test]
fn web_modern_resumes_tls_sessions_and_speaks_http_2() {
    let arguments = ["--load", "2", "--settle", "0", "--duration", "1"];
    check("web-modern", &arguments, |fixture, report| {
        assert_eq!(report["plan"]["workload"]["web"]["protocol"]["http"], "2");
        assert_eq!(report["plan"]["workload"]["web"]["protocol"]["tls"], "resumed");
        assert!(
            fact(fixture, "Server", "transport").contains("HTTP/2"),
            "{}",
            fact(fixture, "Server", "transport")
        );
        let kinds = kinds(report);
        let unchanged: u64 =
            kinds.iter().filter(|(name, _)| name.ends_with("unchanged")).map(|(_, n)| n).sum();
        assert!(0 < unchanged, "{kinds:?}");
    });
}

fn files_below(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let count = |path: std::path::PathBuf| if path.is_dir() { files_below(&path) } else { 1 };
    entries.map(|entry| count(entry.path())).sum()
}
