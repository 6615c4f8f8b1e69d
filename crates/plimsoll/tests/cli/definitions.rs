//! Definitions and filelists of a user's own, with mistakes.

use crate::support::{Lab, Website};

const DEFINITION: &str = r##"format = 1
id = "mine"
version = 1
title = "Mine"
summary = "Two files."
family = "web"
headline = "connection-rate"

[workload]
filelist = { text = "/a.html 900 #500\n/b.html 100 #5000" }
content-seed = 1
counts-pages = false

[protocol]
http = "1.0"
connection = "per-request"
time-limit = "60 s"

[load]
users = "1,2"

[phases]
steady = "1 s"

[quick]
users = "1"
steady = "1 s"
"##;

#[test]
fn a_definition_of_ones_own_is_run() {
    let lab = Lab::new();
    lab.write("mine.toml", DEFINITION);
    lab.run(&["show", "./mine.toml"]).expect(0).prints("/a.html (500)");
    let ended = lab.run(&["run", "./mine.toml", "--out", "run.plim"]);
    ended.assert_run();
    lab.run(&["audit", "run.plim"]).expect(0);
}

/// The example of a user who pauses between pages, of whose files nothing is known beforehand.
#[test]
fn a_site_that_is_there_is_described_and_loaded() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("site/articles")).unwrap();
    let article = |id: u32| format!("articles/{id}.html");
    for path in
        ["index.html", "style.css", "logo.png"].map(str::to_owned).into_iter().chain((1..=50).map(article))
    {
        lab.write(&format!("site/{path}"), &path.repeat(100));
    }
    let website = Website::start(&lab.path("site"));
    let definition = example("my-site.toml");
    let arguments = ["--load", "20", "--settle", "1", "--duration", "2", "--out", "run.plim"];
    let ended = lab.run(&[&["run", &definition, "--target", &website.url], &arguments[..]].concat());
    // Too short for users who think for two seconds: each comes to a page or two, and all begin at the same moment.
    ended.assert_run_or(&["operations", "interactive-law"]);
    lab.run(&["audit", "run.plim"]).expect(0);
    let report = lab.report(&lab.path("run.plim"));
    assert_eq!(report["load_points"][0]["total"]["errors"], 0);
    assert!(0 < report["load_points"][0]["total"]["n"].as_u64().unwrap());
}

/// The example with parameters, whose files Plimsoll lays out itself.
#[test]
fn a_mix_of_files_is_made_and_served() {
    let lab = Lab::new();
    let arguments = ["--quick", "--load", "2", "--sut-quota", "0.1", "--duration", "1", "--out", "run.plim"];
    lab.run(&[&["run", &example("static-mix.toml")], &arguments[..]].concat()).expect_run();
    lab.run(&["audit", "run.plim"]).expect(0);
    assert_eq!(lab.report(&lab.path("run.plim"))["load_points"][0]["total"]["errors"], 0);
}

/// Neither `populate` nor a benchmark of ours can help where somebody's own page is not there.
#[test]
fn a_page_of_ones_own_that_is_not_there_gets_no_hint_about_files_of_ours() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("site")).unwrap();
    let website = Website::start(&lab.path("site"));
    let own = DEFINITION.replace(
        r##"filelist = { text = "/a.html 900 #500\n/b.html 100 #5000" }"##,
        "requests = [{ name = \"a\", weight = 1, path = \"/a\", reply = \"any\" }]",
    );
    for (name, text) in [("mine.toml", DEFINITION.to_owned()), ("any.toml", own)] {
        lab.write(name, &text);
        let ended = lab.run(&["run", &format!("./{name}"), "--target", &website.url]).expect(4);
        assert!(!ended.stderr.contains("populate"), "{}", ended.stderr);
        ended
            .says("status 404, expected 200")
            .says("hint: the definition says which `path`, `status` and `reply`");
    }
    lab.run(&["run", "one-object", "--target", &website.url]).expect(4).says("plimsoll populate");
}

#[test]
fn a_definition_needs_no_short_form_and_no_time_limit() {
    let lab = Lab::new();
    let (text, _) = DEFINITION.split_once("[quick]").unwrap();
    lab.write("mine.toml", &text.replace("time-limit = \"60 s\"\n", "").replace("\"1,2\"", "\"2..8/2\""));
    lab.run(&["show", "./mine.toml"]).expect(0).prints("time limit 60.0 s");
    lab.run(&["run", "./mine.toml", "--quick", "--dry-run"]).expect(0).prints("load points   2, 8 users");
}

