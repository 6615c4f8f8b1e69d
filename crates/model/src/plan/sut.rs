//! The part of a plan about the system under test.

use languages::names;
use serde::{Deserialize, Serialize};

use super::web::WebSut;
use crate::DiskShare;

/// The system under test, as specified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SutPlan {
    /// `built-in`, the name or path of a recipe, or `external` for a server that is already there.
    pub name: String,
    /// The user's name for the state of the server in this run: `before`, `php 8.4`. Runs with different labels are
    /// different sides of a comparison; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// CPUs that the server's processes may use; empty for all.
    pub cpus: Vec<u32>,
    /// CPU time per second that the server may use, in CPUs (0.5: half of one); `None` for no limit.
    pub quota: Option<f64>,
    /// The origin of the quota: `asked for`, `from calibration of …`, `the built-in default`.
    pub quota_reason: String,
    /// Memory that the server may use, file pages included, in bytes; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Traffic with its disk that the server may have; `None` for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskShare>,
    /// The profile of its recipe; `None` for the settings of a benchmark.
    pub profile: Option<String>,
    /// The certificates that are accepted over TLS from an external server. A server that the run starts must present
    /// the certificate that was made for it.
    #[serde(default, skip_serializing_if = "CertificateCheck::is_system")]
    pub certificates: CertificateCheck,
    /// The parts of a web server; `None` of one without such parts, and of all other servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<WebSut>,
}

impl SutPlan {
    /// Makes the plan of a server by name, with defaults for all other settings.
    pub fn of(name: &str) -> SutPlan {
        SutPlan {
            name: name.to_owned(),
            label: None,
            cpus: Vec::new(),
            quota: None,
            quota_reason: String::new(),
            memory: None,
            disk: None,
            profile: None,
            certificates: CertificateCheck::System,
            web: None,
        }
    }

    /// Replaces a limit by the one that is in force.
    pub fn enforce(&mut self, in_force: &LimitInForce) {
        match in_force.limit {
            ServerLimit::CpuQuota => {
                self.quota = in_force.value;
                self.quota_reason.clone_from(&in_force.reason);
            }
        }
    }
}

/// A limit of the CPU time of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuQuota {
    /// CPU time per second, in CPUs; `None` for no limit.
    pub cpus: Option<f64>,
    /// The origin of the quota, as in [`SutPlan::quota_reason`].
    pub reason: String,
}

names! {
    /// A limit of a server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ServerLimit {
        /// CPU time per second, in CPUs: [`SutPlan::quota`].
        CpuQuota = "cpu-quota",
    }
}

/// A limit of a server as it is in force, where that is not what the plan asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitInForce {
    /// The limit.
    pub limit: ServerLimit,
    /// Its value, in the unit of the plan; `None`: there is no limit.
    pub value: Option<f64>,
    /// The reason why it is not as planned: a clause without a full stop.
    pub reason: String,
}

/// The certificates that are accepted from an external server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CertificateCheck {
    /// Certificates with the right name and dates whose chain ends at an authority that the load machine trusts.
    #[default]
    System,
    /// The same with the authorities of this file alone.
    File(String),
    /// Any certificate; the identity of the server is not verified.
    Off,
}

impl CertificateCheck {
    /// Returns whether it is the default.
    fn is_system(&self) -> bool {
        *self == CertificateCheck::System
    }
}
