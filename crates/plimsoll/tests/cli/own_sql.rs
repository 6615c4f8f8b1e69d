//! A user's own statements on a database that was there before, of PostgreSQL and MariaDB.

use std::process::{Command, Stdio};

use crate::orderentry::{database_there, folder_of_databases};
use crate::support::{ExitedCommand, Fixture};

/// Two kinds of reading transactions: values of a parameter, an array in quotes or JSON, a column of data.
const READS: &str = r#"
format = 1
id = "shop"
version = 1
title = "A shop"
summary = "Users look for items."
family = "sql"
headline = "operation-rate"

[workload.data.names]
file = "names.csv"
pick = "random"

[[workload.transactions]]
name = "by id"
weight = 3
parameters.id = { from = 1, count = 100 }
statements = [
    { sql = "SELECT name, price FROM items WHERE id = {id} AND '{a}' <> ''", rows = 1 },
    { sql = "SELECT COUNT(*) FROM items WHERE price >= {id}" },
]

[[workload.transactions]]
name = "by name"
weight = 1
atomic = true
statements = [{ sql = "SELECT id FROM items WHERE name = {names.name}", rows = 1 }]

[protocol]
time-limit = "5 s"

[load]
users = "1,4"

[phases]
steady = "3 s"
"#;

/// The second statement of the first transaction.
const SECOND: &str = "SELECT COUNT(*) FROM items WHERE price >= {id}";

/// A transaction that changes two rows, in two statements.
const WRITES: &str = r#"
[[workload.transactions]]
name = "order"
weight = 2
atomic = true
parameters.id = { from = 1, count = 10 }
statements = [
    { sql = "UPDATE items SET stock = stock - 1 WHERE id = {id}", rows = 1 },
    { sql = "INSERT INTO sold (item) VALUES ({id})", rows = 1 },
]

[protocol]"#;

/// A database with a table of 100 items, and how it is used.
struct Shop<'a> {
    fixture: Fixture,
    target: String,
    /// The variable with the password, and the password.
    password: (&'static str, &'a str),
    /// Has the server's own client execute statements; returns what it prints.
    client: Box<dyn Fn(&str) -> String + 'a>,
}

