//! Companions of a server: shells stand in for both.

use std::time::Duration;

use model::{Gateway, GatewayKind};
use observe::available_cpus;
use testbed::{Recipe, RunningSut, SutError, SutRequest, SutServer, WebParts};
use units::{Clock, Nanos, RealClock};

use crate::fixture::{READY_MAX, directory, files, private, processes_with, request, value};

/// A server that announces an address at once, with a companion that runs `script`.
fn with_companion(script: &str, more: &str) -> SutServer {
    let text = format!(
        r#"
format = 2
family = "web"
name = "shell"
title = "a shell"
ready = "announced"
reset = "restart"

[program]
find = ["sh"]

[start]
arguments = ["-c", '''echo '{{"ready": {{"address": "127.0.0.1:4711"}}}}'; read end; : {{work_dir}}''']

[gateways.cgi]
companions = ["helper"]

[gateways.cgi.settings]
"gateway" = "{{gateway_workers}} at once"

[companions.helper]
title = "a helper"
listens = "{{gateway_socket}}"
program = {{ find = ["sh"] }}
start = {{ arguments = ["-c", '''{script}''', "{{work_dir}}"], environment = {{ SPEED = "{{workers}}" }} }}
{more}
"#
    );
    SutServer::Recipe(Box::new(Recipe::parse("shell.toml", &text).unwrap_or_else(|error| panic!("{error}"))))
}

fn with_gateway(request: SutRequest) -> SutRequest {
    let gateway = Some(Gateway { kind: GatewayKind::Cgi, workers: 3 });
    SutRequest { web: WebParts { gateway, ..request.web }, program: "/bin/true".into(), ..request }
}

/// Goal: the usage of a companion is the server's, also over a restart, and nothing of it is left behind.
#[test]
fn a_companion_is_accounted_restarted_and_stopped_with_its_server() {
    let base = directory();
    let files = files();
    let mark = base.path().to_string_lossy().into_owned();
    let busy = with_companion("while :; do :; done", "inherits-socket = true");
    let mut sut = RunningSut::start(with_gateway(request(busy, base.path(), &files))).unwrap();
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    let clock = RealClock::start();
    while sut.usage().unwrap().cpu < Nanos::from_millis(50) {
        assert!(clock.now() < Nanos::from_secs(30), "{:?}", sut.usage());
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let before = sut.usage().unwrap().cpu;
    sut.reset().unwrap_or_else(|error| panic!("{error}"));
    assert!(before <= sut.usage().unwrap().cpu);
    let facts = sut.facts();
    assert_eq!(value(&facts, "gateway"), "3 at once");
    assert_eq!(value(&facts, "program"), "a helper");
    assert_eq!(value(&facts, "environment variable SPEED"), available_cpus().len().to_string());
    assert_eq!(processes_with(&mark).len(), 2, "{:?}", processes_with(&mark));
    drop(sut);
    assert_eq!(processes_with(&mark), [""; 0]);
    assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
}

#[test]
fn a_companion_that_ends_unexpectedly_is_named_with_its_log() {
    let base = directory();
    let files = files();
    let broken = with_companion("echo no such module >&2; exit 3", "");
    let mut sut = RunningSut::start(with_gateway(request(broken, base.path(), &files))).unwrap();
    let error = sut.wait_ready(READY_MAX).unwrap_err();
    assert!(matches!(error, SutError::Died(_)), "{error}");
    assert_eq!(error.to_string(), "a helper ended unexpectedly: exit status 3\n  no such module");
}

#[test]
fn a_companion_that_never_listens_keeps_the_server_from_being_ready() {
    let base = directory();
    let files = files();
    let mute = with_companion("read forever", "");
    let mut sut = RunningSut::start(with_gateway(request(mute, base.path(), &files))).unwrap();
    let error = sut.wait_ready(Duration::from_millis(20)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("a helper: ") && message.contains("gateway.sock"), "{message}");
}

#[test]
fn missing_requirements_are_reported_with_the_install_command() {
    let base = directory();
    let files = files();
    let need =
        "[[gateways.cgi.needs]]\ntitle = \"a module\"\nfind = [\"/no/such.so\"]\ninstall = \"apt-get x\"";
    let request = with_gateway(request(with_companion(":", need), base.path(), &files));
    let error = RunningSut::start(request).unwrap_err().to_string();
    let expected = "a module is not installed; searched for `/no/such.so`\nhint: install it with `apt-get x`";
    assert_eq!(error, expected);
    assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
}
