//! Flags of other load generators and of curl, with what stands for them here.

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use languages::nearest;

use crate::arguments::Arguments;

/// Flags of the load.
const USERS: &str = "`--load 50` (or `-c 50`) sets the number of users, each with a connection; `--load 1,10,50` runs several";
const RATE: &str = "`--rate 500` offers this many requests per second; `--rate 100,500,1000` runs several";
const TIME: &str = "`--duration 30s` sets the length of each load point";
const THREADS: &str = "load threads follow from the CPUs: `--load-cpus 0-1` starts one on each of these";
const NUMBER: &str = "`-n 1000` starts so many requests in all; `--duration 30s` is a length instead";
const RAMP: &str = "`--ramp 10..100` lets the load rise, and `--stages 30s:0..100,2m:100` has stages; `--load 10..100/10` runs one load after another";
const KEPT: &str = "connections are kept by default; `--connection per-request` opens one for each request";
/// Flags of requests.
const COMPRESSED: &str = "`-H 'Accept-Encoding: gzip'` asks for compressed bodies";
const USER: &str =
    "`-H 'Authorization: Basic {env:NAME}'` sends credentials, in base64, from an environment variable";
const COOKIE: &str = "`-H 'Cookie: {env:NAME}'` sends cookies from an environment variable; `--curl FILE` takes a copied command of cURL";
const AGENT: &str = "`-H 'User-Agent: …'` sets this field";
const DATA: &str = "`-d DATA`, `-d @FILE` or `--data-file FILE` gives the body; `--curl FILE` takes a copied command of cURL";
const TYPE: &str = "`-H 'Content-Type: application/json'` sets the type of the body";
const REDIRECTS: &str = "redirects are not followed: load the page that they lead to, or follow them in a definition (docs/definitions.md)";
const INSECURE: &str = "`--insecure` accepts any certificate; connections are kept without a flag";
const CERTIFICATE: &str = "`--cert FILE --key FILE` shows a client certificate";
const TIMEOUT: &str = "`--time-limit 5s` limits the time of a request";
const HTTP2: &str = "`--http 2` speaks HTTP/2";
/// Flags of the output.
const OUTPUT: &str = "`--out FILE.plim` names the run file; bodies are checked and not stored, and `plimsoll report` and `plimsoll export` write every format";
const QUIET: &str =
    "`--progress plain` prints the least; results go to standard output, `--json` for machines";
const LATENCY: &str = "percentiles are always printed, and `--limit 'p99<50ms'` sets a limit to one";

/// Flags that `run` does not have, with the advice. Of ab, wrk, wrk2, hey, oha, h2load, vegeta, k6, Locust, JMeter and curl; a
/// letter that several of them have stands once, with the meaning that most of them give it.
const FLAGS: &[(&str, &str)] = &[
    ("--users", USERS),
    ("--vus", USERS),
    ("--connections", USERS),
    ("--concurrency", USERS),
    ("--clients", USERS),
    ("--rps", RATE),
    ("--qps", RATE),
    ("-r", RATE),
    ("-R", RATE),
    ("-q", RATE),
    ("-z", TIME),
    ("-D", TIME),
    ("--run-time", TIME),
    ("--timelimit", TIME),
    ("-t", THREADS),
    ("--threads", THREADS),
    ("--requests", NUMBER),
    ("--iterations", NUMBER),
    ("-i", NUMBER),
    ("--stage", RAMP),
    ("--spawn-rate", RAMP),
    ("--keepalive", KEPT),
    ("--disable-keepalive", KEPT),
    ("--latency", LATENCY),
    ("--compressed", COMPRESSED),
    ("-u", USER),
    ("--user", USER),
    ("-a", USER),
    ("-b", COOKIE),
    ("--cookie", COOKIE),
    ("-C", COOKIE),
    ("-A", AGENT),
    ("--user-agent", AGENT),
    ("-e", "`-H 'Referer: …'` sets this field"),
    ("--referer", "`-H 'Referer: …'` sets this field"),
    ("--host", "`-H 'Host: …'` sets this field, and the name in TLS"),
    ("-m", "`-X METHOD` names the method; `--time-limit 5s` limits the time of a request"),
    ("--method", "`-X METHOD` names the method"),
    ("-I", "`-X HEAD` asks for the head alone"),
    ("--head", "`-X HEAD` asks for the head alone"),
    ("-G", "put the values into the query of the URL"),
    ("-F", DATA),
    ("--form", DATA),
    ("-p", DATA),
    ("-P", DATA),
    ("--body", DATA),
    ("--data-raw", DATA),
    ("--data-binary", DATA),
    ("--data-urlencode", DATA),
    ("-T", TYPE),
    ("-L", REDIRECTS),
    ("--location", REDIRECTS),
    ("-k", INSECURE),
    ("-E", CERTIFICATE),
    ("--cacert", "`--ca FILE` names the trusted authorities"),
    ("--max-time", TIMEOUT),
    ("--timeout", TIMEOUT),
    ("--connect-timeout", TIMEOUT),
    ("--http2", HTTP2),
    ("--http2-prior-knowledge", "`--http 2` speaks HTTP/2, with prior knowledge where there is no TLS"),
    ("--http1.1", "HTTP/1.1 is the default; `--http 1.0` and `--http 2` choose another version"),
    ("-0", "`--http 1.0` speaks HTTP/1.0"),
    ("-x", "a proxy is loaded as a server: name it as the URL, and the site by `-H 'Host: …'`"),
    ("--proxy", "a proxy is loaded as a server: name it as the URL, and the site by `-H 'Host: …'`"),
    ("-f", "`--urls FILE` requests the URLs in a file"),
    ("--input-file", "`--urls FILE` requests the URLs in a file"),
    ("--targets", "`--urls FILE` requests the URLs in a file"),
    ("-s", QUIET),
    ("--silent", QUIET),
    ("--quiet", QUIET),
    ("--no-tui", QUIET),
    ("-v", "failed requests are described in the report, with the first of each kind"),
    ("--verbose", "failed requests are described in the report, with the first of each kind"),
    ("-o", OUTPUT),
    ("--output", OUTPUT),
    ("-w", OUTPUT),
    ("--csv", OUTPUT),
];

