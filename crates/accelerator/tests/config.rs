//! The configuration: the example has every key with its default, the schema agrees, errors are explained.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use accelerator::config::{Config, ConfigOverrides, config_schema};
use accelerator::observation::{LogFormat, LogSettings};
use accelerator::operation::Settings;
use accelerator::origin::Balance;
use cache_policy::SetCookie;
use serde_json::Value as Json;
use toml::Value;
use units::{Bytes, Nanos};

const EXAMPLE: &str = include_str!("../../../examples/accelerator.toml");

const MINIMAL: &str = "[[origin.server]]\nurl = \"http://127.0.0.1:8080\"\n";

fn settings(text: &str) -> Settings {
    let config = Config::parse("a.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    config.settings().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn complaint(text: &str) -> String {
    match Config::parse("a.toml", text).and_then(|config| config.settings()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no complaint about:\n{text}"),
    }
}

/// The example with the commented-out keys enabled: comment lines have a blank after `#`.
fn whole_example() -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') => {
            format!("{rest}\n")
        }
        _ => format!("{line}\n"),
    };
    EXAMPLE.lines().map(line).collect()
}

#[test]
fn the_example_spells_out_the_defaults() {
    assert_eq!(settings(EXAMPLE), settings(MINIMAL));
}

/// Collects the keys of a table and its subtables, by path; statuses count as keys.
fn keys_of_table(path: &str, value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let key = if path == "/cache/statuses" { "*" } else { key };
                keys.insert(format!("{path}/{key}"));
                keys_of_table(&format!("{path}/{key}"), value, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys_of_table(path, item, keys)),
        _ => {}
    }
}

fn keys_of_schema(root: &Json, path: &str, schema: &Json, keys: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        keys_of_schema(root, path, root.pointer(&name[1..]).expect("references lead somewhere"), keys);
    }
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        keys.insert(format!("{path}/{key}"));
        keys_of_schema(root, &format!("{path}/{key}"), value, keys);
    }
    if schema["properties"].is_object() {
        assert_eq!(schema["additionalProperties"], false, "{path}");
    } else if schema["additionalProperties"].is_object() || schema["patternProperties"].is_object() {
        keys.insert(format!("{path}/*"));
    }
    if schema["items"].is_object() {
        keys_of_schema(root, path, &schema["items"], keys);
    }
}

#[test]
fn the_example_and_the_schema_have_the_same_keys() {
    let whole: Value = toml::from_str(&whole_example()).expect("TOML");
    Config::parse("whole.toml", &whole_example()).unwrap_or_else(|error| panic!("{error}"));
    let mut written = BTreeSet::new();
    let mut described = BTreeSet::new();
    keys_of_table("", &whole, &mut written);
    let schema = config_schema();
    keys_of_schema(&schema, "", &schema, &mut described);
    assert_eq!(written, described);
    assert!(60 < written.len(), "{written:?}");
}

