//! The section about the servers behind: `[origin]`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::{Statuses, Time, Url};
use super::{Base, count, time};
use crate::exchange::Forwarded;
use crate::origin::{Balance, HealthSettings, OriginServer, OriginSettings, Probe, TlsSettings};

/// The servers behind, and how they are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct OriginSection {
    /// The servers; at least one.
    #[serde(rename = "server")]
    pub servers: Vec<ServerSection>,
    /// Which of them gets a request.
    pub balance: Option<BalanceChoice>,
    /// What `Host` says to them; by default what the client said.
    pub host: Option<String>,
    /// How they are told what the client asked for and who it is.
    pub forwarded: Option<ForwardedChoice>,
    /// The longest time to find a server's address, connect, and shake hands if by TLS.
    pub connect_timeout: Option<Time>,
    /// The longest time from the end of a request to the end of the head of its reply.
    pub first_byte_timeout: Option<Time>,
    /// The longest time between two pieces of a body.
    pub between_bytes_timeout: Option<Time>,
    /// How long a connection is kept that nobody uses; less than the servers do.
    pub idle_timeout: Option<Time>,
    /// Connections to one server that nobody uses, of each thread.
    pub idle_max: Option<u32>,
    /// Requests to one server that are under way at a time.
    pub connections_max: Option<NonZeroU64>,
    /// Requests that wait because all servers have so many; others fail at once.
    pub waiting_max: Option<u32>,
    /// How many times more a request is sent, if it is safe and nothing of a reply has come.
    pub retries: Option<u32>,
    /// How servers behind `https://` prove who they are.
    pub tls: OriginTlsSection,
    /// When a server counts as down.
    pub health: HealthSection,
    /// How servers are asked whether they are well; by default they are not.
    pub probe: Option<ProbeSection>,
}

/// A server behind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerSection {
    /// Where it is: `http://127.0.0.1:8080`, `https://app.internal`.
    pub url: Url,
    /// Its share of the requests, as against those of the others; 1 by default.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// Which server gets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalanceChoice {
    /// One after the other, by weight.
    RoundRobin,
    /// The one that has the fewest requests under way for its weight.
    LeastConnections,
    /// Always the same for the same URL.
    Hash,
}

/// How servers are told about the client's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedChoice {
    /// Not at all.
    Off,
    /// By `X-Forwarded-For`, `X-Forwarded-Host` and `X-Forwarded-Proto`.
    Separate,
    /// By `Forwarded` (RFC 7239).
    Standard,
}

/// How servers prove who they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct OriginTlsSection {
    /// The certificates (PEM) that theirs must be signed by; by default those that the system trusts.
    pub ca_file: Option<PathBuf>,
    /// The name that they must prove; by default the host of each one's URL.
    pub server_name: Option<String>,
}

/// When a server counts as down, and when as up again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct HealthSection {
    /// After how many failures in a row it is down; 0 for never.
    pub fall: Option<u32>,
    /// After how many good probes in a row it is up again.
    pub rise: Option<u32>,
    /// Without probes, how long it is left alone before one request is tried with it.
    pub trial_after: Option<Time>,
}

/// A request by which a server shows that it is well.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProbeSection {
    /// What is asked for.
    pub path: Option<String>,
    /// How often.
    pub interval: Option<Time>,
    /// The longest time until the head of the reply is there.
    pub timeout: Option<Time>,
    /// The statuses that say so.
    pub statuses: Option<Statuses>,
}

impl OriginSection {
    /// Returns how the servers are asked, with what is not given as it usually is.
    pub(super) fn settings(&self, base: &Base) -> OriginSettings {
        let usual = OriginSettings::default();
        OriginSettings {
            servers: self.servers.iter().map(ServerSection::settings).collect(),
            balance: self.balance.map_or(usual.balance, Balance::from),
            host: self.host.clone().or(usual.host),
            tls: TlsSettings {
                ca_file: self.tls.ca_file.as_ref().map(|file| base.path(file)),
                server_name: self.tls.server_name.clone(),
            },
            connect_timeout: time(self.connect_timeout, usual.connect_timeout),
            first_byte_timeout: time(self.first_byte_timeout, usual.first_byte_timeout),
            between_bytes_timeout: time(self.between_bytes_timeout, usual.between_bytes_timeout),
            idle_timeout: time(self.idle_timeout, usual.idle_timeout),
            idle_max: self.idle_max.map_or(usual.idle_max, |n| n as usize),
            connections_max: count(self.connections_max, usual.connections_max),
            waiting_max: self.waiting_max.map_or(usual.waiting_max, |n| n as usize),
            retries: self.retries.unwrap_or(usual.retries),
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
        let usual = HealthSettings::default();
        HealthSettings {
            probe: probe.map(ProbeSection::settings).or(usual.probe),
            fall: self.fall.unwrap_or(usual.fall),
            rise: self.rise.unwrap_or(usual.rise),
            trial_after: time(self.trial_after, usual.trial_after),
        }
    }
}

impl ProbeSection {
    fn settings(&self) -> Probe {
        let usual = Probe::default();
        Probe {
            path: self.path.clone().unwrap_or(usual.path),
            interval: time(self.interval, usual.interval),
            timeout: time(self.timeout, usual.timeout),
            statuses: self.statuses.as_ref().map_or(usual.statuses, |statuses| statuses.0.clone()),
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
