//! The user's own definitions and filelists, also with mistakes.

use crate::support::{Fixture, Website};

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
fn a_users_own_definition_is_run() {
    let fixture = Fixture::new();
    fixture.write("mine.toml", DEFINITION);
    fixture.run(&["show", "./mine.toml"]).expect(0).expect_stdout("/a.html (500)");
    let ended = fixture.run(&["run", "./mine.toml", "--out", "run.plim"]);
    ended.assert_run();
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// The example with think times, for a site whose files are not known beforehand.
#[test]
fn an_existing_site_is_described_and_tested() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.path("site/articles")).unwrap();
    let article = |id: u32| format!("articles/{id}.html");
    for path in
        ["index.html", "style.css", "logo.png"].map(str::to_owned).into_iter().chain((1..=50).map(article))
    {
        fixture.write(&format!("site/{path}"), &path.repeat(100));
    }
    let website = Website::start(&fixture.path("site"));
    let definition = example("my-site.toml");
    let arguments = ["--load", "20", "--settle", "1", "--duration", "2", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", &definition, "--target", &website.url], &arguments[..]].concat());
    // Too short for users who think for two seconds: each requests a page or two, and all start at the same moment.
    ended.assert_run_or(&["operations", "interactive-law"]);
    fixture.run(&["audit", "run.plim"]).expect(0);
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["load_points"][0]["total"]["errors"], 0);
    assert!(0 < report["load_points"][0]["total"]["n"].as_u64().unwrap());
}

/// The example with parameters, whose files Plimsoll creates itself.
#[test]
fn a_mix_of_files_is_created_and_served() {
    let fixture = Fixture::new();
    let arguments = ["--quick", "--load", "2", "--sut-quota", "0.1", "--duration", "1", "--out", "run.plim"];
    fixture.run(&[&["run", &example("static-mix.toml")], &arguments[..]].concat()).expect_run();
    fixture.run(&["audit", "run.plim"]).expect(0);
    assert_eq!(fixture.report(&fixture.path("run.plim"))["load_points"][0]["total"]["errors"], 0);
}

/// `populate` cannot create a missing page of the user's own definition.
#[test]
fn a_missing_page_of_a_users_own_definition_has_its_own_hint() {
    let fixture = Fixture::new();
    std::fs::create_dir_all(fixture.path("site")).unwrap();
    let website = Website::start(&fixture.path("site"));
    let own = DEFINITION.replace(
        r##"filelist = { text = "/a.html 900 #500\n/b.html 100 #5000" }"##,
        "requests = [{ name = \"a\", weight = 1, path = \"/a\", reply = \"any\" }]",
    );
    for (name, text) in [("mine.toml", DEFINITION.to_owned()), ("any.toml", own)] {
        fixture.write(name, &text);
        let ended = fixture.run(&["run", &format!("./{name}"), "--target", &website.url]).expect(4);
        assert!(!ended.stderr.contains("populate"), "{}", ended.stderr);
        ended
            .expect_stderr("status 404, expected 200")
            .expect_stderr("hint: check `path`, `status` and `reply` in the definition");
    }
    fixture
        .run(&["run", "one-object", "--target", &website.url])
        .expect(4)
        .expect_stderr("plimsoll populate");
}

#[test]
fn a_definition_needs_no_quick_form_and_no_time_limit() {
    let fixture = Fixture::new();
    let (text, _) = DEFINITION.split_once("[quick]").unwrap();
    fixture.write("mine.toml", &text.replace("time-limit = \"60 s\"\n", "").replace("\"1,2\"", "\"2..8/2\""));
    fixture.run(&["show", "./mine.toml"]).expect(0).expect_stdout("time limit 60.0 s");
    fixture
        .run(&["run", "./mine.toml", "--quick", "--dry-run"])
        .expect(0)
        .expect_stdout("load points   2, 8 clients");
}

#[test]
fn an_audit_of_a_definition_names_the_right_commands() {
    let fixture = Fixture::new();
    fixture.write("mine.toml", DEFINITION);
    fixture.write("slip.toml", &DEFINITION.replace("[quick]", "[quik]"));
    for name in ["mine.toml", "slip.toml"] {
        let ended = fixture.run(&["audit", name]).expect(2);
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

/// Returns the error message about the definition after a replacement.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    assert!(DEFINITION.contains(from));
    let fixture = Fixture::new();
    fixture.write("mine.toml", &DEFINITION.replacen(from, to, 1));
    fixture.run(&["run", "./mine.toml"]).expect(2).stderr
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
       = hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h, d
    "#);
    insta::assert_snapshot!(refused("\"60 s\"", "\"60 parsec\""), @r#"
    error: `protocol.time-limit` is not valid
      --> ./mine.toml:17:14
       |
    17 | time-limit = "60 parsec"
       |              ^^^^^^^^^^^ `parsec` is not a unit of time
       |
       = hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h, d
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
    // A build with the family of tests names it too.
    let family = refused("family = \"web\"", "family = \"wob\"").replace(" or `echo`", "");
    insta::assert_snapshot!(family, @r#"
    error: `family` is not valid
     --> ./mine.toml:6:10
      |
    6 | family = "wob"
      |          ^^^^^ expected `web` or `application` or `file` or `order-entry` or `sql` or `mail`, found `wob`
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
        let fixture = Fixture::new();
        fixture.write("my.filelist", text);
        fixture.run(&["run", benchmark, "--filelist", "my.filelist"]).expect(2).stderr
    };
    insta::assert_snapshot!(filelist("webstone-2.0.1", "/a.html 500 #500\n/b.html many #500\n"), @r#"
    error: the weight is not valid
     --> my.filelist:2:9
      |
    2 | /b.html many #500
      |         ^^^^ expected a whole number up to 1000000000
      |
      = hint: weights need not add up to 100: multiply all of them to obtain whole numbers
    "#);
    insta::assert_snapshot!(filelist("webstone-1.1", "2\n3 2\n/file2k.html\n"), @r#"
    error: files announced for the page: 2, found: 1
     --> my.filelist:3:14
      |
    3 | /file2k.html
      |             ^ expected a path
    "#);
    assert!(filelist("webstone-1.1", "").starts_with("error: "));
}