/// Gives an error about a flag of another tool, or one mistyped, the advice of the table, in place of a flag with a similar
/// name. Without one, no advice is left on how to name a benchmark `--users`.
pub(crate) fn advised(mut error: clap::Error, words: impl IntoIterator<Item = String>) -> clap::Error {
    let is_of_run =
        words.into_iter().skip(1).find(|word| !word.starts_with('-')).is_some_and(|word| word == "run");
    let Some(flag) = unknown_flag(&error).filter(|_| is_of_run) else { return error };
    match advice(&flag) {
        Some(advice) => {
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
        }
        None => {
            error.remove(ContextKind::Suggested);
        }
    }
    error
}

/// Returns the flag that an error does not know.
fn unknown_flag(error: &clap::Error) -> Option<String> {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    match error.get(ContextKind::InvalidArg).filter(|_| is_unknown)? {
        ContextValue::String(found) => found.split(['=', ' ']).next().map(str::to_owned),
        _ => None,
    }
}

/// Returns the advice on a flag of the table, or on the one nearest to a mistyped flag, unless one of ours is as near.
fn advice(flag: &str) -> Option<&'static str> {
    let of = |flag: &str| FLAGS.iter().find(|(name, _)| *name == flag).map(|(_, advice)| *advice);
    if let Some(advice) = of(flag) {
        return Some(advice);
    }
    let command = Arguments::command();
    let run = command.find_subcommand("run")?;
    let ours: Vec<String> =
        run.get_arguments().filter_map(|one| Some(format!("--{}", one.get_long()?))).collect();
    let others = FLAGS.iter().map(|(name, _)| *name).filter(|name| name.starts_with("--"));
    let is_long = flag.starts_with("--");
    nearest(flag, ours.iter().map(String::as_str).chain(others)).filter(|_| is_long).and_then(of)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn refused(flag: &str) -> String {
        let words = ["plimsoll", "run", "http://localhost/", flag];
        let error = Arguments::try_parse_from(words).expect_err(flag);
        assert_eq!(error.kind(), ErrorKind::UnknownArgument, "`{flag}` is a flag of ours");
        advised(error, words.map(str::to_owned)).to_string()
    }

    /// Goal: an entry neither is a flag of ours nor is lost behind one with a similar name.
    #[test]
    fn flags_of_other_tools_lead_to_ours() {
        for (index, (flag, advice)) in FLAGS.iter().enumerate() {
            assert!(FLAGS[..index].iter().all(|(other, _)| other != flag), "{flag} twice");
            let text = refused(flag);
            assert!(text.contains(&format!("tip: {advice}")) && !text.contains("similar"), "{flag}: {text}");
        }
        assert!(refused("--dutation").contains("a similar argument exists: '--duration'"));
    }

    /// Goal: a slip of the finger is no other question. A flag of ours that is as near comes first.
    #[test]
    fn mistyped_flags_of_other_tools_lead_to_ours() {
        for (flag, advice) in
            [("--userz", USERS), ("--conections", USERS), ("--conncurrency", USERS), ("--max-tiem", TIMEOUT)]
        {
            let text = refused(flag);
            assert!(text.contains(&format!("tip: {advice}")) && !text.contains("similar"), "{flag}: {text}");
        }
        let ours = refused("--time-limt");
        assert!(ours.contains("'--time-limit'") && !ours.contains(TIMEOUT), "{ours}");
        let unlike = refused("--zzyzx");
        assert!(!unlike.contains("tip:"), "{unlike}");
    }

    /// Goal: no advice names a flag that there is not.
    #[test]
    fn advice_names_flags_that_there_are() {
        let command = Arguments::command();
        let run = command.find_subcommand("run").unwrap();
        for (flag, advice) in FLAGS {
            let named = advice.split('`').skip(1).step_by(2).flat_map(|code| code.split(' '));
            for name in named.filter_map(|word| word.strip_prefix("--")) {
                let is_ours = run.get_arguments().any(|one| one.get_long() == Some(name));
                assert!(
                    is_ours || command.get_arguments().any(|one| one.get_long() == Some(name)),
                    "{flag}: {name}"
                );
            }
        }
    }

    #[test]
    fn flags_of_other_commands_are_left_alone() {
        let words = ["plimsoll", "compare", "a.plim", "--users"];
        let error = Arguments::try_parse_from(words).expect_err("no such flag");
        assert!(!advised(error, words.map(str::to_owned)).to_string().contains("--load"));
    }
}
