//! The section about the origin servers: `[origin]`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::{Statuses, Time, Url};
use super::{Base, count, time};
use crate::exchange::Forwarded;
use crate::origin::{Balance, HealthSettings, OriginServer, OriginSettings, OriginTlsSettings, Probe};

/// The origin servers, with time limits and connection limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct OriginSection {
    /// The servers; at least one.
    #[serde(rename = "server")]
    pub servers: Vec<ServerSection>,
    /// The load balancing between them.
    pub balance: Option<BalanceChoice>,
    /// The value of `Host`; by default that of the client.
    pub host: Option<String>,
    /// The fields that tell the servers about the client's side.
    pub forwarded: Option<ForwardedChoice>,
    /// The longest time to resolve a server's name, connect, and complete a TLS handshake.
    pub connect_timeout: Option<Time>,
    /// The longest time from the end of a request to the end of the head of its response.
    pub first_byte_timeout: Option<Time>,
    /// The longest time between two pieces of a body.
    pub between_bytes_timeout: Option<Time>,
    /// The time that an idle connection is kept; less than the servers' own.
    pub idle_timeout: Option<Time>,
    /// The most idle connections to one server, per thread.
    pub idle_max: Option<u32>,
    /// The most requests in progress to one server.
    pub connections_max: Option<NonZeroU64>,
    /// The most requests that wait while all servers are at that limit; others fail at once.
    pub waiting_max: Option<u32>,
    /// The most retries of a request, if it is safe and no byte of a response has come.
    pub retries: Option<u32>,
    /// The verification of servers with `https://`.
    pub tls: OriginTlsSection,
    /// The health checks.
    pub health: HealthSection,
    /// The health probe; none by default.
    pub probe: Option<ProbeSection>,
}

/// An origin server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerSection {
    /// Its URL: `http://127.0.0.1:8080`, `https://app.internal`.
    pub url: Url,
    /// Its weight relative to the others; 1 by default.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// The load balancing between servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalanceChoice {
    /// One after the other, by weight.
    RoundRobin,
    /// The server with the fewest requests in progress for its weight.
    LeastConnections,
    /// The same server for the same URL.
    Hash,
}

/// The fields that tell servers about the client's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedChoice {
    /// None.
    Off,
    /// `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto`.
    Separate,
    /// `Forwarded` (RFC 7239).
    Standard,
}

/// The verification of servers with TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct OriginTlsSection {
    /// The certificates (PEM) of the trusted authorities; by default those of the system.
    pub ca_file: Option<PathBuf>,
    /// The name that servers must prove; by default the host of each URL.
    pub server_name: Option<String>,
}

/// The health checks of servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct HealthSection {
    /// The failures in a row after which a server is down; 0 for never.
    pub fall: Option<u32>,
    /// The good probes in a row after which it is up again.
    pub rise: Option<u32>,
    /// Without probes, the time until one trial request is sent to a server that is down.
    pub trial_after: Option<Time>,
}

/// The health probe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProbeSection {
    /// The path to request.
    pub path: Option<String>,
    /// The time from one probe to the next.
    pub interval: Option<Time>,
    /// The longest time until the head of the response has arrived.
    pub timeout: Option<Time>,
    /// The statuses that count as good.
    pub statuses: Option<Statuses>,
}

impl OriginSection {
    /// Returns the origin settings, with defaults for what is not given.
    pub(super) fn settings(&self, base: &Base) -> OriginSettings {
        let default_value = OriginSettings::default();
        OriginSettings {
            servers: self.servers.iter().map(ServerSection::settings).collect(),
            balance: self.balance.map_or(default_value.balance, Balance::from),
            host: self.host.clone().or(default_value.host),
            tls: OriginTlsSettings {
                ca_file: self.tls.ca_file.as_ref().map(|file| base.path(file)),
                server_name: self.tls.server_name.clone(),
            },
            connect_timeout: time(self.connect_timeout, default_value.connect_timeout),
            first_byte_timeout: time(self.first_byte_timeout, default_value.first_byte_timeout),
            between_bytes_timeout: time(self.between_bytes_timeout, default_value.between_bytes_timeout),
            idle_timeout: time(self.idle_timeout, default_value.idle_timeout),
            idle_max: self.idle_max.map_or(default_value.idle_max, |n| n as usize),
            connections_max: count(self.connections_max, default_value.connections_max),
            waiting_max: self.waiting_max.map_or(default_value.waiting_max, |n| n as usize),
            retries: self.retries.unwrap_or(default_value.retries),
            health: self.health.settings(self.probe.as_ref()),
        }
    }
}

impl ServerSection {
    fn settings(&self) -> OriginServer {
        OriginServer { weight: self.weight, ..self.url.0.clone() }
    }
}

impl HealthSection {
    fn settings(&self, probe: Option<&ProbeSection>) -> HealthSettings {
        let default_value = HealthSettings::default();
        HealthSettings {
            probe: probe.map(ProbeSection::settings).or(default_value.probe),
            fall: self.fall.unwrap_or(default_value.fall),
            rise: self.rise.unwrap_or(default_value.rise),
            trial_after: time(self.trial_after, default_value.trial_after),
        }
    }
}

impl ProbeSection {
    fn settings(&self) -> Probe {
        let default_value = Probe::default();
        Probe {
            path: self.path.clone().unwrap_or(default_value.path),
            interval: time(self.interval, default_value.interval),
            timeout: time(self.timeout, default_value.timeout),
            statuses: self.statuses.as_ref().map_or(default_value.statuses, |statuses| statuses.0.clone()),
        }
    }
}

impl From<BalanceChoice> for Balance {
    fn from(choice: BalanceChoice) -> Balance {
        match choice {
            BalanceChoice::RoundRobin => Balance::RoundRobin,
            BalanceChoice::LeastConnections => Balance::LeastConnections,
            BalanceChoice::Hash => Balance::Hash,
        }
    }
}

impl From<ForwardedChoice> for Forwarded {
    fn from(choice: ForwardedChoice) -> Forwarded {
        match choice {
            ForwardedChoice::Off => Forwarded::Off,
            ForwardedChoice::Separate => Forwarded::Separate,
            ForwardedChoice::Standard => Forwarded::Standard,
        }
    }
}
