//! `--sut ./my-server.toml`: recipes of a user's own.

use crate::support::Lab;

/// Python's own server: HTTP/1.0, a thread per connection.
const PYTHON: &str = r#"
format = 1
name = "python"
title = "Python's http.server"
ready = "http-get"
reset = "none"

[program]
find = ["/usr/bin/python3", "python3"]
install = "apt-get install python3"
version = ["--version"]

[start]
arguments = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", "{root}", "{port}"]
"#;

#[test]
fn a_recipe_of_ones_own_brings_a_server_up() {
    let lab = Lab::new();
    lab.write("my-server.toml", PYTHON);
    let run = ["run", "webstone-1.1", "--sut", "./my-server.toml", "--sut-quota", "none", "--load", "1,2"];
    let ended = lab.run(&[&run[..], &["--duration", "1", "--out", "run.plim"]].concat());
    ended.assert_run();
    lab.run(&["audit", "run.plim"]).expect(0);
    let fact = |name: &str| lab.fact(&lab.path("run.plim"), "Server", name).unwrap();
    assert!(fact("version").starts_with("Python 3"), "{}", fact("version"));
    assert_eq!(fact("between load points"), "goes on running");
    assert!(fact("file set").starts_with("18 files"), "{}", fact("file set"));
    let report = lab.report(&lab.path("run.plim"));
    assert!(0 < report["load_points"][1]["total"]["n"].as_u64().unwrap());
    assert_eq!(report["load_points"][1]["total"]["errors"], 0);
}

/// What a broken recipe's message says, without terminal colors.
fn refused(lab: &Lab, from: &str, to: &str) -> String {
    assert!(PYTHON.contains(from));
    lab.write("broken.toml", &PYTHON.replace(from, to));
    let ended = lab.run(&["run", "one-object", "--sut", "./broken.toml", "--sut-quota", "none"]).expect(2);
    assert_eq!(ended.stdout, "");
    ended.stderr
}

#[test]
fn a_broken_recipe_is_shown_with_its_place() {
    let lab = Lab::new();
    insta::assert_snapshot!(refused(&lab, "{root}", "{rot}"), @r#"
    error: unknown placeholder `{rot}`
      --> ./broken.toml:14:74
       |
    14 | arguments = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", "{rot}", "{port}"]
       |                                                                          ^^^^^
       |
       = hint: did you mean `{root}`?
    "#);
    insta::assert_snapshot!(refused(&lab, "reset = \"none\"", "reset = \"reboot\""), @r#"
    error: unknown variant `reboot`, expected `none` or `restart`
     --> ./broken.toml:6:9
      |
    6 | reset = "reboot"
      |         ^^^^^^^^
    "#);
    insta::assert_snapshot!(refused(&lab, "[start]", "[start"), @r#"
    error: unclosed table, expected `]`
      --> ./broken.toml:13:7
       |
    13 | [start
       |       ^
    "#);
}

#[test]
fn a_server_that_is_not_there_or_does_not_stay_is_told() {
    let lab = Lab::new();
    let run = |from: &str, to: &str| {
        lab.write("broken.toml", &PYTHON.replace(from, to));
        lab.run(&["run", "one-object", "--sut", "./broken.toml", "--sut-quota", "none", "--out", "run.plim"])
            .expect(4)
    };
    run(r#"find = ["/usr/bin/python3", "python3"]"#, r#"find = ["no-such-server"]"#)
        .says("Python's http.server is not installed; looked for `no-such-server`")
        .says("hint: install it with `apt-get install python3`");
    run(r#""http.server""#, r#""no_such_module""#)
        .says("ended by itself: exit status 1")
        .says("No module named");
    lab.run(&["run", "one-object", "--sut", "ngin"]).expect(2).says("hint: did you mean `nginx`?");
    lab.run(&["run", "one-object", "--sut", "./none.toml"]).expect(2).says("`./none.toml`");
    assert!(!lab.path("run.plim").exists());
}
