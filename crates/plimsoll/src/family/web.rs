//! Web servers: URLs with the way to them, certificates, gateways and accelerators.

use drivers::Trust;
use drivers::web::Target;
use fleet::ExternalServer;
use model::{ChosenSetting, ConnectionLifetime, Definition, HttpVersion, Outcome, Plan, Tls, WebProtocol};

use super::calibrated::CalibratedWorkload;
use super::command_line::{BuiltInServer, FamilyCommandLine, StartedServers};
use crate::access::{first_given, web_target};
use crate::arguments::SutArguments;
use crate::candidate::{Candidate, ChosenAccelerator, ChosenServer};
use crate::exit::Failure;

/// Web servers on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "a",
    target_form: "http://HOST:PORT/",
    own_schemes: &[],
    read_target: |target, arguments| Ok(ExternalServer::Web(web_target(target, arguments)?, Trust::Any)),
    // Those of requests are not part of a target.
    take_secrets: |_, _| Ok(()),
    is_encrypted: |server, _| target(server).is_some_and(|target| target.secure),
    accepts_any_certificate: |_| false,
    trusting: |server, _, trust| match target(server) {
        Some(target) => ExternalServer::Web(target.clone(), trust.clone()),
        None => server.clone(),
    },
    own_flag,
    started: Some(StartedServers {
        sut_hint: "choose a web server, such as `--sut nginx`; `plimsoll suts` lists them",
        check_recipe: |_, _| Ok(()),
        built_in: Some(BuiltInServer {
            status: None,
            environment: &[],
            arguments: |benchmark, filelist, plan| Ok(arguments(benchmark, filelist, plan)),
        }),
    }),
    // Nothing about such a server is a setting.
    embedded: None,
    settle: |_, _| Ok(()),
    target_setting,
    check_plan: |candidate, plan| match plan.workload.web() {
        Some(web) => check_transport(candidate, &web.protocol),
        None => Ok(()),
    },
    think_time: None,
    calibration: &CALIBRATION,
    calibrated,
    unreachable_hint: "start the server first, or let Plimsoll start one: `plimsoll run BENCHMARK --sut nginx`",
    wrong_hint: "create the files with `plimsoll populate BENCHMARK --dir DIR` and let the server serve DIR; in your \
                 own recipe, that directory is `{root}`",
    own_wrong_hint: "check `path`, `status` and `reply` in the definition; files that it names by size are Plimsoll's \
                     own, which `--sut nginx` creates and serves",
};

/// The workloads by which the load generator is calibrated.
static CALIBRATION: [CalibratedWorkload; 5] = [
    CalibratedWorkload { benchmark: "one-object", keep: Some(true), users: 100 },
    CalibratedWorkload { benchmark: "webstone-1.1", keep: Some(false), users: 50 },
    CalibratedWorkload { benchmark: "webstone-2.0.1", keep: Some(false), users: 50 },
    CalibratedWorkload { benchmark: "webstone-2.0.1", keep: Some(true), users: 50 },
    CalibratedWorkload { benchmark: "web-modern", keep: None, users: 20 },
];

/// Returns the URL of a web server.
fn target(server: &ExternalServer) -> Option<&Target> {
    if let ExternalServer::Web(target, _) = server { Some(target) } else { None }
}

/// Returns the first flag that was given and is about web servers only.
fn own_flag(arguments: &SutArguments) -> Option<&'static str> {
    let given = [
        ("--accelerator", arguments.accelerator.iter().any(|name| name != ChosenAccelerator::NONE)),
        ("--gateway", !arguments.gateway.is_empty()),
        ("--workers", !arguments.workers.is_empty()),
    ];
    let given = given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
    given.or_else(|| first_given(arguments))
}

