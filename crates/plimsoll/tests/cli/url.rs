//! `plimsoll run URL`: pages of a server that Plimsoll did not start.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{ExitedCommand, Fixture, Pages, free_port};

/// Flags of a short run.
const SHORT: [&str; 8] = ["-c", "2", "--duration", "1", "--settle", "0", "--out", "run.plim"];

fn run(fixture: &Fixture, words: &[&str]) -> ExitedCommand {
    fixture.run(&[&["run"], words, &SHORT[..]].concat())
}

fn requests_of(report: &Value) -> &Vec<Value> {
    report["plan"]["workload"]["web"]["requests"].as_array().unwrap()
}

#[test]
fn pages_of_a_running_server_are_loaded_and_checked_as_they_were_seen() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let time = format!("{}time", pages.url);
    let ended = run(&fixture, &[&pages.url, &time, &pages.url]);
    ended.assert_run();
    let ended = ended
        .expect_stderr("every body is compared with the first, until the page changes.")
        .expect_stderr("status and content type are checked, bodies are not compared.");
    assert!(!ended.stdout.contains("modified"), "{}", ended.stdout);
    let report = fixture.report(&fixture.path("run.plim"));
    let requests = requests_of(&report);
    assert_eq!((&requests[0]["name"], &requests[0]["reply"]), (&"/".into(), &"seen".into()));
    assert_eq!(requests[1]["reply"]["content-type"], "text/plain");
    assert_eq!(report["plan"]["workload"]["web"]["pages"][0]["weight"], 2, "a page that is given twice");
    assert_eq!(report["load_points"][0]["total"]["errors"], 0);
    let markdown = fixture.run(&["report", "run.plim", "--format", "markdown"]).expect(0).stdout;
    let text = "“/time”: status and content type are checked, bodies were not compared";
    assert!(markdown.contains(text), "{markdown}");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// Goal: an error page with status 200 that the server shows from 20 clients on is no success and no change of the page,
/// although it has the type of the page and more than its length.
#[test]
fn an_error_page_that_comes_with_the_load_makes_the_run_invalid() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = format!("{}full", pages.url);
    let words = ["run", &url, "-c", "2,20", "--duration", "1", "--settle", "0", "--out", "run.plim"];
    let ended = fixture.run(&words).expect(3);
    assert!(ended.stdout.contains("INVALID"), "{}", ended.stdout);
    let report = fixture.report(&fixture.path("run.plim"));
    let point = &report["load_points"][1];
    assert_eq!(point["verdict"]["state"], "invalid", "{point}");
    let rules: Vec<&str> = point["verdict"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason["rule"].as_str().unwrap())
        .collect();
    assert!(rules.iter().any(|rule| ["errors", "consistency"].contains(rule)), "{rules:?}");
    assert_eq!(report["load_points"][0]["total"]["errors"], 0, "the page itself is right");
}

/// Goal: loads that nobody chose are refined where they leave a gap, in the same run file, and the plan says so beforehand. The
/// server carries four users, so that the rate stops growing somewhere between 1 user and 50.
#[test]
fn loads_are_added_where_the_server_saturates() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = format!("{}four", pages.url);
    let short = ["--duration", "1", "--ramp-up", "0", "--settle", "0"];
    let run = |more: &[&str]| fixture.run(&[&["run", &url], &short[..], more].concat());
    let planned = run(&["--dry-run"]).expect(0).stdout;
    assert!(
        planned.contains("total time    at most 6 s of load: 4 load points, and up to 2 between"),
        "{planned}"
    );
    let explicit = run(&["--dry-run", "-c", "50,1,10,100"]).expect(0).stdout;
    assert!(explicit.contains("total time    4 s of load: 4 load points"), "{explicit}");

    let ended = run(&["--out", "run.plim"]);
    ended.assert_run();
    let report = fixture.report(&fixture.path("run.plim"));
    let users: Vec<u64> = report["load_points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["load"]["users"].as_u64().unwrap())
        .collect();
    let (planned, added) = users.split_at(4);
    assert_eq!(planned, [50, 1, 10, 100]);
    assert!(added.len() <= 2 && added.iter().all(|users| (2..50).contains(users)), "{added:?}");
    // Other programs can make one of the loads invalid, between which there is then no gap.
    if ended.code == Some(0) {
        assert!(!added.is_empty() && !ended.stdout.contains("shows where"), "{}", ended.stdout);
        ended.expect_stderr("  adding ").expect_stderr(": the rate stops growing between ");
    }
    assert_eq!(report["plan"]["refinement"]["n_planned"], 4);
    let audit = fixture.run(&["audit", "run.plim"]).expect(0).stdout;
    assert!(!audit.contains("unplanned"), "{audit}");
    let listed = fixture.run(&["runs", "."]).expect(0).stdout;
    assert!(listed.contains("run.plim"), "{listed}");
}

