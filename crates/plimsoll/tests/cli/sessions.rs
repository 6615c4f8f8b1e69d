//! Users with sessions, on a real application: the example's shop, in Python.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::secrets::{CANARY, all_is_clean, is_clean};
use crate::support::{Fixture, ManualServer, free_port, program, wait_for};
use crate::tls::certificate;

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
    error: data file `users` has 3 rows; a load of 4 users needs 4 (users would run out of rows)
    hint: add rows, lower the load, or write `at-end = "wrap"` to reuse rows
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

/// nginx in front of the shop: over TLS with HTTP/1 and HTTP/2, and beside it an origin that says what it was sent.
struct TlsFront {
    _nginx: ManualServer,
    port: u16,
}

impl TlsFront {
    fn start(fixture: &Fixture, shop: &Shop) -> TlsFront {
        certificate(fixture, &["localhost"], 2020);
        let [port, other] = [free_port(), free_port()];
        // Its workers may otherwise run as a user who cannot enter the folder of a test.
        let user = if rustix::process::geteuid().is_root() { "user root; " } else { "" };
        let config = format!(
            "{user}daemon off; worker_processes 1; pid {0}/nginx.pid; error_log {0}/error.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;\n\
             fastcgi_temp_path {0}/fastcgi; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;\n\
             ssl_certificate {0}/server.pem; ssl_certificate_key {0}/server.key;\n\
             server {{ listen 127.0.0.1:{port} ssl http2; location / {{ proxy_pass {1}; }}\n\
             location = /away {{ return 302 https://localhost:{other}/there; }} }}\n\
             server {{ listen 127.0.0.1:{other} ssl; location = /there {{ default_type text/plain;\n\
             return 200 \"cookie=[$http_cookie] authorization=[$http_authorization]\"; }} }} }}\n",
            fixture.path(".").display(),
            shop.url
        );
        let mut command = Command::new(program(&["nginx"]));
        command.arg("-c").arg(fixture.write("nginx.conf", &config));
        let nginx = ManualServer::start(command, "nginx", "nginx-light");
        for port in [port, other] {
            let address: SocketAddr = ([127, 0, 0, 1], port).into();
            wait_for("nginx", || TcpStream::connect(address).is_ok());
        }
        TlsFront { _nginx: nginx, port }
    }

    /// Runs the definition over TLS, and expects no error.
    #[track_caller]
    fn run_without_errors(&self, fixture: &Fixture, options: &[&str]) -> Value {
        let target = format!("https://localhost:{}/", self.port);
        let run = ["run", "./shop.toml", "--target", &target, "--ca", "server.pem", "--load", "4"];
        let short = ["--settle", "0", "--duration", "2", "--plain", "--out", "run.plim"];
        fixture.run(&[&run[..], &short, options].concat()).assert_run();
        let report = without_errors(fixture, "run.plim");
        std::fs::remove_file(fixture.path("run.plim")).unwrap();
        report
    }
}

/// Four users on one connection must have four sessions.
#[test]
fn sessions_work_over_tls_and_over_http2() {
    let fixture = fixture(50);
    let shop = Shop::start(&fixture);
    let front = TlsFront::start(&fixture, &shop);
    for options in [&["--http", "1.1"][..], &["--http", "2"], &["--http", "2", "--streams", "4"]] {
        let report = front.run_without_errors(&fixture, options);
        let protocol = &report["plan"]["workload"]["web"]["protocol"];
        assert_eq!((&protocol["http"], &protocol["tls"]), (&options[1].into(), &"resumed".into()));
        let n = report["load_points"][0]["total"]["n"].as_u64().unwrap();
        assert!(50 <= n, "{n} operations");
    }
}

/// A redirect over TLS to another origin takes neither cookies nor credentials with it.
#[test]
fn a_redirect_to_another_origin_over_tls_keeps_what_is_the_users() {
    let fixture = fixture(50);
    let shop = Shop::start(&fixture);
    let front = TlsFront::start(&fixture, &shop);
    let text = std::fs::read_to_string(fixture.path("shop.toml")).unwrap();
    let (requests, rest) = text.split_at(text.find("[[workload.pages]]").unwrap());
    let away = "[[workload.requests]]\nname = \"away\"\npath = \"/away\"\nredirects = \"follow\"\n\
        headers = { Authorization = \"Bearer {extract.token}\" }\n\
        reply = { contains = \"cookie=[] authorization=[]\" }\n\n";
    let rest = rest.replace("\"token\", \"buy\"", "\"token\", \"away\", \"buy\"");
    fixture.write("shop.toml", &(requests.to_owned() + away + &rest));
    for options in [&["--http", "1.1"][..], &["--http", "2"]] {
        let report = front.run_without_errors(&fixture, options);
        let kinds = report["load_points"][0]["kinds"].as_array().unwrap();
        let away = kinds.iter().find(|kind| kind["name"] == "away").unwrap();
        assert!(0 < away["n"].as_u64().unwrap(), "{away:#}");
    }
}
