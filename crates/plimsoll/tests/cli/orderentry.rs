//! The order-entry benchmark: with the built-in server, with one that runs already, with a database within the process of the
//! run, and with other data.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Fixture, RunningCommand};

/// Arguments for load points of some seconds on small data.
const SHORT: [&str; 8] =
    ["--quick", "--load", "4,8", "--duration", "3", "--set", "warehouses=2", "--monitor"];

/// Starts a built-in order-entry server with data of two warehouses in a directory on a disk; returns both, and its
/// target.
fn serve(fixture: &Fixture, more: &[&str]) -> ((RunningCommand, TempDir), String) {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = directory.path().to_str().unwrap();
    let server = ["serve", "orders", "--warehouses", "2", "--divisor", "100", "--directory", path];
    let server = fixture.start(&[&server, more].concat());
    let target = format!("orders://{}", server.address());
    ((server, directory), target)
}

/// Returns the names of the checks of a load point at a moment, all of which hold.
fn checks<'a>(point: &'a Value, moment: &str) -> Vec<&'a str> {
    let checks = point["checks"].as_array().unwrap().iter().filter(|check| check["moment"] == moment);
    let name = |check: &'a Value| {
        assert_eq!(check["holds"], true, "{check}");
        check["name"].as_str().unwrap()
    };
    checks.map(name).collect()
}

/// Checks that what was found before a load point was found in the golden copy of the data, or that none of it was.
fn check_golden(point: &Value, is_golden: bool) {
    let all = point["checks"].as_array().unwrap().iter();
    for check in all.filter(|check| check["moment"] == "before") {
        let found = check["found"].as_str().unwrap();
        assert_eq!(found.starts_with("in the golden copy: "), is_golden, "{check}");
    }
}

/// Checks a run on SQLite: its audit, and of each load point score, conditions and counts. `trips` is the number of round
/// trips of a transaction.
fn check_sqlite(fixture: &Fixture, run: &str, trips: Option<f64>) {
    fixture.run(&["audit", run]).expect(0).expect_stdout("no differences found");
    let report = fixture.report(&fixture.path(run));
    for point in report["load_points"].as_array().unwrap() {
        assert_eq!(point["total"]["errors"], 0);
        check_score(point, trips);
        check_golden(point, true);
        let conditions: Vec<String> = (1..=12).map(|number| format!("condition {number}")).collect();
        let before = conditions.iter().map(String::as_str).chain(["orders as loaded"]);
        assert_eq!(checks(point, "before"), ["data restored"].into_iter().chain(before).collect::<Vec<_>>());
        let database = point["checks"][0]["found"].as_str().unwrap();
        assert!(database.contains(" rows, ") && database.contains("SQLite 3."), "{database}");
        let after = conditions.iter().map(String::as_str).filter(|name| *name != "condition 11");
        let after = after.chain(["orders placed", "orders delivered"]);
        assert_eq!(checks(point, "after"), after.collect::<Vec<_>>());
        let placed = point["counts"]["orders placed"].as_u64().unwrap();
        let steady = kind(point, "new-order")["n"].as_u64().unwrap();
        assert!(steady <= placed && point["counts"]["new orders in doubt"] == 0, "{}", point["counts"]);
    }
}

#[test]
fn a_run_works_from_nothing_and_is_audited() {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--out", "run.plim"];
    let ended = fixture.run(&[&arguments[..], &SHORT, &["off"]].concat()).expect_run();
    assert!(ended.stdout.contains("NOPM"), "{}", ended.stdout);
    check_sqlite(&fixture, "run.plim", Some(1.0));
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for text in [
        "Derived from the TPC-C specification; not a TPC-C result and not comparable with published TPC-C results.",
        "2 warehouses, cardinalities divided by 100",
        "pacing bf, weights of 45/43/4/4/4, deliveries at once",
        "Queue time in the server",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("tpmC"), "a protected name");
}

fn kind<'a>(point: &'a Value, name: &str) -> &'a Value {
    point["kinds"].as_array().unwrap().iter().find(|kind| kind["name"] == name).unwrap()
}