#[test]
fn an_audit_of_a_definition_says_which_command_is_meant() {
    let lab = Lab::new();
    lab.write("mine.toml", DEFINITION);
    lab.write("slip.toml", &DEFINITION.replace("[quick]", "[quik]"));
    for name in ["mine.toml", "slip.toml"] {
        let ended = lab.run(&["audit", name]).expect(2);
        let expected = format!(
            "error: `{name}` is the definition of a benchmark, not a published report\n\
             hint: `plimsoll show {name}` checks and shows it; `plimsoll run {name}` runs it\n"
        );
        assert_eq!(ended.stderr, expected);
    }
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns what is said about the definition with a change.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    assert!(DEFINITION.contains(from));
    let lab = Lab::new();
    lab.write("mine.toml", &DEFINITION.replacen(from, to, 1));
    lab.run(&["run", "./mine.toml"]).expect(2).stderr
}

#[test]
fn mistakes_are_shown_with_file_line_and_pointer() {
    insta::assert_snapshot!(refused("content-seed", "contents-seed"), @r"
    error: unknown key `contents-seed` in `workload`
      --> ./mine.toml:11:1
       |
    11 | contents-seed = 1
       | ^^^^^^^^^^^^^ not a key of a definition
       |
       = hint: did you mean `content-seed`?
    ");
    insta::assert_snapshot!(refused("\"60 s\"", "\"-60 s\""), @r#"
    error: `protocol.time-limit` is not valid
      --> ./mine.toml:17:14
       |
    17 | time-limit = "-60 s"
       |              ^^^^^^^ a time cannot be negative, found `-60 s`
       |
       = hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h
    "#);
    insta::assert_snapshot!(refused("\"60 s\"", "\"60 parsec\""), @r#"
    error: `protocol.time-limit` is not valid
      --> ./mine.toml:17:14
       |
    17 | time-limit = "60 parsec"
       |              ^^^^^^^^^^^ `parsec` is not a unit of time
       |
       = hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h
    "#);
    insta::assert_snapshot!(refused("steady = \"1 s\"", "steady = \"99999999 h\""), @r#"
    error: `phases.steady` is not valid
      --> ./mine.toml:23:10
       |
    23 | steady = "99999999 h"
       |          ^^^^^^^^^^^^ `99999999 h` is longer than 30 days
       |
       = hint: write a shorter time
    "#);
    insta::assert_snapshot!(refused("users = \"1,2\"", "users = \"20..10\""), @r#"
    error: `load.users` is not valid
      --> ./mine.toml:20:10
       |
    20 | users = "20..10"
       |          ^^^^^^ the range falls from 20 to 10
       |
       = hint: write the lower end first; a list such as `200,100,50` may fall
    "#);
    insta::assert_snapshot!(refused("version = 1", "version = -1"), @r#"
    error: `version` is not valid
     --> ./mine.toml:3:11
      |
    3 | version = -1
      |           ^^ expected a whole number from 1 to 4294967295, found -1
    "#);
    insta::assert_snapshot!(refused("family = \"web\"", "family = \"wob\""), @r#"
    error: `family` is not valid
     --> ./mine.toml:6:10
      |
    6 | family = "wob"
      |          ^^^^^ expected `web`, found `wob`
      |
      = hint: did you mean `web`?
    "#);
    insta::assert_snapshot!(refused("[load]", "[load"), @r#"
    error: this is not TOML
      --> ./mine.toml:19:6
       |
    19 | [load
       |      ^ unclosed table, expected `]`
    "#);
}

#[test]
fn mistakes_in_filelists_are_shown_with_line_and_column() {
    let filelist = |benchmark: &str, text: &str| {
        let lab = Lab::new();
        lab.write("my.filelist", text);
        lab.run(&["run", benchmark, "--filelist", "my.filelist"]).expect(2).stderr
    };
    insta::assert_snapshot!(filelist("webstone-2.0.1", "/a.html 500 #500\n/b.html many #500\n"), @r#"
    error: the weight is not valid
     --> my.filelist:2:9
      |
    2 | /b.html many #500
      |         ^^^^ expected a whole number up to 1000000000
      |
      = hint: weights need not sum to 100: multiply all of them to make them whole
    "#);
    insta::assert_snapshot!(filelist("webstone-1.1", "2\n3 2\n/file2k.html\n"), @r#"
    error: files of the page by its first line: 2, found: 1
     --> my.filelist:3:14
      |
    3 | /file2k.html
      |             ^ expected a path
    "#);
    assert!(filelist("webstone-1.1", "").starts_with("error: "));
}