/// A server that is asked to end, with its workers, when dropped.
struct StartedByHand(Child);

impl StartedByHand {
    fn new(command: &mut Command) -> StartedByHand {
        let spawned = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        StartedByHand(spawned.expect("install it with `apt-get install nginx-light`"))
    }
}

impl Drop for StartedByHand {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// An nginx that was started by hand, on this machine and without limits: the run watches it and leaves it alone.
#[test]
fn nginx_started_by_hand_is_judged() {
    let fixture = Fixture::new();
    fixture.write("site/index.html", "<p>hello");
    let port = free_port();
    let folder = fixture.path("");
    let folder = folder.display();
    let config = format!(
        "daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}\n\
         http {{ access_log off; client_body_temp_path {folder}/tmp;\n\
         server {{ listen 127.0.0.1:{port}; root {folder}/site; }} }}\n"
    );
    let config = fixture.write("nginx.conf", &config);
    let mut nginx = StartedByHand::new(Command::new("/usr/sbin/nginx").arg("-c").arg(&config));
    let address = format!("127.0.0.1:{port}");
    while TcpStream::connect(&address).is_err() {
        assert_eq!(nginx.0.try_wait().unwrap(), None, "nginx has ended");
        std::thread::yield_now();
    }
    let words = ["run", &format!("http://{address}/"), "-c", "1,8", "--duration", "2", "--out", "run.plim"];
    fixture.run(&words).assert_run();
    assert_eq!(nginx.0.try_wait().unwrap(), None, "nginx is still there");
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(requests_of(&report)[0]["reply"], "seen");
    let cpus = std::thread::available_parallelism().unwrap().get();
    let n_threads = report["plan"]["agents"][0]["threads"].as_u64().unwrap() as usize;
    assert!((1..=(cpus / 2).max(1)).contains(&n_threads), "at most half of the CPUs: {n_threads}");
    for point in report["load_points"].as_array().unwrap() {
        assert_eq!(point["total"]["errors"], 0);
        assert!(point["bottleneck"]["name"].is_string(), "{point}");
        assert!(0.0 < point["sut"]["cpus"].as_f64().unwrap(), "its processes are watched");
    }
}

/// Goal: the server is asked by the name that is given, wherever connections go; a saved definition needs the same flag.
#[test]
fn a_name_is_loaded_at_another_address() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let port = pages.url.trim_end_matches('/').rsplit(':').next().unwrap();
    let named = format!("http://shop.example:{port}/");
    let to = format!("shop.example:{port}:127.0.0.1");
    let dry = |words: &[&str]| fixture.run(&[&["run"], words, &["--dry-run"]].concat());
    dry(&[&named, "--resolve", &to, "--save-definition", "shop.toml"])
        .expect(0)
        .expect_stderr(&format!("`plimsoll run shop.toml --connect-to {to}:` runs it again"));
    dry(&["shop.toml", "--connect-to", &format!("{to}:")]).expect(0);
    dry(&[&pages.url, "-H", "Host: shop.example"]).expect(0);
    dry(&[&named, "--resolve", "other:80:127.0.0.1"]).expect(2).expect_stderr("does not match this server");
    let hosts: Vec<String> = pages
        .requests()
        .iter()
        .map(|request| request.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap().to_owned())
        .collect();
    let with_port = format!("shop.example:{port}");
    assert_eq!((&hosts[0], &hosts[3]), (&with_port, &"shop.example".to_owned()), "{hosts:?}");
    dry(&["one-object", "--cert", "a.pem"])
        .expect(2)
        .expect_stderr("`--cert` applies to a server that is already running");
}