/// Checks the score against what is printed: 60 · (n placed + n rolled back) ÷ T, with T from the rate of all
/// transactions.
fn check_score(point: &Value, trips: Option<f64>) {
    let n = |name: &str| kind(point, name)["n"].as_f64().unwrap();
    let seconds = point["total"]["n"].as_f64().unwrap() / point["rate_per_s"].as_f64().unwrap();
    let expected = 60.0 * (n("new-order") + n("new-order rolled back")) / seconds;
    let score = point["score"].as_f64().unwrap();
    assert!((score / expected - 1.0).abs() < 1e-6, "{score} and {expected}");
    let lines = kind(point, "new-order")["order_lines"]["mean"].as_f64().unwrap();
    assert!((5.0..=15.0).contains(&lines), "{lines}");
    for name in ["new-order", "payment"] {
        let part = |measure: &str| kind(point, name)[measure]["mean"].as_f64().unwrap();
        let response = kind(point, name)["response"]["mean_s"].as_f64().unwrap();
        assert!(part("queue_s") + part("service_s") <= response, "{name}");
        assert_eq!(kind(point, name)["round_trips"]["mean"].as_f64(), trips, "{name}");
    }
}

/// Goal: without any server, the run has the checks and the score of one with a server, the CPU time of transactions, and
/// says that no network was in the response time.
#[test]
fn an_embedded_database_needs_no_server_and_is_audited() {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--set", "database=embedded", "--out", "run.plim"];
    let ended = fixture.run(&[&arguments[..], &SHORT[..SHORT.len() - 1]].concat()).expect_run();
    assert!(ended.stdout.contains("NOPM"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("Mbit/s"), "nothing goes over a network: {}", ended.stdout);
    for text in [
        "modified      database mode: server → embedded",
        "server        embedded SQLite, CPUs any, not limited (the database is in the process of the load generator)",
        "Server: none, the database is in this process, embedded SQLite",
    ] {
        assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
    }
    check_sqlite(&fixture, "run.plim", None);
    for point in fixture.report(&fixture.path("run.plim"))["load_points"].as_array().unwrap() {
        let per_transaction = point["sut"]["cpu_per_operation_s"].as_f64().unwrap();
        let service = kind(point, "payment")["service_s"]["mean"].as_f64().unwrap();
        assert!(0.0 < per_transaction && 0.0 < service, "{per_transaction} s of {service} s");
    }
    let fact = |name: &str| fixture.fact(&fixture.path("run.plim"), "System under test", name).unwrap();
    assert!(fact("database").starts_with("SQLite 3."), "{}", fact("database"));
    assert_eq!(fact("connections"), "1 for transactions that write, 2 for those that read");
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for text in [
        "SQLITE_BUSY",
        "wal_checkpoint_pages",
        "SQLite in one process with the load generator, so that no network is in the response time",
        "a database in the process of the load generator",
        "there is no network in the response time",
        "Queue time in the database",
    ] {
        assert!(html.contains(text), "{text}");
    }
}

/// The two modes take turns, and each ends with data that fit the counts of its users.
#[test]
fn an_embedded_database_is_compared_with_the_built_in_server() {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--set", "database=server,embedded", "--out", "both"];
    fixture.run(&[&arguments[..], &SHORT, &["off"]].concat()).assert_run();
    check_sqlite(&fixture, "both/built-in-database-server.plim", Some(1.0));
    check_sqlite(&fixture, "both/embedded-SQLite-database-embedded.plim", None);
}

/// Each of these concerns a server, or connections to it.
#[test]
fn arguments_for_servers_are_refused_with_an_embedded_database() {
    let fixture = Fixture::new();
    for (flag, value) in [
        ("--sut", "postgresql"),
        ("--target", "orders://127.0.0.1:1"),
        ("--sut-cpus", "0"),
        ("--sut-groups", "1"),
        ("--sut-quota", "0.5"),
        ("--sut-memory", "1GiB"),
        ("--sut-disk", "reads=50"),
        ("--source-addresses", "127.0.0.2"),
        ("--set", "sql=client"),
        ("--set", "tls=on"),
    ] {
        let shown = if flag == "--set" { format!("{flag} {value}") } else { flag.to_owned() };
        fixture
            .run(&["run", "orderentry", "--set", "database=embedded", flag, value, "--out", "x.plim"])
            .expect(2)
            .expect_stderr(&format!("`{shown}` applies to a database server; with `database=embedded`"))
            .expect_stderr(&format!("hint: omit `{shown}`, or `--set database=embedded`"));
    }
    assert!(!fixture.path("x.plim").exists());
}

/// Without a restore, the orders of a load point would break the checks before the next one.
#[test]
fn a_running_server_is_named_by_its_target_and_restored_between_load_points() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &[]);
    let arguments = ["run", "orderentry", "--target", &target, "--set", "pacing=flat,bf", "--out", "out"];
    fixture.run(&[&arguments[..], &SHORT, &["off"]].concat()).assert_run();
    for (target, error) in [
        ("app://127.0.0.1:1", "name an order-entry server: `--target orders://HOST:PORT`"),
        ("127.0.0.1:1", "expected `orders://HOST:PORT`"),
    ] {
        fixture
            .run(&["run", "orderentry", "--target", target, "--out", "x.plim"])
            .expect(2)
            .expect_stderr(error);
    }
    for target in ["orders://127.0.0.1:1", "postgres://me@127.0.0.1:1/shop", "mysql://me@127.0.0.1:1"] {
        fixture
            .run(&["run", "orderentry", "--target", target, "--out", "x.plim"])
            .expect(4)
            .expect_stderr(&format!("error: no connection to {target}: "))
            .expect_stderr("hint: start the server first, or omit `--target` for the built-in server");
    }
}

