//! Users with sessions, on a real application: the example's shop, in Python.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::secrets::{CANARY, all_is_clean, is_clean};
use crate::support::Fixture;

/// Files of the tests themselves.
const OWN: [&str; 2] = ["shop.toml", "users.csv"];

/// The shop, killed when dropped.
struct Shop {
    child: Child,
    url: String,
}

impl Shop {
    /// Starts the shop with the users of a file.
    fn start(fixture: &Fixture) -> Shop {
        let mut child = Command::new("/usr/bin/python3")
            .args([&example("shop.py"), "0"])
            .arg(fixture.path("users.csv"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("install it with `apt-get install python3`");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the line that says so").to_owned();
        Shop { child, url }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn example(name: &str) -> String {
    format!("{}/../../examples/shop/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns a directory with the example and so many users, whose names and passwords must reach the shop and nothing
/// else.
fn fixture(n_users: u32) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("shop.toml", &std::fs::read_to_string(example("shop.toml")).unwrap());
    let users: String = (0..n_users).map(|n| format!("{CANARY}-{n},\"{CANARY} & \"\"{n}\"\"\"\n")).collect();
    fixture.write("users.csv", &format!("name,password\n{users}"));
    fixture
}

/// Returns the results of a run that had no errors.
#[track_caller]
fn without_errors(fixture: &Fixture, run: &str) -> Value {
    let report = fixture.report(&fixture.path(run));
    let point = &report["load_points"][0];
    assert_eq!(point["total"]["errors"], 0, "{point:#}");
    report
}

#[test]
fn users_log_in_and_buy_and_nothing_of_it_is_stored() {
    let fixture = fixture(50);
    let shop = Shop::start(&fixture);
    let shown = fixture.run(&["show", "./shop.toml"]).expect(0);
    is_clean("show", (shown.stdout + &shown.stderr).as_bytes());
    let arguments = ["--load", "4", "--settle", "0", "--duration", "2", "--plain", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", "./shop.toml", "--target", &shop.url], &arguments[..]].concat());
    is_clean("the run", (ended.stdout.clone() + &ended.stderr).as_bytes());
    ended.assert_run();
    let report = without_errors(&fixture, "run.plim");
    let web = &report["plan"]["workload"]["web"];
    assert_eq!((&web["data"][0]["rows"], web["data"][0]["hash"].as_str().unwrap().len()), (&50.into(), 64));
    assert_eq!(report["plan"]["catalog"]["measures"][4]["name"], "redirects");
    fixture.run(&["audit", "run.plim"]).expect(0);
    all_is_clean(&fixture, "run.plim", &OWN);
}

/// In an open loop the operations of a user follow each other as in its pages.
#[test]
fn an_open_loop_has_users_with_sessions() {
    let fixture = fixture(50);
    let shop = Shop::start(&fixture);
    let arguments = [
        "--rate",
        "60",
        "--in-flight-max",
        "8",
        "--settle",
        "0",
        "--duration",
        "2",
        "--plain",
        "--out",
        "run.plim",
    ];
    let ended = fixture.run(&[&["run", "./shop.toml", "--target", &shop.url], &arguments[..]].concat());
    ended.assert_run_or(&["operations", "busy-users"]);
    without_errors(&fixture, "run.plim");
}

/// The check before load says what is missing, and not what it is.
#[test]
fn failures_are_described_by_placeholders() {
    let fixture = fixture(3);
    let shop = Shop::start(&fixture);
    let text = std::fs::read_to_string(fixture.path("shop.toml")).unwrap();
    let other = text.replace("{ json = \"/token\" }", "{ json = \"/other\" }");
    fixture.write("shop.toml", &other);
    let ended = fixture.run(&["run", "./shop.toml", "--target", &shop.url, "--load", "2"]).expect(4);
    is_clean("the check", (ended.stdout.clone() + &ended.stderr).as_bytes());
    ended
        .expect_stderr("GET /api/token: no `{extract.token}` in the reply, of at most 4096 bytes")
        .expect_stderr("POST /api/cart: no earlier reply has given `{extract.token}`");
}

#[test]
fn a_plan_whose_users_run_out_of_rows_is_refused() {
    let fixture = fixture(3);
    let text = std::fs::read_to_string(fixture.path("shop.toml")).unwrap();
    fixture.write("shop.toml", &text.replace("at-end = \"wrap\"", "at-end = \"leave\""));
    let dry = |load: [&str; 2]| fixture.run(&[&["run", "./shop.toml", "--dry-run"], &load[..]].concat());
    dry(["--load", "3"]).expect(0);
    let ended = dry(["--load", "3,4"]).expect(2);
    insta::assert_snapshot!(ended.stderr, @r#"
    error: the data `users` have 3 rows, and a load of 4 users needs 4: its users would leave
    hint: add rows, lower the load, or write `at-end = "wrap"` to use rows again
    "#);
    dry(["--rate", "100"]).expect(2).expect_stderr("a rate of 100 operations per second needs");
    std::fs::remove_file(fixture.path("users.csv")).unwrap();
    let ended = dry(["--load", "3"]).expect(2);
    insta::assert_snapshot!(ended.stderr, @r#"
    error: `workload.data.users.file` is not valid
      --> ./shop.toml:18:8
       |
    18 | file = "users.csv"                            # name,password
       |        ^^^^^^^^^^^ cannot read `users.csv`: No such file or directory (os error 2)
       |
       = hint: the file is searched from the folder of the definition
    "#);
}
