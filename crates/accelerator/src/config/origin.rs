//! The section about the origin servers: `[origin]`.

use languages::spec::{KeySpec, NamedChoice, TableSpec, key, one_of, table, tables, text};

use super::Config;
use super::values::{memory_count, number, path, server, statuses, time, time_limit};
use crate::exchange::ForwardedFields;
use crate::origin::{Balance, HealthSettings, OriginServer, OriginTlsSettings, Probe};

const BALANCES: &[NamedChoice<Balance>] = &[
    NamedChoice("round-robin", "One after the other, by weight.", Balance::RoundRobin),
    NamedChoice(
        "least-connections",
        "The server with the fewest requests in progress for its weight.",
        Balance::LeastConnections,
    ),
    NamedChoice("hash", "The same server for the same URL.", Balance::Hash),
];

const FORWARDED: &[NamedChoice<ForwardedFields>] = &[
    NamedChoice("off", "None.", ForwardedFields::Off),
    NamedChoice(
        "separate",
        "`X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto`.",
        ForwardedFields::Separate,
    ),
    NamedChoice("standard", "`Forwarded` (RFC 7239).", ForwardedFields::Standard),
];

/// `[origin]`.
pub(super) fn origin() -> TableSpec<Config> {
    TableSpec::new(
        "OriginSection",
        "The origin servers, with time limits and connection limits.",
        [
            tables(
                "server",
                "The servers; at least one.",
                origin_server(),
                || OriginServer { address: String::new(), weight: 1, tls: false },
                |config, servers| config.settings.origin.servers = servers,
            ),
            key(
                "balance",
                "The load balancing between them.",
                one_of("BalanceChoice", "The load balancing between servers.", BALANCES),
                |config, choice| config.settings.origin.balance = choice,
            ),
            key("host", "The value of `Host`; by default that of the client.", text(), |config, host| {
                config.settings.origin.host = Some(host)
            }),
            key(
                "forwarded",
                "The fields that tell the servers about the client's side.",
                one_of("ForwardedChoice", "The fields that tell servers about the client's side.", FORWARDED),
                |config, choice| config.settings.exchange.forwarded = choice,
            ),
            key(
                "connect-timeout",
                "The longest time to resolve a server's name, connect, and complete a TLS handshake.",
                time_limit(),
                |config, time| config.settings.origin.connect_timeout = time,
            ),
            key(
                "first-byte-timeout",
                "The longest time from the end of a request to the end of the head of its response.",
                time_limit(),
                |config, time| config.settings.origin.first_byte_timeout = time,
            ),
            key(
                "between-bytes-timeout",
                "The longest time between two pieces of a body.",
                time_limit(),
                |config, time| config.settings.origin.between_bytes_timeout = time,
            ),
            key(
                "idle-timeout",
                "The time that an idle connection is kept; less than the servers' own.",
                time(),
                |config, time| config.settings.origin.idle_timeout = time,
            ),
            key(
                "idle-max",
                "The most idle connections to one server, per thread.",
                number(0),
                |config, idle| config.settings.origin.idle_max = idle as usize,
            ),
            key(
                "connections-max",
                "The most requests in progress to one server.",
                memory_count(),
                |config, connections| config.settings.origin.connections_max = connections,
            ),
            key(
                "waiting-max",
                "The most requests that wait while all servers are at that limit; others fail at once.",
                number(0),
                |config, waiting| config.settings.origin.waiting_max = waiting as usize,
            ),
            key(
                "retries",
                "The most retries of a request, if it is safe and no byte of a response has come.",
                number(0),
                |config, retries| config.settings.origin.retries = retries,
            ),
            table("tls", "The verification of servers with `https://`.", tls(), |config| {
                &mut config.settings.origin.tls
            }),
            table("health", "The health checks.", health(), |config| &mut config.settings.origin.health),
            table("probe", "The health probe; none by default.", probe(), |config| {
                config.settings.origin.health.probe.get_or_insert_default()
            }),
        ],
    )
}

/// `[[origin.server]]`.
fn origin_server() -> TableSpec<OriginServer> {
    let url: KeySpec<OriginServer> =
        key("url", "Its URL: `http://127.0.0.1:8080`, `https://app.internal`.", server(), |into, server| {
            *into = OriginServer { weight: into.weight, ..server };
        });
    let weight: KeySpec<OriginServer> =
        key("weight", "Its weight relative to the others; 1 by default.", number(0), |server, weight| {
            server.weight = weight;
        });
    TableSpec::new("ServerSection", "An origin server.", [url.required(), weight.default_value(1)])
}

/// `[origin.tls]`.
fn tls() -> TableSpec<OriginTlsSettings> {
    TableSpec::new(
        "OriginTlsSection",
        "The verification of servers with TLS.",
        [
            key(
                "ca-file",
                "The certificates (PEM) of the trusted authorities; by default those of the system.",
                path(),
                |tls, file| tls.ca_file = Some(file),
            ),
            key(
                "server-name",
                "The name that servers must prove; by default the host of each URL.",
                text(),
                |tls, name| tls.server_name = Some(name),
            ),
        ],
    )
}

/// `[origin.health]`.
fn health() -> TableSpec<HealthSettings> {
    TableSpec::new(
        "HealthSection",
        "The health checks of servers.",
        [
            key(
                "fall",
                "The failures in a row after which a server is down; 0 for never.",
                number(0),
                |health, fall| health.fall = fall,
            ),
            key(
                "overdue-after",
                "The time after which a response counts as a failure, once per URL and only while the server answers \
                 nothing at all; 0 for never.",
                time(),
                |health, time| health.overdue_after = time,
            ),
            key("rise", "The good probes in a row after which it is up again.", number(0), |health, rise| {
                health.rise = rise;
            }),
            key(
                "trial-after",
                "Without probes, the time until a server that is down is tried with a copy of a request.",
                time(),
                |health, time| health.trial_after = time,
            ),
        ],
    )
}

/// `[origin.probe]`.
fn probe() -> TableSpec<Probe> {
    TableSpec::new(
        "ProbeSection",
        "The health probe.",
        [
            key("path", "The path to request.", text(), |probe, path| probe.path = path),
            key("interval", "The time from one probe to the next.", time_limit(), |probe, time| {
                probe.interval = time;
            }),
            key(
                "timeout",
                "The longest time until the head of the response has arrived.",
                time_limit(),
                |probe, time| probe.timeout = time,
            ),
            key("statuses", "The statuses that count as good.", statuses(), |probe, statuses| {
                probe.statuses = statuses;
            }),
        ],
    )
}