impl Shop<'_> {
    fn prepare(&self) {
        let rows: Vec<String> = (1..=100).map(|id| format!("({id}, 'item {id}', {id}.50, 1000)")).collect();
        (self.client)(&format!(
            "CREATE TABLE items (id int PRIMARY KEY, name varchar(20) NOT NULL, price numeric(8,2), stock int);\n\
             CREATE TABLE sold (item int);\n\
             CREATE SEQUENCE numbers;\n\
             INSERT INTO items VALUES {};",
            rows.join(", ")
        ));
        self.fixture.write("names.csv", "name\nitem 1\n\"item 2\"\nitem 3\n");
    }

    /// Runs a definition.
    fn run(&self, definition: &str, more: &[&str]) -> ExitedCommand {
        self.fixture.write("shop.toml", definition);
        for old in ["run.plim", "run.html"] {
            let _ = std::fs::remove_file(self.fixture.path(old));
        }
        let arguments = ["run", "./shop.toml", "--target", &self.target, "--out", "run.plim"];
        let mut command = self.fixture.command(&[&arguments[..], more].concat());
        command.env(self.password.0, self.password.1);
        self.fixture.end(command)
    }

    /// Checks reading transactions, with a second statement of the product's own that returns a row, their report, and that
    /// the password is nowhere.
    fn check_reads(&self, second: &str) {
        assert!(READS.contains(SECOND));
        let ended = self.run(&READS.replace(SECOND, second), &[]).expect_run();
        let html = std::fs::read_to_string(self.fixture.path("run.html")).unwrap();
        let run = std::fs::read(self.fixture.path("run.plim")).unwrap();
        for text in [&ended.stdout, &ended.stderr, &html, &String::from_utf8_lossy(&run).into_owned()] {
            assert!(!text.contains(self.password.1), "the password is disclosed");
        }
        self.fixture.run(&["audit", "run.plim"]).expect(0).expect_stdout("no differences found");
        let report = self.fixture.report(&self.fixture.path("run.plim"));
        for point in report["load_points"].as_array().unwrap() {
            assert_eq!(point["total"]["errors"], 0);
            let kind = |index: usize, measure: &str| point["kinds"][index][measure]["mean"].as_f64().unwrap();
            // A row of each statement; a begin, a statement and a commit.
            assert_eq!((kind(0, "rows"), kind(0, "round_trips")), (2.0, 2.0));
            assert_eq!((kind(1, "rows"), kind(1, "round_trips")), (1.0, 3.0));
        }
    }

    /// Checks what is refused before load, each with its place.
    fn check_refusals(&self, unknown_table: &str) {
        let slip = |from: &str, to: &str| {
            assert!(READS.contains(from), "{from}");
            self.run(&READS.replacen(from, to, 1), &[])
        };
        let line = line_of(READS, "SELECT name, price");
        slip("FROM items WHERE id", "FROM itms WHERE id")
            .expect(4)
            .expect_stderr(&format!(
                "does not prepare a statement:\n  by id, statement 1 (line {line}): the database"
            ))
            .expect_stderr(unknown_table);
        slip("rows = 1 }", "rows-min = 2 }")
            .expect(4)
            .expect_stderr(&format!("by id: statement 1 (line {line}): expected at least 2 rows, found 1"));
        slip("{names.name}", "{names.nme}").expect(2).expect_stderr("did you mean `name`?");
        let writing = READS.replace("\n[protocol]", WRITES);
        let line = line_of(&writing, "UPDATE");
        self.run(&writing, &[])
            .expect(2)
            .expect_stderr(&format!(
                "`order` has a statement that is not a query (line {line} of the definition)"
            ))
            .expect_stderr("hint: `--allow-writes` lets it change the database");
        let without = ["run", "./shop.toml", "--target", &self.target, "--out", "x.plim", "--allow-writes"];
        self.fixture.run(&without).expect(4).expect_stderr("hint: set `");
        let own = READS.replace(
            "[workload.data.names]",
            "[workload]\npassword = { env = \"SHOP_PASSWORD\" }\n\n[workload.data.names]",
        );
        self.run(&own, &[]).expect(2).expect_stderr("the environment variable `SHOP_PASSWORD` is not set");
        let mut command = self.fixture.command(&[
            "run",
            "./shop.toml",
            "--target",
            &self.target,
            "--out",
            "own.plim",
            "--load",
            "1",
        ]);
        command.env("SHOP_PASSWORD", self.password.1);
        self.fixture.end(command).expect_run();
        self.fixture
            .run(&["run", "webstone-1.1", "--allow-writes", "--out", "x.plim"])
            .expect(2)
            .expect_stderr("it is a setting of sql benchmarks");
    }

    /// A query that writes is refused by the server itself, also where its text does not tell.
    fn check_read_only(&self, next: &str) {
        let definition = READS.replacen("SELECT COUNT(*) FROM items WHERE price >= {id}", next, 1);
        self.run(&definition, &[])
            .expect(4)
            .expect_stderr("refused it with SQLSTATE 25006")
            .expect_stderr("`--allow-writes` lets it change the database");
        self.run(&definition, &["--allow-writes", "--load", "1"]).expect_run();
    }

    /// An open loop opens the sessions that it needs; the last connections of the server are left to others. `n_sessions` is a
    /// query of the number of sessions that the server has had.
    fn check_sessions(&self, n_sessions: &str) {
        let count = || (self.client)(n_sessions).trim().parse::<u64>().unwrap();
        // Without data, whose users have sessions of their own.
        let (head, _) = READS.split_once("[workload.data.names]").unwrap();
        let first = READS.split("[[workload.transactions]]").nth(1).unwrap();
        let (_, tail) = READS.split_once("[protocol]").unwrap();
        let one = format!("{head}[[workload.transactions]]{first}[protocol]{tail}");
        let before = count();
        self.run(&one, &["--rate", "60", "--duration", "1"]);
        let opened = count() - before;
        assert!(opened < 40, "{opened} sessions for 60 transactions per second, of 64 in flight");
        self.run(READS, &["--load", "500"])
            .expect(4)
            .expect_stderr("has too few connections: its `max_connections` of 1")
            .expect_stderr(
                "for the 500 users of the plan, besides 5 that are left to others\nhint: `--load ",
            );
        self.run(READS, &["--rate", "60", "--in-flight-max", "500"])
            .expect(4)
            .expect_stderr("for the 500 operations in flight of the plan, besides 5 that are left to others")
            .expect_stderr("hint: `--in-flight-max ");
    }

    /// All that is written is written once, or not at all.
    fn check_writes(&self) {
        self.run(&READS.replace("\n[protocol]", WRITES), &["--allow-writes"]).expect_run();
        let report = self.fixture.report(&self.fixture.path("run.plim"));
        let ordered: u64 = report["load_points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["kinds"][2]["n"].as_u64().unwrap())
            .sum();
        let sold: u64 = (self.client)("SELECT COUNT(*) FROM sold;").trim().parse().unwrap();
        let stock: u64 = (self.client)("SELECT 100000 - SUM(stock) FROM items;").trim().parse().unwrap();
        assert_eq!(sold, stock);
        assert!(0 < ordered && ordered <= sold, "{ordered} in steady phases, {sold} sold");
    }
}