/// Goal: a server at a Unix socket is loaded, its processes are watched, and the report says where it is.
#[test]
fn a_server_at_a_unix_socket_is_loaded() {
    let fixture = Fixture::new();
    let path = fixture.path("app.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut head = [0; 4096];
                while 0 < stream.read(&mut head).unwrap_or(0) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
                }
            });
        }
    });
    let url = format!("http+unix://{}/", path.display().to_string().replace('/', "%2F"));
    run(&fixture, &[&url]).assert_run();
    let place = fixture.fact(&fixture.path("run.plim"), "System under test", "address").unwrap();
    assert!(place.starts_with("Unix socket ") && place.ends_with("app.sock"), "{place}");
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["load_points"][0]["total"]["errors"], 0);
    let path_text = path.display().to_string();
    for words in [
        &["http://localhost/", "--unix-socket", &path_text][..],
        &["http://shop.example/", "--unix-socket", &path_text],
        &[&url, "-H", "Host: shop.example"],
    ] {
        fixture.run(&[&["run"], words, &["--dry-run"]].concat()).expect(0);
    }
    let suggested = format!("did you mean `{url}`?");
    fixture.run(&["run", &format!("unix:{}", path.display())]).expect(2).expect_stderr(&suggested);
}

#[test]
fn urls_and_bodies_come_from_standard_input() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = pages.url.as_str();
    let from_input =
        format!("printf '\\xef\\xbb\\xbf{url}\\n{url}time\\n' | \"$plimsoll\" run --urls - --dry-run");
    fixture.shell(&from_input).expect(0).expect_stderr("/time: status 200");
    let body = format!("printf s3cret | \"$plimsoll\" run {url}post -d @- --dry-run");
    let ended = fixture.shell(&body).expect(0);
    assert!(!format!("{ended:?}").contains("s3cret"), "{ended:?}");
    assert!(pages.requests().iter().any(|request| request.ends_with("\r\n\r\ns3cret")));
    fixture.write("urls.txt", &format!("\u{feff}{url}\n"));
    fixture.run(&["run", "--urls", "urls.txt", "--dry-run"]).expect(0);
}

/// Goal: a command line that names a server alone, or a page to `doctor`, is understood.
#[test]
fn a_server_without_a_benchmark_is_its_first_page() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let authority = pages.url.trim_start_matches("http://").trim_end_matches('/');
    for target in [pages.url.as_str(), authority] {
        fixture.run(&["run", "--target", target, "--dry-run"]).expect(0).expect_stderr("/: status 200");
    }
    let checked = fixture.run(&["doctor", &pages.url]);
    assert!(checked.stdout.contains("answers, and its page can be loaded"), "{checked:?}");
    fixture.run(&["doctor", &format!("{}fails", pages.url)]).expect(4).expect_stderr("has status 500");
    let other = fixture.run(&["run", "--target", "postgres://me:s3cret@127.0.0.1/shop"]).expect(2);
    let other = other.expect_stderr("plimsoll run orderentry --target");
    assert!(!other.stderr.contains("s3cret"), "{}", other.stderr);
}

