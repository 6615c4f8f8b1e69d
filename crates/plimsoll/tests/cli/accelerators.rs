//! `--accelerator`: a server with and without Plimsoll's accelerator in front of it.

use crate::support::{Fixture, Leftovers, Verdict};

const RUN: [&str; 7] = ["run", "web96", "--rate", "20", "--settle", "0", "--duration"];

#[test]
fn a_server_runs_with_and_without_an_accelerator() {
    let fixture = Fixture::new();
    let arguments = ["1", "--accelerator", "none,plimsoll", "--sut-quota", "0.5", "--out", "runs"];
    let running = fixture.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let ended = running.end();
    let without = fixture.path("runs/built-in.plim");
    let with = fixture.path("runs/built-in-behind-plimsoll.plim");
    for run in [&without, &with] {
        Verdict::of(&ended.folder, run.to_str().unwrap()).assert_noise_or(&[]);
        fixture.run(&["audit", run.to_str().unwrap()]).expect(0);
        let report = fixture.report(run);
        assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{report}");
    }
    assert!(fixture.path("runs/comparison.html").is_file());
    assert_eq!(fixture.report(&with)["plan"]["sut"]["web"]["accelerator"]["name"], "plimsoll");
    assert!(fixture.report(&without)["plan"]["sut"]["web"].is_null());

    let fact = |name: &str| fixture.fact(&with, "Accelerator", name).unwrap_or_default();
    // √(20 · 20) = 20 directories of 36 files.
    assert_eq!(fact("before the first load point"), "each of 720 files requested once");
    assert!(fact("version").starts_with("plimsoll "), "{}", fact("version"));
    assert!(fact("server behind it").starts_with("http://127.0.0.2:"), "{}", fact("server behind it"));
    assert!(fact("address").starts_with("http://127.0.0.1:"), "{}", fact("address"));
    let config = fixture.fact(&with, "Accelerator configuration", "accelerator.toml").unwrap();
    assert!(config.contains("[[origin.server]]") && !config.contains("{origin}"), "{config}");
    assert_eq!(fixture.fact(&without, "Accelerator", "version"), None);
    Leftovers::of(pid, &fact("address")).expect_none();
}

/// Goal: clients use TLS to the accelerator, which uses plain TCP to the origin server.
#[test]
fn an_accelerator_terminates_tls() {
    let fixture = Fixture::new();
    let arguments = ["1", "--accelerator", "plimsoll", "--http", "2", "--tls", "full", "--keep-alive"];
    let arguments = [&RUN[..], &arguments, &["--sut-quota", "none", "--out", "run.plim"]].concat();
    fixture.run(&arguments).expect_run();
    let fact =
        |section: &str| fixture.fact(&fixture.path("run.plim"), section, "transport").unwrap_or_default();
    assert_eq!((fact("Accelerator").as_str(), fact("Server").as_str()), ("TLS over TCP, with HTTP/2", "TCP"));
}

#[test]
fn invalid_accelerators_are_refused_with_a_hint() {
    let fixture = Fixture::new();
    let run = |arguments: &[&str]| fixture.run(&[&["run", "one-object"], arguments].concat()).expect(2);
    run(&["--accelerator", "varnsih"]).expect_stderr("did you mean `varnish`?");
    run(&["--accelerator", "qwerty"])
        .expect_stderr("no recipe `qwerty`; expected one of plimsoll, nginx, varnish");
    run(&["--accelerator", "caddy"])
        .expect_stderr("`caddy` is not an accelerator")
        .expect_stderr("hint: `--sut caddy`");
    run(&["--accelerator", "none,"]).expect_stderr("an empty name");
    run(&["--accelerator", "plimsoll,plimsoll"]).expect_stderr("is listed twice");
    run(&["--sut", "varnish"]).expect_stderr("hint: `--sut nginx --accelerator varnish`");
    run(&["--accelerator", "plimsoll", "--target", "http://127.0.0.1:1/"])
        .expect_stderr("cannot be used with");
    run(&["--accelerator-memory", "100 MiB"]).expect_stderr("--accelerator");
    run(&["--accelerator", "plimsoll", "--http", "2"]).expect_stderr("support HTTP/2 over TLS only");
}

#[test]
fn accelerators_are_listed_with_servers() {
    let fixture = Fixture::new();
    let listed = fixture.run(&["suts"]).expect(0);
    let (servers, accelerators) = listed.stdout.split_once("accelerators, ").unwrap();
    assert!(servers.contains("caddy") && accelerators.contains("varnish"), "{}", listed.stdout);
    let json = fixture.run(&["suts", "--json"]).expect(0).json();
    let ours = json["accelerators"].as_array().unwrap().iter().find(|one| one["name"] == "plimsoll").unwrap();
    assert!(ours["version"].as_str().unwrap().starts_with("plimsoll "), "{ours}");
}