#[test]
fn other_data_are_not_loaded() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &[]);
    let arguments = ["run", "orderentry", "--target", &target, "--quick", "--out", "x.plim"];
    fixture.run(&arguments).expect(4).expect_stderr("it has other data");
    let (_other, target) = serve(&fixture, &["--seed", "7"]);
    let arguments = ["run", "orderentry", "--target", &target, "--out", "x.plim"];
    fixture
        .run(&[&arguments[..], &SHORT, &["off"]].concat())
        .expect(4)
        .expect_stderr("expected rows of the seed 1, found rows of the seed 7");
    assert!(!fixture.path("x.plim").exists());
}

/// Data of 100,000 warehouses are for no test machine.
#[test]
fn data_that_do_not_fit_the_disk_are_refused() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "orderentry", "--set", "warehouses=100000", "--set", "divisor=1", "--out", "x.plim"];
    fixture.run(&arguments).expect(4).expect_stderr("the data needs 15.6 TiB of disk space");
    assert!(!fixture.path("x.plim").exists());
}

#[test]
fn settings_are_modifications() {
    let fixture = Fixture::new();
    let settings = ["--set", "pacing=spec", "--set", "divisor=50"];
    let planned = fixture.run(&[&["run", "orderentry", "--dry-run"][..], &settings].concat());
    planned
        .expect(0)
        .expect_stdout("pacing: bf → spec")
        .expect_stdout("divisor of cardinalities: 100 → 50")
        .expect_stdout("a deck of 23 cards per user, deliveries deferred");
}

/// Checks a run on a database: no failures, all conditions hold, and what is known of its form of SQL.
fn check_database(
    fixture: &Fixture,
    (product, is_golden): (&str, bool),
    run: &str,
    (text, trips): (&str, f64),
) {
    fixture.run(&["audit", run]).expect(0).expect_stdout("no differences found");
    let report = fixture.report(&fixture.path(run));
    for point in report["load_points"].as_array().unwrap() {
        assert_eq!(point["total"]["errors"], 0, "{point}");
        assert_eq!((checks(point, "before").len(), checks(point, "after").len()), (14, 13));
        check_golden(point, is_golden);
        let database = point["checks"][0]["found"].as_str().unwrap();
        assert!(database.contains(&format!(" in {product} ")), "{database}");
        assert_eq!(point["counts"]["new orders in doubt"], 0, "{point}");
        let payment = kind(point, "payment");
        let mean = payment["round_trips"]["mean"].as_f64().unwrap();
        assert!(trips <= mean && mean < trips + 1.5, "{run}: {mean}");
        assert!(payment["queue_s"].is_null(), "a database does not say: {payment}");
        assert!(0.0 < payment["received_bytes"]["mean"].as_f64().unwrap());
    }
    let html = std::fs::read_to_string(fixture.path(&run.replace(".plim", ".html"))).unwrap();
    assert!(html.contains(text), "{text}");
}