#[test]
fn a_saved_definition_gives_the_same_plan() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    fixture.write("urls.txt", &format!("# two pages\n{0}\n\n{0}time?a={{b}}\n", pages.url));
    let flags = [
        "--keep-alive=7",
        "--rate",
        "20,40",
        "--arrivals",
        "poisson",
        "--time-limit",
        "3",
        "--duration",
        "2",
    ];
    let shown = |words: &[&str]| {
        let words = [words, &["--dry-run", "--json"]].concat();
        fixture.run(&words).expect(0).json()["plan"].clone()
    };
    let words = ["run", "--urls", "urls.txt", "-H", "Accept: text/*", "--save-definition", "made.toml"];
    let plan = shown(&[&words[..], &flags].concat());
    assert_eq!(plan, shown(&["run", "made.toml"]));
    assert_eq!(plan["modifications"], Value::Array(Vec::new()));
    fixture
        .run(&["run", "made.toml", "--sut-quota", "0.5", "--dry-run"])
        .expect(2)
        .expect_stderr("`--sut-quota`");
    fixture
        .run(&["run", &pages.url, "--save-definition", "made.toml"])
        .expect(2)
        .expect_stderr("`made.toml` exists already");
}

/// Goal: what is sent is neither printed nor stored. Method: the texts of all files and outputs are searched.
#[test]
fn data_and_credentials_are_sent_and_never_stored() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = format!("{}post?key={{env:KEY}}", pages.url);
    let words = ["run", &url, "-d", "pin=d4ta7", "-H", "Authorization: Bearer {env:TOKEN}"];
    let mut command = fixture.command(&[&words[..], &SHORT, &["--save-definition", "made.toml"]].concat());
    command.env("TOKEN", "t0ken8").env("KEY", "k3y9");
    let ended = fixture.end(command);
    ended.assert_run();
    let sent = &pages.requests()[0];
    assert!(
        sent.starts_with("POST /post?key=k3y9 HTTP/1.1\r\n") && sent.ends_with("\r\n\r\npin=d4ta7"),
        "{sent}"
    );
    assert!(sent.contains("Authorization: Bearer t0ken8\r\n"), "{sent}");
    assert!(sent.contains("Content-Type: application/x-www-form-urlencoded\r\n"), "{sent}");
    let mut texts = vec![ended.stdout.clone(), ended.stderr.clone()];
    for name in ["run.plim", "run.html", "made.toml"] {
        texts.push(String::from_utf8_lossy(&fs::read(fixture.path(name)).unwrap()).into_owned());
    }
    texts.push(fixture.run(&["report", "run.plim", "--format", "json"]).expect(0).stdout);
    for value in ["d4ta7", "t0ken8", "k3y9"] {
        assert!(texts.iter().all(|text| !text.contains(value)), "{value}");
    }
    assert!(texts[4].contains("body = { env = \"PLIMSOLL_DATA\" }"), "{}", texts[4]);

    // The next run takes them from the environment.
    fs::remove_file(fixture.path("run.plim")).unwrap();
    let again = ["run", "made.toml", "--out", "run.plim"];
    fixture.run(&again).expect(2).expect_stderr("`PLIMSOLL_DATA` is not set");
    let mut command = fixture.command(&again);
    command.env("TOKEN", "t0ken8").env("KEY", "k3y9").env("PLIMSOLL_DATA", "pin=d4ta7");
    fixture.end(command).assert_run();
}

#[test]
fn a_body_comes_from_a_file() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    fixture.write("order.json", "{\"item\":7}");
    let url = format!("{}post", pages.url);
    for flags in [["--data-file", "order.json"], ["-d", "@order.json"]] {
        let words = [&["run", &url, "-X", "PUT", "--dry-run"], &flags[..]].concat();
        fixture.run(&words).expect(0).expect_stderr("PUT /post: status 201; 3 replies had the same 2 B");
    }
    let requests = pages.requests();
    assert_eq!(requests.len(), 6, "three fetches for each command");
    assert!(
        requests.iter().all(|one| one.starts_with("PUT /post ") && one.ends_with("\r\n\r\n{\"item\":7}"))
    );
    let words = ["run", &url, "--data-file", "order.json", "--dry-run", "--save-definition", "sub.toml"];
    fixture.run(&words).expect(0);
    fixture.run(&["run", "sub.toml", "--dry-run"]).expect(0);
}