/// Returns the arguments of the built-in web server, with the file set and the protocol of a plan.
fn arguments(benchmark: &str, filelist: Option<&str>, plan: &Plan) -> Vec<String> {
    let mut args = vec!["web".to_owned(), benchmark.to_owned()];
    if let Some(filelist) = filelist {
        args.extend(["--filelist".to_owned(), filelist.to_owned()]);
    }
    args.extend(["--max-load".to_owned(), plan.level_max().to_string()]);
    // An accelerator terminates TLS.
    let protocol = plan.workload.web().map(|web| web.protocol).filter(|_| plan.sut.accelerator().is_none());
    if protocol.is_some_and(|protocol| protocol.tls != Tls::Off) {
        // The testbed replaces the placeholders by the files it creates for the run.
        let files = ["--tls-certificate", "{tls_certificate}", "--tls-key", "{tls_key}"];
        args.extend(files.map(str::to_owned));
    }
    if protocol.is_some_and(|protocol| protocol.http == HttpVersion::Http2) {
        args.push("--http2".to_owned());
    }
    args
}

/// Returns the TLS setting that follows from a target: an `https://` target is accessed over TLS even if the benchmark
/// does not use it, with session resumption as in browsers, unless the run sets it.
fn target_setting(candidate: &Candidate, definition: &Definition) -> Option<ChosenSetting> {
    let is_https = candidate.external().and_then(target).is_some_and(|target| target.secure);
    let is_off = definition.workload.web().is_some_and(|web| web.protocol.tls == Tls::Off);
    let resumed = || definition.family().choose_setting("tls", Tls::Resumed.name()).ok();
    (is_https && is_off && candidate.setting("tls").is_none()).then(resumed).flatten()
}

/// Checks that the target or the recipe supports the protocol. Recipes do not support HTTP/2 without TLS.
fn check_transport(candidate: &Candidate, protocol: &WebProtocol) -> Result<(), Failure> {
    if let Some(target) = candidate.external().and_then(target) {
        target.check(protocol).map_err(Failure::usage)?;
    }
    let is_clear = (protocol.tls, protocol.http) == (Tls::Off, HttpVersion::Http2);
    let is_by_recipe = matches!(candidate.server, ChosenServer::Recipe(_)) || candidate.accelerator.is_some();
    if is_clear && is_by_recipe {
        return Err(Failure::usage("recipes support HTTP/2 over TLS only")
            .hint("add `--tls resumed` or `--tls full`"));
    }
    Ok(())
}

/// Returns the calibrated workload for a plan: the same benchmark, or else the most similar one.
fn calibrated(plan: &Plan) -> Option<&'static CalibratedWorkload> {
    let protocol = plan.workload.web()?.protocol;
    let keeps = Some(protocol.connection != ConnectionLifetime::PerRequest);
    let is_similar = |one: &&CalibratedWorkload| match protocol.tls {
        Tls::Off => one.keep == keeps,
        _ => one.keep.is_none(),
    };
    let exact = CALIBRATION.iter().filter(is_similar).find(|one| one.benchmark == plan.benchmark.id);
    exact.or_else(|| CALIBRATION.iter().rev().find(is_similar))
}

/// Returns the remedy where a page of a URL is not fetched.
pub(crate) fn not_fetched_hint(outcome: Outcome, is_http: bool) -> &'static str {
    match outcome {
        Outcome::MalformedHead | Outcome::MalformedBody if is_http => {
            "correct the reply of the server, or of a proxy in front of it: it is ambiguous or malformed \
            (docs/design/hostile-servers.md)"
        }
        Outcome::Truncated if is_http => {
            "the server closes the connection in the middle of its reply: see its log, and try the page with `curl`"
        }
        Outcome::TimedOut => {
            "check that the server answers, for example with `curl`; `--time-limit` waits longer"
        }
        Outcome::TlsFailed => "check that the server uses TLS on this port; if it does not, write `http://`",
        Outcome::Http2Failed | Outcome::StreamReset => {
            "check that the server speaks HTTP/2, or omit `--http 2`"
        }
        Outcome::MalformedHead | Outcome::Truncated | Outcome::Reset => {
            "check that a web server listens on this port; if it uses TLS, write `https://`"
        }
        _ => "check the page, for example with `curl`",
    }
}
