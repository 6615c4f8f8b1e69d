//! `--sut ./my-server.toml`: the user's own recipes.

use crate::support::Fixture;

/// Python's web server: HTTP/1.0, one thread per connection.
const PYTHON: &str = r#"
format = 2
family = "web"
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
fn a_users_own_recipe_starts_a_server() {
    let fixture = Fixture::new();
    fixture.write("my-server.toml", PYTHON);
    let run = ["run", "webstone-1.1", "--sut", "./my-server.toml", "--sut-quota", "none", "--load", "1,2"];
    let ended = fixture.run(&[&run[..], &["--duration", "1", "--out", "run.plim"]].concat());
    ended.assert_run();
    fixture.run(&["audit", "run.plim"]).expect(0);
    let fact = |name: &str| fixture.fact(&fixture.path("run.plim"), "Server", name).unwrap();
    assert!(fact("version").starts_with("Python 3"), "{}", fact("version"));
    assert_eq!(fact("between load points"), "keeps running");
    assert!(fact("file set").starts_with("18 files"), "{}", fact("file set"));
    let report = fixture.report(&fixture.path("run.plim"));
    assert!(0 < report["load_points"][1]["total"]["n"].as_u64().unwrap());
    assert_eq!(report["load_points"][1]["total"]["errors"], 0);
}

/// Returns the error message about the recipe after a replacement.
fn refused(fixture: &Fixture, from: &str, to: &str) -> String {
    assert!(PYTHON.contains(from));
    fixture.write("broken.toml", &PYTHON.replace(from, to));
    let ended =
        fixture.run(&["run", "one-object", "--sut", "./broken.toml", "--sut-quota", "none"]).expect(2);
    assert_eq!(ended.stdout, "");
    ended.stderr
}

#[test]
fn mistakes_in_a_recipe_are_shown_with_their_position() {
    let fixture = Fixture::new();
    insta::assert_snapshot!(refused(&fixture, "{root}", "{rot}"), @r#"
    error: `start.arguments` is not valid
      --> ./broken.toml:15:74
       |
    15 | arguments = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", "{rot}", "{port}"]
       |                                                                          ^^^^^ unknown placeholder `{rot}`
       |
       = hint: did you mean `{root}`?
    "#);
    insta::assert_snapshot!(refused(&fixture, "reset = \"none\"", "reset = \"reboot\""), @r#"
    error: `reset` is not valid
     --> ./broken.toml:7:9
      |
    7 | reset = "reboot"
      |         ^^^^^^^^ expected `none` or `restart` or `restore`, found `reboot`
    "#);
    insta::assert_snapshot!(refused(&fixture, "[start]", "[start"), @r#"
    error: this is not TOML
      --> ./broken.toml:14:7
       |
    14 | [start
       |       ^ unclosed table, expected `]`
    "#);
}

#[test]
fn a_server_that_is_missing_or_exits_is_reported() {
    let fixture = Fixture::new();
    let run = |from: &str, to: &str| {
        fixture.write("broken.toml", &PYTHON.replace(from, to));
        fixture
            .run(&["run", "one-object", "--sut", "./broken.toml", "--sut-quota", "none", "--out", "run.plim"])
            .expect(4)
    };
    run(r#"find = ["/usr/bin/python3", "python3"]"#, r#"find = ["no-such-server"]"#)
        .expect_stderr("Python's http.server is not installed; searched for `no-such-server`")
        .expect_stderr("hint: install it with `apt-get install python3`");
    run(r#""http.server""#, r#""no_such_module""#)
        .expect_stderr("ended unexpectedly: exit status 1")
        .expect_stderr("No module named");
    fixture
        .run(&["run", "one-object", "--sut", "ngin"])
        .expect(2)
        .expect_stderr("hint: did you mean `nginx`?");
    fixture.run(&["run", "one-object", "--sut", "./none.toml"]).expect(2).expect_stderr("`./none.toml`");
    assert!(!fixture.path("run.plim").exists());
}