#[test]
fn a_server_that_answers_otherwise_is_refused_before_load() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let refused = |path: &str, texts: [&str; 2]| {
        let ended = fixture.run(&["run", &format!("{}{path}", pages.url)]).expect(4);
        ended.expect_stderr(texts[0]).expect_stderr(texts[1]);
    };
    refused("old", ["old is redirected (301) to `/time`", &format!("leads to: `{}time`", pages.url)]);
    refused("none", ["none has status 404", "check the spelling of the path"]);
    refused("fails", ["fails has status 500", "see the server's log"]);
    refused("turns", ["and then 20", "hint: a definition"]);
    let nobody = format!("http://127.0.0.1:{}/", free_port());
    let closed = fixture.run(&["run", &nobody]).expect(4).expect_stderr("Connection refused");
    let hint = "hint: nothing listens there: check that the server runs, and on which port";
    assert!(closed.stderr.contains(hint) && !closed.stderr.contains("--sut"), "{}", closed.stderr);
    let encrypted = pages.url.replace("http:", "https:");
    fixture.run(&["run", &encrypted]).expect(4).expect_stderr("tls failed").expect_stderr("write `http://`");
    fixture.run(&["run", "http://8.8.8.8/"]).expect(7).expect_stderr("it is a public address");
    assert!(!fixture.path("runs").exists());
}

#[test]
fn mistakes_in_the_command_line_name_the_remedy() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = pages.url.as_str();
    let authority = url.trim_start_matches("http://");
    fixture.write("access.log", "127.0.0.1 - - \"GET / HTTP/1.1\" 200\n");
    let with_password = format!("http://me:s3cret@{authority}");
    for (words, error, hint) in [
        (&["htp://h/"][..], "expected `http://` or `https://`", "did you mean `http://h/`?"),
        (&["postgres://localhost/shop"], "it is not a web server", "plimsoll run orderentry --target"),
        (&["access.log"], "expected a benchmark, found the file `access.log`", "--urls access.log"),
        (&["localhost:8080"], "expected a benchmark", "did you mean the URL `http://localhost:8080/`?"),
        (&["one-object", url], "`one-object` is not a URL", "plimsoll run one-object --target"),
        (&[url, "http://127.0.0.9/"], "URLs of one server", "plimsoll compare"),
        (&[url, "--sut", "nginx"], "`--sut` cannot be used with URLs", "names the server"),
        (&[url, "-H", "Accept"], "`-H Accept`: expected `NAME: VALUE`", "-H 'Accept: text/html'"),
        (&[url, "-H", "Cookie: a=s3cret"], "a credential in clear", "{env:NAME}"),
        (&[url, "-d", "a", "-X", "GET"], "`-X GET` has no body", "omit `-X`"),
        (&["--urls", "none.txt"], "cannot read `none.txt`", ""),
        (&["one-object", "-d", "s3cret"], "`-d` describes requests to URLs", "plimsoll run URL"),
        (&["one-object", "--insecure"], "apply to a server that is already running", "--target https://"),
        (&[&with_password], "a user name or a password", "Authorization: Basic {env:NAME}"),
    ] {
        let ended = fixture.run(&[&["run"], words].concat()).expect(2);
        let ended = ended.expect_stderr(error).expect_stderr(hint);
        assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    }
    fixture.write("urls.txt", &format!("{url}\nhtp://h/\n"));
    fixture.run(&["run", "--urls", "urls.txt"]).expect(2).expect_stderr("`urls.txt`, line 2: `htp://h/`");
    assert!(pages.requests().is_empty(), "nothing is sent before all mistakes are known");
}
