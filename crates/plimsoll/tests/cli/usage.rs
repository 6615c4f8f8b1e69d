//! Mistakes on the command line and in files: each is reported with its position and a hint.

use crate::support::Fixture;

/// Returns the error message about a command line with a mistake; nothing goes to standard output.
fn refused(arguments: &[&str]) -> String {
    let ended = Fixture::new().run(arguments).expect(2);
    assert_eq!(ended.stdout, "");
    ended.stderr
}

#[test]
fn unknown_names_have_suggestions() {
    insta::assert_snapshot!(refused(&["run", "webstone-2.0.2"]), @"
    error: there is no benchmark `webstone-2.0.2`
    hint: did you mean `webstone-2.0.1`?
    ");
    insta::assert_snapshot!(refused(&["show", "apache-bench"]), @"
    error: there is no benchmark `apache-bench`
    hint: `plimsoll list` lists the benchmarks; name your own definition by its path
    ");
    assert!(
        refused(&["run", "one-object", "--dutation", "5"])
            .contains("a similar argument exists: '--duration'")
    );
    assert!(refused(&["rum", "one-object"]).contains("similar subcommands exist: 'runs', 'run'"));
}

#[test]
fn invalid_lists_of_loads_are_shown_with_a_pointer() {
    let load = |list: &str| {
        let text = refused(&["run", "one-object", "--load", list]);
        text.split_once("\n\nFor more").unwrap().0.to_owned()
    };
    insta::assert_snapshot!(load("10..x"), @r#"
    error: invalid value '10..x' for '--load <LIST>': expected a number of users from 1 to 1000000, found `x`
      10..x
          ^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    insta::assert_snapshot!(load("10,,20"), @r#"
    error: invalid value '10,,20' for '--load <LIST>': expected a number of users from 1 to 1000000, found ``
      10,,20
         ^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    insta::assert_snapshot!(load("10..200/0"), @r#"
    error: invalid value '10..200/0' for '--load <LIST>': expected a number of users from 1 to 1000000, found `0`
      10..200/0
              ^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    insta::assert_snapshot!(load("5,0"), @r#"
    error: invalid value '5,0' for '--load <LIST>': expected a number of users from 1 to 1000000, found `0`
      5,0
        ^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    insta::assert_snapshot!(load("1..2000000"), @r#"
    error: invalid value '1..2000000' for '--load <LIST>': expected a number of users from 1 to 1000000, found `2000000`
      1..2000000
         ^^^^^^^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    insta::assert_snapshot!(load("3,3"), @r#"
    error: invalid value '3,3' for '--load <LIST>': 3 is listed twice
      3,3
        ^
    hint: leave one of them out
    "#);
    insta::assert_snapshot!(load(""), @r#"
    error: invalid value '' for '--load <LIST>': expected a number of users from 1 to 1000000, found ``
      
      ^
    hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`
    "#);
    assert!(refused(&["run", "one-object", "--rate", "-5"]).contains("error: "));
    assert!(refused(&["run", "one-object", "--rate", "1e9"]).contains("expected a rate above 0"));
    assert!(refused(&["run", "one-object", "--rate", "5", "--load", "5"]).contains("cannot be used with"));
}

#[test]
fn flags_of_other_tools_are_explained() {
    let users = refused(&["run", "http://localhost/", "--users", "50"]);
    assert!(users.contains("tip: `--load 50` (or `-c 50`) sets the number of users"), "{users}");
    assert!(!users.contains("similar argument"), "{users}");
}

#[test]
fn limits_may_be_given_one_by_one() {
    let words = [
        "run",
        "one-object",
        "--dry-run",
        "--json",
        "--limit",
        "p99<50ms",
        "--limit",
        "errors<0.1%,rate>5/s",
    ];
    let plan = Fixture::new().run(&words).expect(0).json()["plan"].clone();
    assert_eq!(plan["limits"].as_array().unwrap().len(), 3, "{}", plan["limits"]);
    let twice = refused(&["run", "one-object", "--limit", "p99<50ms", "--limit", "p99<60ms"]);
    assert!(twice.contains("`--limit` has `p99` twice"), "{twice}");
}

#[test]
fn invalid_times_are_refused() {
    let time = |time: &str| refused(&["run", "one-object", "--duration", time]);
    assert!(time("0").contains("the steady phase must be longer than zero"), "{}", time("0"));
    assert!(time("-5").contains("a time cannot be negative"), "{}", time("-5"));
    assert!(time("99999999").contains("longer than 30 days"), "{}", time("99999999"));
    assert!(time("nan").contains("error: invalid value 'nan'"), "{}", time("nan"));
    assert!(time("5 parsec").contains("`parsec` is not a unit of time"), "{}", time("5 parsec"));
    let limit = refused(&["run", "one-object", "--time-limit", "0"]);
    assert!(limit.contains("--time-limit") && limit.contains("write a time above zero"), "{limit}");
}

#[test]
fn invalid_numbers_are_refused() {
    for arguments in [
        ["--keep-alive=0", ""],
        ["--keep-alive=x", ""],
        ["--sut-quota", "0"],
        ["--sut-quota", "nan"],
        ["--sut-cpus", "5-2"],
        ["--sut-cpus", "4095"],
        ["--load-cpus", "x"],
        ["--seed", "-1"],
        ["--arrivals", "poisson"],
        ["--in-flight-max", "5"],
    ] {
        let list: Vec<&str> =
            ["run", "one-object"].into_iter().chain(arguments).filter(|word| !word.is_empty()).collect();
        let text = refused(&list);
        assert!(text.starts_with("error: "), "{arguments:?}: {text}");
        assert!(!text.contains("panicked") && !text.contains("error: error"), "{arguments:?}: {text}");
    }
}

/// The capabilities of a server are checked before it is started.
#[test]
fn settings_that_a_server_does_not_have_are_refused() {
    let run = |arguments: &[&str]| refused(&[&["run"], arguments].concat());
    let says = |arguments: &[&str], text: &str| {
        let message = run(arguments);
        assert!(message.contains(text), "`{text}` expected in:\n{message}");
    };
    says(
        &["one-object", "--sut", "nginx", "--profile", "defualt"],
        "nginx has no profile `defualt`; expected one of `",
    );
    says(
        &["dynpage", "--sut", "caddy", "--gateway", "cgi"],
        "Caddy has no gateway `cgi`; expected one of `fastcgi`",
    );
    says(&["dynpage", "--sut", "nginx", "--gateway", "cig"], "invalid value 'cig' for '--gateway <KIND>'");
    says(
        &["dynpage", "--sut", "nginx", "--gateway", "native"],
        "`native` is the gateway of the built-in server",
    );
    says(&["dynpage", "--gateway", "cgi"], "the built-in server generates pages itself and has no `cgi`");
    says(&["one-object", "--sut", "nginx", "--gateway", "cgi"], "this benchmark has only files");
    says(&["dynpage", "--sut", "nginx", "--workers", "0"], "invalid value '0' for '--workers <N>'");
    says(
        &["one-object", "--sut", "nginx", "--http", "2"],
        "recipes support HTTP/2 over TLS only\nhint: add `--tls",
    );
}

#[test]
fn targets_and_flags_of_another_family_are_refused_with_what_is_right() {
    insta::assert_snapshot!(refused(&["run", "one-object", "--target", "app://127.0.0.1:7000"]), @r"
    error: this benchmark loads web servers, but `app://127.0.0.1:7000` is a server of the family application
    hint: name a web server: `--target http://HOST:PORT/`
    ");
    insta::assert_snapshot!(refused(&["run", "serverbench", "--target", "orders://127.0.0.1:7000"]), @r"
    error: this benchmark loads application servers, but `orders://127.0.0.1:7000` is a server of the family order-entry
    hint: name an application server: `--target app://HOST:PORT`
    ");
    insta::assert_snapshot!(refused(&["run", "serverbench", "--accelerator", "varnish", "--dry-run"]), @r"
    error: `--accelerator` applies to web servers, but this benchmark loads application servers
    hint: omit `--accelerator`; `--sut` or `--target` chooses the server
    ");
    insta::assert_snapshot!(refused(&["run", "one-object", "--sut", "postgresql"]), @r"
    error: this benchmark loads web servers, and `postgresql` is a server of the family order-entry
    hint: choose a web server, such as `--sut nginx`; `plimsoll suts` lists them
    ");
    insta::assert_snapshot!(refused(&["run", "serverbench", "--sut", "samba"]), @r"
    error: this benchmark loads application servers, and `samba` is a server of the family file
    hint: omit `--sut` for the built-in server; `plimsoll suts` lists the others
    ");
    for arguments in [["--gateway", "cgi"], ["--workers", "4"]] {
        let text = refused(&[&["run", "serverbench"], &arguments[..]].concat());
        assert!(text.contains("applies to web servers"), "{text}");
    }
}

#[test]
fn incompatible_protocol_settings_are_refused() {
    insta::assert_snapshot!(refused(&["run", "one-object", "--rate", "100", "--connection", "sessions"]), @r"
    error: session connections need users, but the load is a rate
    hint: keep connections alive instead: `--keep-alive`
    ");
    insta::assert_snapshot!(refused(&["run", "one-object", "--http", "2", "--connection", "per-request"]), @r"
    error: HTTP/2 cannot use a connection per request
    hint: keep connections alive: `--keep-alive`
    ");
    for arguments in [
        ["--http", "3"],
        ["--tls", "yes"],
        ["--streams", "0"],
        ["--streams", "8"],
        ["--pick", "directory"],
        ["--pick", "nothing=uniform"],
        ["--source-addresses", "127.0.0.2,x"],
        ["--source-addresses", "192.0.2.1"],
    ] {
        let text =
            refused(&[&["run", "one-object", "--load", "1", "--duration", "1"], &arguments[..]].concat());
        assert!(text.contains("error: "), "{arguments:?}: {text}");
        assert!(!text.contains("panicked") && !text.contains("error: error"), "{arguments:?}: {text}");
    }
}

#[test]
fn settings_that_do_not_exist_or_are_given_twice_are_refused() {
    insta::assert_snapshot!(refused(&["run", "one-object", "--set", "htpp=2"]), @r"
    error: web benchmarks have no setting `htpp`
    hint: did you mean `http`?
    ");
    insta::assert_snapshot!(refused(&["run", "one-object", "--set", "tls=off,on"]), @r"
    error: `tls` cannot be `on`
    hint: write off, full or resumed
    ");
    insta::assert_snapshot!(refused(&["run", "one-object", "--set", "streams=0"]), @r"
    error: `streams` cannot be `0`
    hint: write a whole number from 1 to 1000
    ");
    insta::assert_snapshot!(refused(&["run", "one-object", "--http", "1.1", "--set", "http=2"]), @r"
    error: the setting `http` is given twice
    hint: give it once, as a flag of its own or with `--set`
    ");
    let text = refused(&["run", "one-object", "--set", "tls"]);
    assert!(text.contains("expected NAME=VALUE, for example `tls=full`"), "{text}");
}

/// Every combination of values is a run of its own, under a name that tells them apart.
#[test]
fn several_values_of_a_setting_are_run_in_turns() {
    let fixture = Fixture::new();
    let settings = ["--set", "tls=off,full", "--set", "connection=keep-alive"];
    let arguments = [&["run", "one-object", "--load", "1", "--dry-run", "--json"], &settings[..]].concat();
    let plans = fixture.run(&arguments).expect(0).json();
    let plans = plans["plans"].as_array().unwrap();
    let named: Vec<_> = plans
        .iter()
        .map(|one| {
            let protocol = &one["plan"]["workload"]["web"]["protocol"];
            let kept = !protocol["connection"]["keep-alive"].is_null();
            (one["server"].as_str().unwrap(), protocol["tls"].as_str().unwrap(), kept)
        })
        .collect();
    assert_eq!(named, [("built-in, tls off", "off", true), ("built-in, tls full", "full", true)]);
    let modified = plans[1]["plan"]["modifications"].to_string();
    assert!(modified.contains("a full handshake for every connection"), "{modified}");
}

/// The announcement says once what all plans have, and under the name of its server what only one has.
#[test]
fn the_modifications_of_every_plan_are_announced() {
    let fixture = Fixture::new();
    let settings = ["--set", "tls=off,full", "--set", "time-limit=5", "--load", "1", "--duration", "10"];
    let text = fixture.run(&[&["run", "one-object", "--dry-run"], &settings[..]].concat()).expect(0).stdout;
    let lines: Vec<&str> =
        text.lines().filter(|line| line.starts_with("protocol") || line.starts_with("modified")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    protocol      built-in, tls off: HTTP/1.1, persistent connections where the server keeps them, time limit 5.00 s
    protocol      built-in, tls full: HTTP/1.1 over TLS with full handshakes, persistent connections where the server keeps them, time limit 5.00 s
    modified      load: closed loop, 1,2,5,10,20,50,100,200 users → closed loop, 1 user
    modified      time limit: 60 s → 5 s
    modified      built-in, tls full: TLS: off → a full handshake for every connection
    ");
}

/// A flag is its setting: the plan is the same, and so is the remedy of a wrong value.
#[test]
fn flags_are_shorthands_for_settings() {
    let fixture = Fixture::new();
    let plan = |arguments: &[&str]| {
        let run = ["run", "web96", "--load", "1", "--dry-run", "--json"];
        fixture.run(&[&run[..], arguments].concat()).expect(0).json()["plan"].clone()
    };
    for (flag, setting) in [
        (&["--http", "1.0"][..], "http=1.0"),
        (&["--tls", "full"], "tls=full"),
        (&["--keep-alive=7"], "connection=keep-alive:7"),
        (&["--keep-alive"], "connection=keep-alive"),
        (&["--connection", "per-request"], "connection=per-request"),
        (&["--time-limit", "5"], "time-limit=5 s"),
        (&["--pick", "file=weights:3,2,1,1,1,1,1,1,1"], "pick.file=weights:3,2,1,1,1,1,1,1,1"),
    ] {
        let by_flag = plan(flag);
        let by_setting = plan(&["--set", setting]);
        assert_eq!(by_flag, by_setting, "{setting}");
        assert_ne!(by_flag["modifications"].as_array().unwrap().len(), 0, "{setting}");
    }
    let refused = refused(&["run", "one-object", "--streams", "0"]);
    assert!(refused.contains("write a whole number from 1 to 1000"), "{refused}");
}

/// Each filelist has its own workload and its own files.
#[test]
fn filelists_are_run_in_turns() {
    let fixture = Fixture::new();
    fixture.write("small.txt", "/a.html 1 #100\n");
    fixture.write("large.txt", "/a.html 1 #9000\n");
    let settings = ["--set", "filelist=small.txt,large.txt", "--load", "1"];
    let run = [&["run", "one-object", "--dry-run", "--json"], &settings[..]].concat();
    let plans = fixture.run(&run).expect(0).json()["plans"].clone();
    let sizes: Vec<_> = plans
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["server"].as_str().unwrap(), one["plan"]["workload"]["web"]["requests"][0].to_string())
        })
        .collect();
    assert_eq!(sizes[0].0, "built-in, filelist small.txt");
    assert!(sizes[0].1.contains("100") && sizes[1].1.contains("9000"), "{sizes:?}");
    let ended = fixture.run(&[&run[..], &["--sut", "nginx", "--files", "there"]].concat()).expect(2);
    assert!(ended.stderr.contains("each filelist needs its own"), "{}", ended.stderr);
    let real =
        ["run", "one-object", "--set", "filelist=small.txt,large.txt", "--sut", "nginx", "--load", "1"];
    let ended = fixture.run(&[&real[..], &["--settle", "0", "--duration", "1", "--out", "turns"]].concat());
    for name in ["small", "large"] {
        assert!(ended.stdout.contains(&format!("nginx, filelist {name}.txt")), "{}", ended.stdout);
    }
    assert!(!ended.stdout.contains("wrong"), "{}", ended.stdout);
}

#[test]
fn missing_files_are_named() {
    let fixture = Fixture::new();
    let says = |arguments: &[&str], text: &str| {
        fixture.run(arguments).expect(2).expect_stderr(text).expect_stderr("No such file or directory");
    };
    says(&["run", "./none.toml"], "cannot read `./none.toml`");
    says(&["run", "one-object", "--filelist", "none"], "cannot read `none`");
    says(&["report", "none.plim"], "`none.plim`");
    says(&["audit", "none.plim"], "`none.plim`");
    says(&["compare", "none.plim"], "`none.plim`");
    says(&["audit", "none.toml"], "cannot read `none.toml`");
    says(&["runs", "none"], "cannot list `none`");
    let hint =
        "hint: `plimsoll runs` lists the run files in `runs`, `plimsoll runs DIR` those in another directory";
    for command in ["compare", "report", "audit"] {
        fixture.run(&[command, "none.plim"]).expect(2).expect_stderr(hint);
    }
}

#[test]
fn a_file_that_is_not_a_run_file_is_refused() {
    let fixture = Fixture::new();
    fixture.write("no.plim", "nothing of the sort");
    for command in ["report", "audit"] {
        fixture
            .run(&[command, "no.plim"])
            .expect(2)
            .expect_stderr("error: `no.plim` is not a run file: ")
            .expect_stderr("hint: run files end");
    }
}

/// The file is refused before anything is started.
#[test]
fn a_run_file_is_never_overwritten() {
    let fixture = Fixture::new();
    fixture.write("run.plim", "precious");
    let ended =
        fixture.run(&["run", "one-object", "--load", "1", "--duration", "1", "--out", "run.plim"]).expect(2);
    assert!(
        ended.stderr.ends_with(
            "error: `run.plim` already exists\nhint: choose another name, or move the file away\n"
        )
    );
    assert!(!ended.stderr.contains("Starting"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(fixture.path("run.plim")).unwrap(), "precious");
}

#[test]
fn an_unwritable_path_has_a_hint() {
    let fixture = Fixture::new();
    let run = |out: &str| fixture.run(&["run", "one-object", "--load", "1", "--duration", "1", "--out", out]);
    run("/dev/null/run.plim")
        .expect(2)
        .expect_stderr("`/dev/null`: not a directory")
        .expect_stderr("with `--out`");
    // Nobody can create files in /sys, not even root.
    run("/sys/run.plim")
        .expect(2)
        .expect_stderr("error: cannot write `/sys/run.plim`: `/sys`: ")
        .expect_stderr("with `--out`");
    fixture.run(&["populate", "one-object", "--dir", "/dev/null/site"]).expect(4).expect_stderr("/dev/null");
}

#[test]
fn colors_are_for_terminals_that_want_them() {
    let fixture = Fixture::new();
    fixture.write("mine.toml", "format = 1\n");
    let plain = fixture.run(&["run", "./mine.toml"]).expect(2).stderr;
    assert!(!plain.contains('\u{1b}') && plain.starts_with("error: "), "{plain}");
    let line =
        |settings: &str| fixture.shell(&format!("{settings} \"$plimsoll\" run ./mine.toml")).expect(2).stderr;
    assert!(line("CLICOLOR_FORCE=1").starts_with('\u{1b}'));
    assert!(!line("NO_COLOR=1").contains('\u{1b}'));
}
