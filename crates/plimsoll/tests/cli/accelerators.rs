//! `--accelerator`: our own one in front of a server, with and without.

use crate::support::{Lab, Leftovers, Verdict};

const RUN: [&str; 7] = ["run", "web96", "--rate", "20", "--settle", "0", "--duration"];

#[test]
fn a_server_runs_with_and_without_an_accelerator() {
    let lab = Lab::new();
    let arguments = ["1", "--accelerator", "none,plimsoll", "--sut-quota", "0.5", "--out", "runs"];
    let running = lab.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let ended = running.end();
    let (without, with) = (lab.path("runs/built-in.plim"), lab.path("runs/built-in-behind-plimsoll.plim"));
    for run in [&without, &with] {
        Verdict::of(&ended.folder, run.to_str().unwrap()).assert_noise_or(&[]);
        lab.run(&["audit", run.to_str().unwrap()]).expect(0);
        let report = lab.report(run);
        assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{report}");
    }
    assert!(lab.path("runs/comparison.html").is_file());
    assert_eq!(lab.report(&with)["plan"]["sut"]["accelerator"]["name"], "plimsoll");
    assert!(lab.report(&without)["plan"]["sut"]["accelerator"].is_null());

    let fact = |name: &str| lab.fact(&with, "Accelerator", name).unwrap_or_default();
    // √(20 · 20) = 20 directories of 36 files.
    assert_eq!(fact("before the first load point"), "asked once for each of 720 files");
    assert!(fact("version").starts_with("plimsoll "), "{}", fact("version"));
    assert!(fact("server behind it").starts_with("http://127.0.0.2:"), "{}", fact("server behind it"));
    assert!(fact("address").starts_with("http://127.0.0.1:"), "{}", fact("address"));
    let config = lab.fact(&with, "Accelerator configuration", "accelerator.toml").unwrap();
    assert!(config.contains("[[origin.server]]") && !config.contains("{origin}"), "{config}");
    assert_eq!(lab.fact(&without, "Accelerator", "version"), None);
    Leftovers::of(pid, &fact("address")).expect_none();
}

/// Goal: clients speak TLS with the accelerator, which asks the server behind it without.
#[test]
fn an_accelerator_speaks_tls_for_its_server() {
    let lab = Lab::new();
    let arguments = ["1", "--accelerator", "plimsoll", "--http", "2", "--tls", "full", "--keep-alive"];
    let arguments = [&RUN[..], &arguments, &["--sut-quota", "none", "--out", "run.plim"]].concat();
    lab.run(&arguments).expect_run();
    let fact = |section: &str| lab.fact(&lab.path("run.plim"), section, "transport").unwrap_or_default();
    assert_eq!((fact("Accelerator").as_str(), fact("Server").as_str()), ("TLS over TCP, with HTTP/2", "TCP"));
}

#[test]
fn what_cannot_be_put_in_front_is_told() {
    let lab = Lab::new();
    let run = |arguments: &[&str]| lab.run(&[&["run", "one-object"], arguments].concat()).expect(2);
    run(&["--accelerator", "varnsih"]).says("did you mean `varnish`?");
    run(&["--accelerator", "qwerty"]).says("no recipe `qwerty`; there are plimsoll, nginx, varnish");
    run(&["--accelerator", "caddy"]).says("`caddy` is no accelerator").says("hint: `--sut caddy`");
    run(&["--accelerator", "none,"]).says("an empty name");
    run(&["--accelerator", "plimsoll,plimsoll"]).says("is asked for twice");
    run(&["--sut", "varnish"]).says("hint: `--sut nginx --accelerator varnish`");
    run(&["--accelerator", "plimsoll", "--target", "http://127.0.0.1:1/"]).says("cannot be used with");
    run(&["--accelerator-memory", "100 MiB"]).says("--accelerator");
    run(&["--accelerator", "plimsoll", "--http", "2"]).says("HTTP/2 over TLS only");
}

#[test]
fn accelerators_are_listed_with_servers() {
    let lab = Lab::new();
    let listed = lab.run(&["suts"]).expect(0);
    let (servers, accelerators) = listed.stdout.split_once("accelerators, ").unwrap();
    assert!(servers.contains("caddy") && accelerators.contains("varnish"), "{}", listed.stdout);
    let json = lab.run(&["suts", "--json"]).expect(0).json();
    let ours = json["accelerators"].as_array().unwrap().iter().find(|one| one["name"] == "plimsoll").unwrap();
    assert!(ours["version"].as_str().unwrap().starts_with("plimsoll "), "{ours}");
}