/// Goal: deferred deliveries are made, counted in time, and are among the orders that the users know.
#[test]
fn deferred_deliveries_are_made_in_the_background() {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--set", "delivery=deferred", "--set", "think-time=20 ms"];
    for (run, mode, trips) in
        [("server.plim", "database=server", Some(0.0)), ("embedded.plim", "database=embedded", None)]
    {
        let more = ["--set", mode, "--out", run];
        fixture.run(&[&arguments[..], &more, &SHORT, &["off"]].concat()).expect_run();
        check_deferred(&fixture, run, trips);
    }
}

fn check_deferred(fixture: &Fixture, run: &str, trips: Option<f64>) {
    fixture.run(&["audit", run]).expect(0).expect_stdout("no differences found");
    for point in fixture.report(&fixture.path(run))["load_points"].as_array().unwrap() {
        assert!(checks(point, "after").contains(&"deferred deliveries"), "{}", point["checks"]);
        let counts = &point["counts"];
        let queued = counts["deferred deliveries"].as_u64().unwrap();
        assert!(0 < queued && counts["deferred deliveries within 80 s"] == queued, "{counts}");
        let delivery = kind(point, "delivery");
        assert_eq!(delivery["round_trips"]["mean"].as_f64(), trips, "{delivery}");
        // Most are queued at once. Some wait for a CPU, which the users of an embedded database share with it.
        let median = &delivery["response"]["percentiles"][0];
        assert_eq!(median["q"], 0.5, "{delivery}");
        assert!(median["value_s"].as_f64().unwrap() < 0.001, "{delivery}");
    }
}

/// The words of each form, and the round trips of a payment in it.
const STORED: (&str, f64) = ("one call of a stored procedure per transaction", 1.0);
const BATCHED: (&str, f64) = ("batched client statements", 6.0);
const CLIENT: (&str, f64) = ("client statements one by one", 9.0);
const TLS: (&str, f64) = ("client statements one by one, prepared, over TLS", 9.0);

/// Runs the benchmark on a database that it starts, in the standard form and in another one.
fn check_recipe(
    fixture: &Fixture,
    (recipe, product, counter): (&str, &str, &str),
    (other, known): (&[&str], (&str, f64)),
) {
    let arguments = ["run", "orderentry", "--sut", recipe, "--out"];
    for (sql, known) in [(&[][..], STORED), (other, known)] {
        let run = format!("run{}.plim", sql.len());
        let ended = fixture
            .run(&[&arguments[..], &[run.as_str()], sql, &SHORT[..SHORT.len() - 1]].concat())
            .expect_run();
        assert!(ended.stdout.contains("NOPM"), "{}", ended.stdout);
        check_database(fixture, (product, true), &run, known);
        // Its own account, with a line for each of its counters.
        let html = std::fs::read_to_string(fixture.path(&run.replace(".plim", ".html"))).unwrap();
        for text in ["Sessions of a database that wait for a lock", counter] {
            assert!(html.contains(text), "{text}");
        }
    }
}