#[test]
fn the_texts_of_the_manual_are_valid() {
    let manual = include_str!("../../../docs/accelerator.md");
    let texts: Vec<&str> =
        manual.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(3 < texts.len(), "{texts:?}");
    for text in texts {
        let origin = if text.contains("[[origin.server]]") { "" } else { MINIMAL };
        let certificate = if text.contains("[[tls.certificate]]") {
            ""
        } else {
            "[[tls.certificate]]\nchain = \"a.pem\"\nkey = \"a.pem\"\n"
        };
        let text = format!("{text}\n{origin}{certificate}");
        Config::parse("manual.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn the_published_schema_is_the_one_of_this_program() {
    let schema = languages::schema_text(&config_schema());
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/accelerator.schema.json");
    if std::fs::read_to_string(published).unwrap_or_default() != schema {
        let generated = std::env::temp_dir().join("accelerator.schema.json");
        std::fs::write(&generated, schema).expect("a file in the temporary folder");
        panic!("the configuration has changed: `cp {} schemas/`", generated.display());
    }
}

#[test]
fn the_schema_allows_no_null_which_toml_does_not_have() {
    let schema = config_schema().to_string();
    assert!(!schema.contains("null"), "{schema}");
}

#[test]
fn every_key_reaches_its_component() {
    let text = r#"
        name = "edge-1"
        workers = 3
        stop-timeout = "5 s"
        [limits]
        head-timeout = "1500 ms"
        connections-per-address = 7
        body-max = "2 MiB"
        [origin]
        balance = "least-connections"
        host = "inner"
        [[origin.server]]
        url = "https://a.example"
        weight = 3
        [origin.probe]
        path = "/up"
        statuses = "204"
        [cache]
        bypass = ["/admin/*"]
        default-lifetime = "2 min"
        set-cookie = "stored-without"
        targets = ["Edge-Control"]
        statuses = { 404 = "10 s", 410 = "1 d" }
        heuristic = { fraction = 0.05, lifetime-max = "1 h" }
        [cache.stale]
        if-error = "1 d"
        [memory]
        size = "100 MiB"
        object-max = "1 MiB"
        [disk]
        folder = "cache"
        size = "1 GiB"
        [access-log]
        file = "/var/log/a.log"
        form = "json"
    "#;
    let settings = settings(text);
    assert_eq!(
        (settings.workers.map(Into::into), settings.stop_timeout),
        (Some(3_usize), Nanos::from_secs(5))
    );
    let limits = settings.frontend.limits;
    assert_eq!(limits.head_timeout, Nanos::from_millis(1500));
    assert_eq!((limits.connections_per_address, limits.body_bytes_max), (Some(7), 2 << 20));
    let origin = &settings.origin;
    let server = &origin.servers[0];
    assert_eq!((server.address.as_str(), server.weight, server.tls), ("a.example:443", 3, true));
    assert_eq!((origin.balance, origin.host.as_deref()), (Balance::LeastConnections, Some("inner")));
    let probe = origin.health.probe.as_ref().expect("a probe");
    assert_eq!((probe.path.as_str(), &probe.statuses), ("/up", &(204..=204)));
    let policy = &settings.exchange.policy;
    assert_eq!(policy.default_lifetime, Some(Nanos::from_secs(120)));
    assert_eq!(policy.set_cookie, SetCookie::StoredWithout);
    assert_eq!(policy.targets, ["edge-control"]);
    assert_eq!(policy.lifetimes_of_statuses, [(404, Nanos::from_secs(10)), (410, Nanos::from_secs(86_400))]);
    assert_eq!(policy.stale.if_error, Nanos::from_secs(86_400));
    assert_eq!(policy.heuristic.map(|heuristic| heuristic.fraction.0), Some(0.05));
    assert_eq!(settings.exchange.name, "edge-1");
    assert!(settings.exchange.bypass[0].matches("/admin/x"));
    assert_eq!((settings.store.bytes, settings.store.object_bytes_max), (100 << 20, 1 << 20));
    assert_eq!(settings.store.disk.expect("a disk").bytes, 1 << 30);
    assert_eq!(settings.log, Some(LogSettings { file: "/var/log/a.log".into(), form: LogFormat::Json }));
}

#[test]
fn an_unknown_key_is_reported_with_its_position_and_the_nearest_key() {
    let text = format!("{MINIMAL}[memory]\nsise = \"1 GiB\"\n");
    let expected = "`a.toml:4:1`: unknown key `sise` in `memory`: not a key of the configuration\n\
                    hint: did you mean `size`?";
    assert_eq!(complaint(&text), expected);
}

#[test]
fn all_mistakes_are_reported_at_once_in_their_lines() {
    let text =
        "workers = \"many\"\n[limits]\nhead-timeout = 10\n[[origin.server]]\nurl = \"a\"\nwieght = 2\n";
    let error = Config::parse("a.toml", text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`a.toml:1:11`: `workers` is not valid: expected a whole number from 1 to 65535, found a string\n\
         `a.toml:3:16`: `limits.head-timeout` is not valid: expected a time with its unit, found `10` without one\n\
         hint: write `\"10 s\"` if seconds are meant\n\
         `a.toml:5:7`: `origin.server.url` is not valid: expected `http://host:port`, `https://host:port` or \
         `host:port` as origin, found `a`\n\
         `a.toml:6:1`: unknown key `wieght` in `origin.server`: not a key of the configuration\n\
         hint: did you mean `weight`?"
    );
    let shown = error.render();
    let first = "`workers` is not valid\n --> a.toml:1:11\n  |\n1 | workers = \"many\"\n  |           ^^^^^^ expected";
    assert!(shown.starts_with(first), "{shown}");
    assert_eq!(shown.matches("\n\nerror: ").count(), 3, "{shown}");
}

#[test]
fn a_wrong_value_is_reported_with_its_position_and_the_expected_one() {
    for (line, place, message) in [
        (
            "[limits]\nhead-timeout = \"10\"",
            "4:16",
            "expected a time with its unit, found `10` without one\nhint: write a number",
        ),
        (
            "[limits]\nhead-timeout = 10",
            "4:16",
            "expected a time with its unit, found `10` without one\nhint: write `\"10 s\"` if seconds are meant",
        ),
        ("[limits]\nhead-timeout = \"4000 d\"", "4:16", "longer than 3653 days\nhint: write a shorter time"),
        ("[memory]\nsize = \"1 GB\"", "4:8", "`GB` is not a unit of size\nhint: write a number and a unit"),
        ("[cache]\nstatuses = { 99 = \"1 s\" }", "4:", "expected a status from 200 to 599, found `99`"),
        (
            "[cache.heuristic]\nfraction = 0.5\nlifetime-max = \"1 s\"",
            "4:12",
            "above 0 and up to 0.1, found 0.5",
        ),
        ("[origin]\nbalance = \"random\"", "4:11", "expected `round-robin` or `least-connections` or `hash`"),
        (
            "[[listen]]\naddress = \"localhost\"",
            "4:11",
            "expected an IP address and a port, found `localhost`\nhint: write it like `127.0.0.1:8000`",
        ),
        ("[listen]\naddress = \"[::]:80\"", "3:", "expected tables, found a table\nhint: write `[[listen]]`"),
        ("[[cache]]\nbypass = []", "3:", "found an array\nhint: only one is possible: write `[cache]`"),
        ("[disk]\nfolder = \"cache\"", "3:", "`disk.size` is missing"),
        ("[[listen]]\naddress = \"[::]:80\"\nproxy-from = [\"10/8\"]", "5:", "an address or a network"),
        ("[limits]\nconnections-max = 0", "4:19", "expected a whole number from 1, found 0"),
        ("[http2]\nstreams-max = -1", "4:15", "expected a whole number from 1 to 4294967295, found -1"),
        ("[tls]\nversion-min = 1.2", "4:15", "expected a string, found a number"),
        ("balance = \"hash\"", "3:1", "unknown key `balance` in `origin.server`"),
        ("workers", "3:", "expected"),
    ] {
        let complaint = complaint(&format!("{MINIMAL}{line}\n"));
        assert!(complaint.starts_with(&format!("`a.toml:{place}")), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
    }
    let wrong_url = complaint("[[origin.server]]\nurl = \"ftp://a\"");
    assert!(
        wrong_url.starts_with("`a.toml:2:7`: `origin.server.url` is not valid: expected `http://host:port`")
    );
    let balance = complaint("[origin]\nbalance = \"rond-robin\"");
    assert!(balance.contains("expected `round-robin` or `least-connections` or `hash`"), "{balance}");
    assert!(balance.ends_with("hint: did you mean `round-robin`?"), "{balance}");
}

/// Every key with its section, a value that is accepted and not the default, and one that is refused.
const EVERY_KEY: &[(&str, &str, &str, &str)] = &[
    ("", "name", "\"edge-1\"", "\"a b\""),
    ("", "workers", "3", "0"),
    ("", "stop-timeout", "\"7 s\"", "\"7\""),
    ("", "upgrade-socket", "\"/run/a.sock\"", "7"),
    ("", "default-host", "\"a.example:80\"", "\"a/b\""),
    ("[listen]", "address", "\"[::]:80\"", "\"[::]\""),
    ("[listen]", "tls", "true", "\"yes\""),
    ("[listen]", "http2", "true", "1"),
    ("[listen]", "proxy-from", "[\"10.0.0.0/8\", \"::1\"]", "[\"10/8\"]"),
    ("tls", "unknown-names", "\"refused\"", "\"refuse\""),
    ("tls", "version-min", "\"1.3\"", "\"1.1\""),
    ("tls", "handshake-timeout", "\"7s\"", "\"0 s\""),
    ("[tls.certificate]", "chain", "\"other.pem\"", "[\"a.pem\"]"),
    ("[tls.certificate]", "key", "\"other.pem\"", "false"),
    ("http2", "streams-max", "0x10", "0"),
    ("http2", "resets-max", "7", "4294967296"),
    ("http2", "stream-window", "\"3GiB\"", "\"3 GB\""),
    ("http2", "connection-window", "\"3 GiB\"", "3"),
    ("http2", "send-buffer", "\" 1.5 KiB \"", "\"0.3 B\""),
    ("http2", "ping-interval", "\"0 s\"", "\"-1 s\""),
    ("limits", "head-timeout", "\"7 s\"", "\"0 s\""),
    ("limits", "body-timeout", "\"1m30s\"", "\"0 s\""),
    ("limits", "idle-timeout", "\"7 s\"", "\"0 s\""),
    ("limits", "write-timeout", "\"7 s\"", "\"0 s\""),
    ("limits", "tunnel-timeout", "\"3653 d\"", "\"3654 d\""),
    ("limits", "tunnel-stop-timeout", "\"0 s\"", "\"5\""),
    ("limits", "rate-min", "\"0 B\"", "\"1\""),
    ("limits", "connections-max", "18446744073709551615", "18446744073709551616"),
    ("limits", "connections-per-address", "7", "0"),
    ("limits", "requests-per-connection", "7", "-7"),
    ("limits", "head-max", "\"64 KiB\"", "\"65 KiB\""),
    ("limits", "body-max", "\"7 B\"", "\"7 b\""),
    ("[origin.server]", "url", "\"https://a.example/\"", "\"https://a.example/b\""),
    ("[origin.server]", "weight", "-0", "-1"),
    ("origin", "balance", "\"hash\"", "\"random\""),
    ("origin", "host", "\"\"", "7"),
    ("origin", "forwarded", "\"standard\"", "\"on\""),
    ("origin", "connect-timeout", "\"7 s\"", "\"0 s\""),
    ("origin", "first-byte-timeout", "\"7 s\"", "\"0 ms\""),
    ("origin", "between-bytes-timeout", "\"7 s\"", "\"0 h\""),
    ("origin", "idle-timeout", "\"0 s\"", "\"s\""),
    ("origin", "idle-max", "7", "7.0"),
    ("origin", "connections-max", "7", "0"),
    ("origin", "waiting-max", "0", "\"0\""),
    ("origin", "retries", "7", "true"),
    ("origin.tls", "ca-file", "\"ca.pem\"", "7"),
    ("origin.tls", "server-name", "\"app.internal\"", "[]"),
    ("origin.health", "fall", "0", "-1"),
    ("origin.health", "overdue-after", "\"0 s\"", "7"),
    ("origin.health", "rise", "7", "1e3"),
    ("origin.health", "trial-after", "\"7 s\"", "7"),
    ("origin.probe", "path", "\"/up\"", "7"),
    ("origin.probe", "interval", "\"7 s\"", "\"0 s\""),
    ("origin.probe", "timeout", "\"7 s\"", "\"0 s\""),
    ("origin.probe", "statuses", "\" 200 - 204 \"", "\"2xx\""),
    ("cache", "bypass", "[\"/admin/*\"]", "\"/admin/*\""),
    ("cache", "default-lifetime", "\"7 s\"", "\"7 secs\""),
    ("cache", "lifetime-min", "\"7 s\"", "\"\""),
    ("cache", "lifetime-max", "\"7 s\"", "{}"),
    ("cache", "statuses", "{ 410 = \"1 d\", 404 = \"7 s\" }", "{ 600 = \"7 s\" }"),
    ("cache", "targets", "[]", "[7]"),
    ("cache", "set-cookie", "\"stored-without\"", "\"stored\""),
    ("cache", "obey-clients", "false", "0"),
    ("cache", "store-request-errors", "true", "1979-05-27"),
    ("cache", "codings", "[\"BR\", \"gzip\"]", "\"br\""),
    ("cache", "dot-segments", "\"refused\"", "\"Refused\""),
    ("cache", "variants-max", "0", "-1"),
    ("cache", "ranges-max", "0o17", "4294967296"),
    ("cache", "hit-for-miss", "\"7 s\"", "\"7 s s\""),
    ("cache", "collapse-wait", "\"7 s\"", "\"30s1m\""),
    ("cache", "status-detail", "\"off\"", "false"),
    ("cache.heuristic", "enabled", "false", "\"false\""),
    ("cache.heuristic", "fraction", "5e-2", "0"),
    ("cache.heuristic", "lifetime-max", "\"7 s\"", "7"),
    ("cache.stale", "disconnected", "\"7 s\"", "\"7\""),
    ("cache.stale", "if-error", "\"7 s\"", "\"7\""),
    ("cache.stale", "while-revalidating", "\"7 s\"", "\"7\""),
    ("cache.stale", "despite-s-maxage", "true", "1"),
    ("memory", "size", "\"77 MiB\"", "\"1 KiB\""),
    ("memory", "object-max", "\"7 MiB\"", "\"1 TiB\""),
    ("memory", "filling-max", "\"77 MiB\"", "77"),
    ("memory", "heads-max", "\"0 B\"", "\"0\""),
    ("disk", "folder", "\"other\"", "7"),
    ("disk", "size", "\"16 MiB\"", "\"15 MiB\""),
    ("access-log", "file", "\"other.log\"", "true"),
    ("access-log", "form", "\"json\"", "\"xml\""),
    ("admin", "listen", "\"[::1]:0\"", "\"0.0.0.0:1\""),
    ("admin", "token-file", "\"no such file\"", "7"),
    ("admin", "hosts", "[\"a.example\"]", "[\"a.example:80\"]"),
];

/// Returns a configuration in which one key has a value, and everything else that its section needs is there.
fn with_value(section: &str, key: &str, value: &str) -> String {
    let mut top: String = String::new();
    let mut sections = vec![("[origin.server]", "url", "\"http://127.0.0.1:8080\"")];
    sections.extend(match section {
        "[listen]" => vec![
            ("[listen]", "address", "\"127.0.0.1:7\""),
            ("[tls.certificate]", "chain", "\"a.pem\""),
            ("[tls.certificate]", "key", "\"a.pem\""),
        ],
        "tls" | "[tls.certificate]" => {
            vec![("[tls.certificate]", "chain", "\"a.pem\""), ("[tls.certificate]", "key", "\"a.pem\"")]
        }
        "disk" => vec![("disk", "folder", "\"cache\""), ("disk", "size", "\"1 GiB\"")],
        "access-log" => vec![("access-log", "file", "\"a.log\"")],
        "admin" => vec![("admin", "listen", "\"127.0.0.1:7\"")],
        _ => Vec::new(),
    });
    sections.retain(|(other, other_key, _)| (*other, *other_key) != (section, key));
    match section {
        "" => top = format!("{key} = {value}\n"),
        _ => sections.push((section, key, value)),
    }
    sections.sort_by_key(|(section, ..)| *section);
    let mut before = "";
    for (section, key, value) in sections {
        if section != before {
            top += &format!("[{section}]\n");
        }
        top += &format!("{key} = {value}\n");
        before = section;
    }
    top
}

/// Goal: no key is read into the place of another one, and every key checks its value.
#[test]
fn every_key_has_values_that_are_accepted_and_others_that_are_refused() {
    let mut described: BTreeSet<String> = BTreeSet::new();
    let schema = config_schema();
    keys_of_schema(&schema, "", &schema, &mut described);
    let mut seen = BTreeSet::new();
    for (section, key, good, bad) in EVERY_KEY {
        let text = with_value(section, key, good);
        let config = Config::parse("a.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(seen.insert(format!("{config:?}")), "`{key}` of `{section}` has no effect of its own");
        let text = with_value(section, key, bad);
        let error = Config::parse("a.toml", &text).expect_err(&text).to_string();
        let path = section.trim_matches(['[', ']']);
        let path = if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") };
        assert!(error.contains(&format!("`{path}")), "{error}\n{text}");
        let line = text.lines().position(|line| line.starts_with(&format!("{key} = {bad}"))).unwrap() + 1;
        assert!(error.starts_with(&format!("`a.toml:{line}:")), "{error}\n{text}");
        described.remove(&format!("/{}", path.replace('.', "/")));
    }
    let sections: BTreeSet<String> = EVERY_KEY
        .iter()
        .map(|(section, ..)| format!("/{}", section.trim_matches(['[', ']']).replace('.', "/")))
        .collect();
    described.retain(|path| !sections.contains(path) && path != "/cache/statuses/*");
    assert_eq!(described, BTreeSet::new(), "keys without values");
}

#[test]
fn conflicting_keys_are_refused_with_a_hint() {
    for (text, message) in [
        ("", "no origin server is given\nhint: name it by `--origin"),
        (
            "[[listen]]\naddress = \"[::]:443\"\ntls = true",
            "`[::]:443` needs TLS, but there is no certificate",
        ),
        (
            "[[listen]]\naddress = \"[::]:80\"\n[[listen]]\naddress = \"[::]:80\"",
            "`[::]:80` is listed twice as a listener",
        ),
        ("[memory]\nsize = \"1 KiB\"", "expected at least `1 MiB`"),
        ("[memory]\nobject-max = \"1 TiB\"", "`object-max` of `[memory]` is more than its `size`"),
        ("[disk]\nfolder = \"cache\"\nsize = \"1 MiB\"", "expected at least `16 MiB` as `size` of `[disk]`"),
        ("[limits]\nhead-max = \"1 MiB\"", "`head-max` of `[limits]` is more than `64 KiB`"),
        (
            "[admin]\nlisten = \"0.0.0.0:1\"",
            "anybody could use the admin page at `0.0.0.0:1`\nhint: listen on `127.0.0.1`",
        ),
        (
            "[admin]\nlisten = \"127.0.0.1:1\"\nhosts = [\"a.example\", \"b:80\"]",
            "`admin.hosts` is not valid: expected names without a port, found `b:80`",
        ),
        ("[admin]\nlisten = \"127.0.0.1:1\"\ntoken-file = \"/nowhere/at/all\"", "cannot be read"),
        ("[cache]\n[origin]\nhost = 1", "expected a string"),
    ] {
        let minimal = if text.is_empty() || text.contains("[origin]") { "" } else { MINIMAL };
        let complaint = complaint(&format!("{minimal}{text}\n"));
        assert!(complaint.contains(message), "{complaint}");
    }
    for (key, value) in [("name", "a b"), ("name", ""), ("default-host", "a/b")] {
        assert!(
            complaint(&format!("{key} = \"{value}\"\n{MINIMAL}"))
                .starts_with(&format!("`a.toml:1:{}`: `{key}` is not valid: expected", key.len() + 4))
        );
    }
    assert!(complaint(&format!("workers = 2000\n{MINIMAL}")).contains("at most 1024 `workers`"));
}

#[test]
fn a_zero_timeout_is_refused() {
    for (section, keys) in [
        ("tls", &["handshake-timeout"][..]),
        ("limits", &["head-timeout", "body-timeout", "idle-timeout", "write-timeout", "tunnel-timeout"]),
        ("origin", &["connect-timeout", "first-byte-timeout", "between-bytes-timeout"]),
        ("origin.probe", &["interval", "timeout"]),
    ] {
        for key in keys {
            let complaint = complaint(&format!("{MINIMAL}[{section}]\n{key} = \"0 s\"\n"));
            let expected =
                format!("`{section}.{key}` is not valid: expected a time above zero\nhint: leave it out");
            assert!(complaint.contains(&expected), "{complaint}");
        }
    }
}

#[test]
fn the_command_line_overrides_the_file_and_works_without() {
    let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    let url = |text: &str| text.parse().expect("a URL");
    let overrides = ConfigOverrides {
        origins: vec![url("http://b:2"), url("http://c:3")],
        listens: vec![address],
        memory: Some(Bytes(64 << 20)),
        workers: "2".parse().ok(),
        admin: Some(address),
        upgrade_socket: Some("control".into()),
        file: None,
    };
    let alone = Config::of(&overrides).expect("no file").settings().expect("right");
    assert_eq!(alone.origin.servers.len(), 2);
    assert_eq!((alone.frontend.listens.len(), alone.frontend.listens[0].address), (1, address));
    assert_eq!((alone.store.bytes, alone.workers.map(Into::into)), (64 << 20, Some(2_usize)));
    assert_eq!(alone.admin.map(|admin| (admin.listen, admin.token)), Some((address, None)));

    let folder = tempfile::tempdir().expect("a folder");
    let token = "0123456789abcdef0123456789abcdef";
    std::fs::write(folder.path().join("token"), format!("{token}\n")).expect("a file");
    let file = folder.path().join("accelerator.toml");
    let admin = "[admin]\nlisten = \"127.0.0.1:9\"\ntoken-file = \"token\"\n[access-log]\nfile = \"a.log\"\n";
    std::fs::write(&file, format!("name = \"n\"\n{MINIMAL}{admin}")).expect("a file");
    assert_eq!(alone.upgrade_socket, Some("control".into()));
    let both = Config::of(&ConfigOverrides { file: Some(file), ..overrides })
        .expect("a file")
        .settings()
        .expect("right");
    assert_eq!((both.exchange.name.as_str(), both.origin.servers[0].address.as_str()), ("n", "b:2"));
    assert_eq!(both.upgrade_socket, Some("control".into()), "relative to the working folder");
    let admin = both.admin.expect("a page");
    assert_eq!((admin.listen, admin.token.as_deref()), (address, Some(token)));
    assert!(!format!("{admin:?}").contains(token), "a token is not for logs");
    assert_eq!(both.log.expect("a log").file, folder.path().join("a.log"), "relative to the file");
}

#[test]
fn a_token_must_be_long_and_without_blanks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    let text = format!("{MINIMAL}[admin]\nlisten = \"127.0.0.1:9\"\ntoken-file = {file:?}\n");
    for token in ["", "short", "0123456789 abcdef 0123456789"] {
        std::fs::write(&file, token).expect("a file");
        assert!(complaint(&text).contains("expected a token of 16 characters or more"));
    }
}

/// Goal: what the command line replaces is not checked; what it brings is.
#[test]
fn the_command_line_is_checked_together_with_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.toml");
    std::fs::write(&file, format!("workers = 2000\n{MINIMAL}[memory]\nsize = \"1 KiB\"\n")).expect("a file");
    let overrides = ConfigOverrides {
        file: Some(file.clone()),
        memory: Some(Bytes(64 << 20)),
        workers: "2".parse().ok(),
        ..ConfigOverrides::default()
    };
    assert!(Config::of(&overrides).is_ok());
    let many = ConfigOverrides { workers: "2000".parse().ok(), ..overrides.clone() };
    let expected = "expected at most 1024 `workers`\nhint: use one per CPU";
    assert_eq!(Config::of(&many).unwrap_err().to_string(), expected);
    let own = ConfigOverrides { memory: None, ..overrides.clone() };
    let position = format!("`{}:5:8`: `memory.size` is not valid: expected at least `1 MiB`", file.display());
    assert!(Config::of(&own).unwrap_err().to_string().starts_with(&position));
    let open = ConfigOverrides { admin: "0.0.0.0:1".parse().ok(), ..overrides };
    assert!(Config::of(&open).unwrap_err().to_string().starts_with("anybody could use the admin page"));
}

/// Goal: heuristic lifetimes are used unless the operator switches them off or sets a default lifetime.
#[test]
fn heuristics_are_on_unless_a_default_lifetime_is_set() {
    let guessed = |text: &str| {
        let config =
            Config::parse("a.toml", &format!("{MINIMAL}{text}\n")).unwrap_or_else(|error| panic!("{error}"));
        let heuristic = config.settings().unwrap_or_else(|error| panic!("{error}")).exchange.policy.heuristic;
        heuristic.map(|heuristic| (heuristic.fraction.0, heuristic.lifetime_max.as_secs_f64()))
    };
    for (text, expected) in [
        ("", Some((0.1, 3600.0))),
        ("[cache]\ndefault-lifetime = \"1 min\"", None),
        ("[cache.heuristic]\nenabled = false", None),
        ("[cache.heuristic]\nenabled = true\n[cache]\ndefault-lifetime = \"1 min\"", Some((0.1, 3600.0))),
        ("[cache.heuristic]\nlifetime-max = \"1 d\"", Some((0.1, 86_400.0))),
        ("[cache.heuristic]\nfraction = 0.05", Some((0.05, 3600.0))),
    ] {
        assert_eq!(guessed(text), expected, "{text}");
    }
}
