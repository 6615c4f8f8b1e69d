//! The calibration: the cost of the load generator on this machine, measured once and stored, and the SUT
//! quota derived from it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The share of the load CPUs that the generator may use when the SUT saturates; 0.9 would invalidate a load
/// point.
const GENERATOR_BUSY_MAX: f64 = 0.6;

/// The smallest useful quota: below it the server is paused most of the time.
const QUOTA_MIN: f64 = 0.05;

/// A calibration: the generator's maximum rate and cost per operation against the built-in server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Time of the measurement, as text.
    pub date: String,
    /// The processor it applies to.
    pub cpu_model: String,
    /// One case per kind of load; names are the caller's.
    pub cases: Vec<CalibrationCase>,
}

/// The cost of one kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationCase {
    /// Name: `webstone-2.0.1, connection per request`.
    pub name: String,
    /// CPU time of the generator per operation, in seconds. Above zero.
    pub generator_cpu_s_per_op: f64,
    /// CPU time of the built-in server per operation, in seconds. Above zero.
    pub sut_cpu_s_per_op: f64,
    /// Highest rate of the generator, in operations per second.
    pub ceiling_ops_per_s: f64,
}

/// A stored calibration that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The file cannot be read or written.
    #[error("calibration `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file does not contain a calibration.
    #[error("calibration `{path}` is damaged: {why}\nhint: run `plimsoll calibrate` again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The position and the problem.
        why: String,
    },
}

impl Calibration {
    /// Loads a stored calibration; `None` if there is none.
    ///
    /// # Errors
    /// The file cannot be read or has other contents.
    pub fn load(path: &Path) -> Result<Option<Calibration>, CalibrationError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CalibrationError::File { path: path.to_owned(), source }),
        };
        let damaged = |why: String| CalibrationError::Damaged { path: path.to_owned(), why };
        let calibration: Calibration =
            toml::from_str(&text).map_err(|error| damaged(error.to_string().trim_end().to_owned()))?;
        let costs =
            calibration.cases.iter().flat_map(|case| [case.generator_cpu_s_per_op, case.sut_cpu_s_per_op]);
        if costs.into_iter().all(|cost| 0.0 < cost && cost.is_finite()) {
            return Ok(Some(calibration));
        }
        Err(damaged("expected costs per operation above zero".to_owned()))
    }

    /// Stores the calibration atomically, creating directories as needed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CalibrationError> {
        let failed = |source| CalibrationError::File { path: path.to_owned(), source };
        let text = toml::to_string(self).expect("strings, numbers and a list of them are TOML");
        let beside = path.with_extension("new");
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        std::fs::write(&beside, text).map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }

    /// Returns the case with this name.
    pub fn case(&self, name: &str) -> Option<&CalibrationCase> {
        self.cases.iter().find(|case| case.name == name)
    }
}

/// The CPUs of server and generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Placement {
    /// Separate CPUs.
    Apart {
        /// CPUs of the server.
        sut_cpus: f64,
        /// CPUs of the generator.
        load_cpus: f64,
    },
    /// Shared CPUs.
    Together {
        /// CPUs of the machine.
        cpus: f64,
    },
}

/// The inputs of a quota.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuotaBasis {
    /// The available CPUs.
    pub placement: Placement,
    /// CPU time of the server per operation, in seconds. Above zero.
    pub sut_cpu_s_per_op: f64,
    /// CPU time of the generator per operation, in seconds. Above zero.
    pub generator_cpu_s_per_op: f64,
}

/// Returns the SUT's quota, in CPUs, at which the SUT saturates while the generator needs at most 60 % of its
/// CPUs.
///
/// With s and g the CPU seconds per operation of server and generator, a server at its quota q performs q/s
/// operations per second, which cost the generator q·g/s CPUs. Apart: q·g/s ≤ 0.6·L, so q = min(S, 0.6·L·s/g)
/// with S and L the CPUs of server and load. Together, on C CPUs, the generator has what the server leaves, L
/// = C − q: q·g/s ≤ 0.6·(C − q), so q = 0.6·C / (g/s + 0.6). Rounded down to hundredths; at least 0.05, in
/// which case the verdict decides about the generator's health.
pub fn choose_quota(basis: QuotaBasis) -> f64 {
    let ratio = basis.generator_cpu_s_per_op / basis.sut_cpu_s_per_op;
    let quota = match basis.placement {
        Placement::Apart { sut_cpus, load_cpus } => sut_cpus.min(GENERATOR_BUSY_MAX * load_cpus / ratio),
        Placement::Together { cpus } => GENERATOR_BUSY_MAX * cpus / (ratio + GENERATOR_BUSY_MAX),
    };
    // A small amount is added so that 0.29999… from a division stays 0.3.
    ((quota * 100.0 + 1e-6).floor() / 100.0).max(QUOTA_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(placement: Placement, s_us: f64, g_us: f64) -> f64 {
        choose_quota(QuotaBasis {
            placement,
            sut_cpu_s_per_op: s_us / 1e6,
            generator_cpu_s_per_op: g_us / 1e6,
        })
    }

    /// One CPU each, s = 20 µs: at g = 24 µs the server may perform 0.6/24 µs = 25,000 operations per second,
    /// which cost it 0.5 CPUs; at g = 10 µs it could use 1.2 and gets the one that it has.
    #[test]
    fn apart_the_generators_cpus_limit_the_quota_up_to_the_servers_cpus() {
        let placement = Placement::Apart { sut_cpus: 1.0, load_cpus: 1.0 };
        assert_eq!(quota(placement, 20.0, 24.0), 0.5);
        assert_eq!(quota(placement, 20.0, 10.0), 1.0);
        assert_eq!(quota(placement, 1.0, 1000.0), QUOTA_MIN);
    }

    /// Two CPUs together, s = g: q = 0.6·2/1.6 = 0.75; the generator then needs 0.75 of the 1.25 left, 60 %.
    #[test]
    fn together_the_generator_gets_the_rest_of_the_cpus() {
        let q = quota(Placement::Together { cpus: 2.0 }, 15.0, 15.0);
        assert_eq!(q, 0.75);
        assert!((q / (2.0 - q) - GENERATOR_BUSY_MAX).abs() < 1e-12);
    }

    #[test]
    fn a_stored_calibration_round_trips() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state/plimsoll/calibration.toml");
        assert!(Calibration::load(&path).unwrap().is_none());
        let case = CalibrationCase {
            name: "webstone-2.0.1".into(),
            generator_cpu_s_per_op: 2.5e-5,
            sut_cpu_s_per_op: 3.1e-5,
            ceiling_ops_per_s: 38_000.0,
        };
        let stored = Calibration { date: "2026-11-21".into(), cpu_model: "x".into(), cases: vec![case] };
        stored.save(&path).unwrap();
        let loaded = Calibration::load(&path).unwrap().unwrap();
        assert_eq!(loaded, stored);
        assert!(loaded.case("webstone-2.0.1").is_some() && loaded.case("other").is_none());
    }

    #[test]
    fn a_damaged_calibration_is_an_error_with_its_path() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("calibration.toml");
        let zero = "date = \"x\"\ncpu_model = \"y\"\n[[cases]]\nname = \"z\"\ngenerator_cpu_s_per_op = 0.0\n\
                    sut_cpu_s_per_op = 1e-5\nceiling_ops_per_s = 1.0\n";
        for text in ["nonsense", zero] {
            std::fs::write(&path, text).unwrap();
            let message = Calibration::load(&path).unwrap_err().to_string();
            assert!(message.contains("calibration.toml") && message.contains("hint:"), "{message}");
        }
    }
}