#[test]
fn postgresql_is_loaded_by_recipe_and_audited() {
    let fixture = Fixture::new();
    check_recipe(
        &fixture,
        ("postgresql", "PostgreSQL", "pg_stat_wal.wal_bytes"),
        (&["--set", "sql=batched"], BATCHED),
    );
    fixture
        .run(&["run", "orderentry", "--sut", "postgresql", "--set", "sql=request", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("speaks `stored`, `batched`, `client`, which contradicts `sql=request`");
    fixture
        .run(&["run", "orderentry", "--set", "tls=on", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("speaks `off`, which contradicts `tls=on`");
    fixture
        .run(&["run", "orderentry", "--set", "sql=client", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("hint: leave `sql` out: it follows from the server");
}

#[test]
fn mariadb_is_loaded_by_recipe_and_audited() {
    let fixture = Fixture::new();
    check_recipe(
        &fixture,
        ("mariadb", "MariaDB", "Innodb_os_log_written"),
        (&["--set", "sql=client", "--set", "tls=on"], TLS),
    );
    fixture
        .run(&["run", "orderentry", "--sut", "mariadb", "--set", "sql=request", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("speaks `stored`, `batched`, `client`, which contradicts `sql=request`");
}

/// A database server that was there before any run, without data.
pub(crate) fn database_there(recipe: &str, base: &Path) -> testbed::RunningSut {
    let private = |name: &str| {
        let folder = base.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        testbed::make_private_folder(&observe::private_folder::private_folder_in(&folder)).unwrap()
    };
    let recipe = testbed::Recipe::load(recipe).unwrap();
    let request = testbed::SutRequest {
        server: testbed::SutServer::Recipe(Box::new(recipe)),
        work_dir: private("work"),
        data_dir: private("data"),
        limits: testbed::ResourceLimits::default(),
        port: None,
        search_path: Vec::new(),
        profile: Some("default".to_owned()),
        variant: None,
        users: 1,
        web: testbed::WebParts::default(),
        program: PathBuf::new(),
    };
    let mut sut = testbed::RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(Duration::from_secs(30)).unwrap_or_else(|error| panic!("{error}"));
    sut
}

/// Runs the benchmark on a database that is there, first without its password.
fn check_database_there(
    (product, target): (&str, &str),
    sut: &testbed::RunningSut,
    hint: &str,
    set_password: impl Fn(&Fixture, &mut std::process::Command),
) {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--target", target, "--set", "sql=client", "--out", "run.plim"];
    let arguments = [&arguments[..], &SHORT, &["off"]].concat();
    fixture.run(&arguments).expect(4).expect_stderr(hint);
    let mut command = fixture.command(&arguments);
    set_password(&fixture, &mut command);
    let ended = fixture.end(command).expect_run();
    check_database(&fixture, (product, false), "run.plim", CLIENT);
    let run = std::fs::read(fixture.path("run.plim")).unwrap();
    let run = String::from_utf8_lossy(&run).into_owned();
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    assert!(run.contains("the data were loaded anew; the server was not restarted"), "an event");
    for text in [&ended.stdout, &ended.stderr, &html, &run] {
        assert!(!text.contains(sut.password()), "the password is disclosed");
    }
    let unreset = [&arguments[..6], &["--set", "reset=none", "--out", "again.plim"]].concat();
    let mut command = fixture.command(&[&unreset[..], &SHORT, &["off"]].concat());
    set_password(&fixture, &mut command);
    fixture.end(command).expect_run();
    check_unreset(&fixture, "again.plim");
    let other =
        [&arguments[..6], &["--set", "reset=none", "--set", "divisor=50", "--out", "other.plim"]].concat();
    let mut command = fixture.command(&[&other[..], &SHORT, &["off"]].concat());
    set_password(&fixture, &mut command);
    fixture.end(command).expect(4).expect_stderr("warehouses 2, divisor 50, ").expect_stderr("divisor 100, ");
    let many = ["run", "orderentry", "--target", target, "--out", "x.plim", "--quick", "--load", "200"];
    let mut command = fixture.command(&[&many[..], &["--monitor", "off"]].concat());
    set_password(&fixture, &mut command);
    fixture
        .end(command)
        .expect(4)
        .expect_stderr("has too few connections: its `max_connections` of 1")
        .expect_stderr("for the 200 users of the plan, besides 5 that are left to others")
        .expect_stderr("fits these connections; or raise that limit");
}

/// Checks a run on data as an earlier run has left them: all checks that make sense with them hold, and it is modified.
fn check_unreset(fixture: &Fixture, run: &str) {
    fixture.run(&["audit", run]).expect(0).expect_stdout("no differences found");
    let report = fixture.report(&fixture.path(run));
    for point in report["load_points"].as_array().unwrap() {
        assert_eq!(point["total"]["errors"], 0, "{point}");
        let before = checks(point, "before");
        assert_eq!((before.len(), checks(point, "after").len()), (13, 13));
        check_golden(point, false);
        assert!(!before.contains(&"condition 11") && before.contains(&"orders before the load point"));
        let orders = point["checks"].as_array().unwrap().iter();
        let orders = orders.filter(|check| check["name"] == "orders before the load point");
        let text = orders.map(|check| check["found"].as_str().unwrap()).next().unwrap();
        assert!(!text.starts_with("600 orders, "), "nothing was loaded anew: {text}");
        assert!(0 < point["counts"]["orders placed"].as_u64().unwrap());
    }
    let html = std::fs::read_to_string(fixture.path(&run.replace(".plim", ".html"))).unwrap();
    assert!(html.contains("data as they were left"));
}

/// Only a database that was there already has data to be left.
#[test]
fn data_of_other_servers_are_always_reset() {
    let fixture = Fixture::new();
    let arguments = ["run", "orderentry", "--set", "reset=none", "--out", "x.plim"];
    for (more, title) in [
        (&[][..], "built-in"),
        (&["--sut", "postgresql"], "postgresql"),
        (&["--set", "database=embedded"], "embedded SQLite"),
        (&["--target", "orders://127.0.0.1:1"], "orders://127.0.0.1:1"),
    ] {
        fixture.run(&[&arguments[..], more].concat()).expect(2).expect_stderr(&format!(
            "`reset=none` applies to a PostgreSQL or MariaDB that is already running, not to {title}\n\
             hint: name the database by `--target postgres://"
        ));
    }
}

/// A folder of databases, which their accounts may enter.
pub(crate) fn folder_of_databases() -> TempDir {
    let base = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in("/dev/shm");
    base.unwrap()
}

#[test]
fn a_postgresql_database_that_is_there_is_loaded_anew_and_its_password_is_nowhere() {
    let base = folder_of_databases();
    let sut = database_there("postgresql", base.path());
    let target = format!("postgres://plimsoll@{}/plimsoll", sut.addr());
    let hint = "the database asks for a password, but none is given\nhint: set `PGPASSWORD` or `PGPASSFILE`";
    check_database_there(("PostgreSQL", &target), &sut, hint, |fixture, command| {
        let passwords = fixture.write("passwords", &format!("127.0.0.1:*:*:plimsoll:{}\n", sut.password()));
        std::fs::set_permissions(&passwords, Permissions::from_mode(0o600)).unwrap();
        command.env("PGPASSFILE", &passwords);
    });
    sut.stop();
}

#[test]
fn a_mariadb_database_that_is_there_is_loaded_anew_and_its_password_is_nowhere() {
    let base = folder_of_databases();
    let sut = database_there("mariadb", base.path());
    let target = format!("mysql://plimsoll@{}", sut.addr());
    let hint = "(using password: NO) (1045)\nhint: set `MYSQL_PWD`";
    check_database_there(("MariaDB", &target), &sut, hint, |_, command| {
        command.env("MYSQL_PWD", sut.password());
    });
    sut.stop();
}

#[test]
fn a_think_time_is_chosen_for_the_machine() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "orderentry", "--quick", "--load", "5,300", "--duration", "3", "--set", "warehouses=2"];
    let more = ["--calibrate-think-time", "--monitor", "off", "--out", "run.plim"];
    let ended = fixture.run(&[&arguments[..], &more].concat()).expect_run();
    let chosen = ended.stderr.split("Think time: ").nth(1).expect(&ended.stderr).split(',').next().unwrap();
    assert!(chosen.ends_with(" ms") || chosen.ends_with(" s"), "{chosen}");
    assert!(ended.stderr.contains("with which 210 users saturate built-in."), "{}", ended.stderr);
    assert!(ended.stdout.contains(&format!("mean think time 270 ms → {chosen}")), "{}", ended.stdout);
    fixture
        .run(&["run", "webstone-1.1", "--quick", "--calibrate-think-time", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("`--calibrate-think-time` needs order entry with numbers of users");
}
