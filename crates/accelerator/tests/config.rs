//! The configuration: the example has every key with its default, the schema agrees, errors are explained.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use accelerator::config::{Config, ConfigOverrides, Size, config_schema};
use accelerator::observation::{LogFormat, LogSettings};
use accelerator::operation::Settings;
use accelerator::origin::Balance;
use cache_policy::SetCookie;
use serde_json::Value as Json;
use toml::Value;
use units::Nanos;

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
    let (mut written, mut described) = (BTreeSet::new(), BTreeSet::new());
    keys_of_table("", &whole, &mut written);
    let schema = config_schema().to_value();
    keys_of_schema(&schema, "", &schema, &mut described);
    assert_eq!(written, described);
    assert!(60 < written.len(), "{written:?}");
}

#[test]
fn the_published_schema_is_the_one_of_this_program() {
    let schema = serde_json::to_string_pretty(&config_schema()).expect("JSON") + "\n";
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/accelerator.schema.json");
    if std::fs::read_to_string(published).unwrap_or_default() != schema {
        let generated = std::env::temp_dir().join("accelerator.schema.json");
        std::fs::write(&generated, schema).expect("a file in the temporary folder");
        panic!("the configuration has changed: `cp {} schemas/`", generated.display());
    }
}

#[test]
fn the_schema_allows_no_null_which_toml_does_not_have() {
    let schema = serde_json::to_string(&config_schema()).expect("JSON");
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
    let expected = "`a.toml:4:1`: unknown key `sise`";
    let complaint = complaint(&text);
    assert!(
        complaint.starts_with(expected) && complaint.ends_with("hint: did you mean `size`?"),
        "{complaint}"
    );
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
            "integer `10`, expected a string\nhint: write it in quotation marks, times and sizes with a unit",
        ),
        ("[limits]\nhead-timeout = \"4000 d\"", "4:16", "longer than 3653 days\nhint: write a shorter time"),
        ("[memory]\nsize = \"1 GB\"", "4:8", "`GB` is not a unit of size\nhint: write a number and a unit"),
        ("[cache]\nstatuses = { 99 = \"1 s\" }", "4:", "expected a status from 200 to 599, found `99`"),
        (
            "[cache.heuristic]\nfraction = 0.5\nlifetime-max = \"1 s\"",
            "4:12",
            "above 0 and up to 0.1, found 0.5",
        ),
        ("[origin]\nbalance = \"random\"", "4:11", "unknown value `random`, expected one of `round-robin`"),
        (
            "[[listen]]\naddress = \"localhost\"",
            "4:11",
            "invalid socket address syntax\nhint: write an IP address and a port: `127.0.0.1:8000`",
        ),
        (
            "[listen]\naddress = \"[::]:80\"",
            "3:",
            "table, expected a list\nhint: sections that may be repeated",
        ),
        ("[[cache]]\nbypass = []", "3:", "\nhint: only sections that may be repeated"),
        ("[disk]\nfolder = \"cache\"", "3:", "missing key `size`"),
        ("[[listen]]\naddress = \"[::]:80\"\nproxy-from = [\"10/8\"]", "5:", "an address or a network"),
        ("[limits]\nconnections-max = 0", "4:19", "expected a number from 1"),
        ("[http2]\nstreams-max = -1", "4:15", "expected a number from 1 to 4294967295"),
        ("[tls]\nversion-min = 1.2", "4:15", "expected a string\nhint: write it in quotation marks"),
        (
            "balance = \"hash\"",
            "3:1",
            "unknown key `balance`, expected `url` or `weight`\nhint: a key belongs to",
        ),
        ("workers", "3:", "expected"),
    ] {
        let complaint = complaint(&format!("{MINIMAL}{line}\n"));
        assert!(complaint.starts_with(&format!("`a.toml:{place}")), "{complaint}");
        assert!(complaint.contains(message), "{complaint}");
    }
    let complaint = complaint("[[origin.server]]\nurl = \"ftp://a\"");
    assert!(complaint.starts_with("`a.toml:2:7`: expected `http://host:port`"), "{complaint}");
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
            "expected names without a port as `hosts` of `[admin]`, found `b:80`",
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
                .contains(&format!("`{key}`, found `{value}`"))
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
            let expected = format!("expected more than `0 s` as `{key}` of `[{section}]`\nhint: ");
            assert!(complaint.starts_with(&expected), "{complaint}");
        }
    }
}

#[test]
fn the_command_line_overrides_the_file_and_works_without() {
    let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    let url = |text: &str| text.to_owned().try_into().expect("a URL");
    let overrides = ConfigOverrides {
        origins: vec![url("http://b:2"), url("http://c:3")],
        listens: vec![address],
        memory: Some(Size(64 << 20)),
        workers: "2".parse().ok(),
        admin: Some(address),
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
    let both = Config::of(&ConfigOverrides { file: Some(file), ..overrides })
        .expect("a file")
        .settings()
        .expect("right");
    assert_eq!((both.exchange.name.as_str(), both.origin.servers[0].address.as_str()), ("n", "b:2"));
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