/// Returns the line of a text that has a piece, from 1.
fn line_of(text: &str, piece: &str) -> usize {
    1 + text.lines().position(|line| line.contains(piece)).unwrap()
}

/// Has a program execute statements from its standard input; returns what it prints.
fn printed(command: &mut Command, statements: &str) -> String {
    use std::io::Write;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    child.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{command:?}: {}", ended.status);
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn own_statements_run_on_postgresql() {
    let base = folder_of_databases();
    let sut = database_there("postgresql", base.path());
    let address = sut.addr();
    let client = |statements: &str| {
        let mut psql = Command::new("psql");
        psql.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--set=ON_ERROR_STOP=1",
            "--username=plimsoll",
        ]);
        psql.arg(format!("--host={}", address.ip())).arg(format!("--port={}", address.port()));
        psql.arg("--dbname=plimsoll").env("PGPASSWORD", sut.password());
        printed(&mut psql, statements)
    };
    let shop = Shop {
        fixture: Fixture::new(),
        target: format!("postgres://plimsoll@{address}/plimsoll"),
        password: ("PGPASSWORD", sut.password()),
        client: Box::new(client),
    };
    shop.prepare();
    // Access privileges are of a type without a binary format.
    shop.check_reads("SELECT relacl FROM pg_class WHERE relname = 'items' AND 0 < {id}");
    shop.check_refusals("SQLSTATE 42P01: relation \"itms\" does not exist");
    shop.check_read_only("SELECT nextval('numbers')");
    shop.check_sessions("SELECT sessions FROM pg_stat_database WHERE datname = 'plimsoll';");
    shop.check_writes();
    drop(shop);
    sut.stop();
}

#[test]
fn own_statements_run_on_mariadb() {
    let base = folder_of_databases();
    let sut = database_there("mariadb", base.path());
    let address = sut.addr();
    let client = |statements: &str| {
        let mut mariadb = Command::new("mariadb");
        mariadb.args([
            "--no-defaults",
            "--batch",
            "--skip-column-names",
            "--protocol=tcp",
            "--user=plimsoll",
        ]);
        mariadb.arg(format!("--host={}", address.ip())).arg(format!("--port={}", address.port()));
        mariadb.arg("plimsoll").env("MYSQL_PWD", sut.password());
        printed(&mut mariadb, statements)
    };
    let shop = Shop {
        fixture: Fixture::new(),
        target: format!("mysql://plimsoll@{address}/plimsoll"),
        password: ("MYSQL_PWD", sut.password()),
        client: Box::new(client),
    };
    shop.prepare();
    // A result has up to 4,096 columns.
    shop.check_reads(&format!("SELECT {}name FROM items WHERE id = {{id}}", "id, ".repeat(600)));
    shop.check_refusals("SQLSTATE 42S02: Table 'plimsoll.itms' doesn't exist (1146)");
    shop.check_read_only("SELECT NEXT VALUE FOR numbers");
    shop.check_sessions(
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'CONNECTIONS';",
    );
    shop.check_writes();
    let named = format!("mysql://plimsoll@{address}/plimsoll");
    shop.fixture
        .run(&["run", "orderentry", "--target", &named, "--out", "x.plim"])
        .expect(2)
        .expect_stderr("order entry creates its own database, but the target names one");
    drop(shop);
    sut.stop();
}
