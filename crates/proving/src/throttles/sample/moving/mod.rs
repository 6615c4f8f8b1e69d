//! Moving cases: servers whose throttle is replaced by another while one run of Plimsoll goes on.
//!
//! The run has three load points: one user, which the rules compare with, and many users under the first throttle, then many
//! users under the second one. A case is right if both load points have a right name, and the run's own sentence about its
//! bottleneck says the same of them. Each of the two throttles is proved as a case of its own.
//!
//! - `trial`: the run during which the throttle is replaced
//! - `sentence`: the run's sentence, compared with its load points
//! - `page`: the page made of the record

mod page;
mod sentence;
mod trial;

use std::fmt;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::case::{RunMode, SampleCase, ServerKind, Strength};
use super::kind::ThrottleKind;
use super::order::RunAim;
use super::proof::CaseProof;
use super::record::{RecordedCase, line_of};
use super::setting::Setting;
use super::work::Work;
pub(super) use page::page;
pub(super) use trial::MovingTrial;

/// A case whose bottleneck moves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MovingCase {
    /// Its number, from 1.
    pub number: usize,
    /// The two throttles, one after the other, each as a case with the same server.
    pub phases: [SampleCase; 2],
    /// The work of one request under both.
    pub work: Work,
}

/// The definition of a case: the server, the part of it that is watched, whether it has a neighbor, the work of a request, and
/// the throttles.
type Draft = (ServerKind, WatchTarget, bool, Work, [(ThrottleKind, Strength); 2]);

/// The part of a server that `--watch` is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchTarget {
    /// None: Plimsoll is told the URL alone.
    Nothing,
    /// One of its processes.
    Process,
    /// Its control group.
    Group,
}

/// One file of 16 KiB, 64 MB of such files, files that are read from disk, and a page that takes 1 ms of CPU time.
const FILE: Work = Work::Files { n: 1, bytes: 16 << 10 };
const MANY_FILES: Work = Work::Files { n: 4000, bytes: 16 << 10 };
const DISK_READS: Work = Work::DiskReads { n: 16, bytes: 64 << 10 };
const PAGE: Work = Work::Compute(1000);

/// All cases. Some pairs of throttles occur in both orders, because the load point before is what a rule compares with.
const DRAFTS: &[Draft] = {
    use ServerKind::{Apache, BuiltIn, Fpm, Gunicorn, Nginx, Node};
    use Strength::{Medium, Mild, Strong};
    use ThrottleKind::*;
    use WatchTarget::{Group, Nothing, Process};
    &[
        (Nginx, Nothing, false, FILE, [(CpuQuota, Medium), (LinkRate, Medium)]),
        (Nginx, Group, false, FILE, [(LinkRate, Medium), (CpuQuota, Medium)]),
        (Apache, Process, false, FILE, [(PacketLoss, Strong), (CpuQuota, Strong)]),
        (BuiltIn, Process, false, FILE, [(CpuQuota, Strong), (PacketRate, Mild)]),
        (Node, Group, false, FILE, [(PacketLoss, Strong), (CrowdedCores, Medium)]),
        (Apache, Nothing, true, FILE, [(CrowdedCores, Medium), (LinkRate, Strong)]),
        (Nginx, Nothing, false, FILE, [(LinkRate, Mild), (GeneratorCpu, Medium)]),
        (BuiltIn, Group, true, FILE, [(GeneratorCpu, Medium), (CpuQuota, Strong)]),
        (Nginx, Group, false, DISK_READS, [(DiskOperations, Strong), (DiskBytes, Medium)]),
        (Gunicorn, Process, false, DISK_READS, [(DiskBytes, Strong), (CpuQuota, Strong)]),
        (Nginx, Nothing, false, DISK_READS, [(CpuQuota, Strong), (DiskOperations, Medium)]),
        (Nginx, Group, false, MANY_FILES, [(CpuQuota, Strong), (MemoryLimit, Strong)]),
        (Nginx, Process, false, MANY_FILES, [(MemoryLimit, Strong), (CpuQuota, Strong)]),
        (Fpm, Process, false, PAGE, [(CpuQuota, Medium), (GeneratorLink, Strong)]),
    ]
};

/// Returns all cases.
pub(super) fn cases() -> Vec<MovingCase> {
    let case = |(index, (server, watched, has_neighbor, work, throttles)): (usize, &Draft)| {
        let number = index + 1;
        let (mode, is_told) = match watched {
            WatchTarget::Nothing => (RunMode::Plain, false),
            WatchTarget::Process => (RunMode::Watch, false),
            WatchTarget::Group => (RunMode::Watch, true),
        };
        let server = *server;
        let has_neighbor = *has_neighbor;
        let phases = throttles.map(|(kind, strength)| SampleCase {
            number,
            kind,
            strength,
            server,
            mode,
            is_told,
            has_neighbor,
        });
        MovingCase { number, phases, work: *work }
    };
    DRAFTS.iter().enumerate().map(case).collect()
}

impl MovingCase {
    /// Returns the numbers under each throttle, which differ in nothing else.
    pub(super) fn settings(&self) -> [Setting; 2] {
        let [first, second] = self.phases.each_ref().map(Setting::of);
        let users = first.users.max(second.users);
        let is_linked = first.is_linked || second.is_linked;
        let request_bytes = first.request_bytes.max(second.request_bytes);
        [first, second].map(|one| Setting { work: self.work, users, is_linked, request_bytes, ..one })
    }

    /// Measures the proof of each throttle.
    fn proofs(&self, plimsoll: &Path) -> Result<[CaseProof; 2]> {
        let [first, second] = self.settings();
        Ok([
            CaseProof::measure(&self.phases[0], &first, plimsoll)?,
            CaseProof::measure(&self.phases[1], &second, plimsoll)?,
        ])
    }

    /// Makes the line of the record.
    fn line(&self, tried: Result<(MovingTrial, [CaseProof; 2])>) -> Value {
        let (trial, proofs) = match tried {
            Ok(tried) => tried,
            Err(error) => return json!({ "case": self.to_string(), "error": format!("{error:#}") }),
        };
        let is_right = trial.is_right(self);
        let sentence = trial.sentence.clone();
        let agrees = trial.agrees();
        let holds = proofs.iter().all(CaseProof::holds);
        let phases = self.phases.iter().zip(trial.phases.into_iter().zip(proofs));
        let phases: Vec<Value> = phases.map(|(phase, tried)| line_of(phase, &Ok(tried))).collect();
        json!({
            "case": self.to_string(),
            "right": is_right,
            "sentence": sentence,
            "agrees": agrees,
            "proof": { "holds": holds },
            "phases": phases,
        })
    }
}

impl RecordedCase for MovingCase {
    fn try_for_record(&self, plimsoll: &Path) -> Value {
        let trial = MovingTrial::run(self, plimsoll, RunAim::Moves);
        self.line(trial.and_then(|trial| Ok((trial, self.proofs(plimsoll)?))))
    }
}

impl fmt::Display for MovingCase {
    /// Formats the name: `05 packet-loss strong then crowded-cores medium node watch told`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.phases;
        let throttles = [first, second].map(SampleCase::throttle_name).join(" then ");
        write!(f, "{:02} {throttles} {}", self.number, first.way_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: what a case is about is in its throttles alone, and each of them can be relaxed.
    #[test]
    fn the_throttles_of_a_case_differ_in_their_own_resource_only() {
        for case in cases() {
            let [first, second] = case.settings();
            let [one, other] = case.phases.map(|phase| phase.kind);
            let free = |setting: &Setting, kind| Setting {
                cpus: first.cpus.clone(),
                ..setting.relaxed(kind).unwrap()
            };
            assert_eq!(free(&first, one), free(&second, other), "{case}");
            assert_ne!(one.right_names(), other.right_names(), "{case}");
        }
    }

    #[test]
    fn plain_and_watched_servers_with_and_without_neighbors_occur() {
        let cases = cases();
        assert!((12..=16).contains(&cases.len()));
        let has = |is: fn(&SampleCase) -> bool| cases.iter().any(|case| is(&case.phases[0]));
        assert!(has(|case| case.mode == RunMode::Plain) && has(|case| case.mode == RunMode::Watch));
        assert!(has(|case| case.is_told) && has(|case| case.has_neighbor) && has(|case| !case.has_neighbor));
        // Only a server that was started here keeps running while its limits change.
        assert!(!has(|case| case.mode == RunMode::Recipe));
        let mut names: Vec<String> = cases.iter().map(MovingCase::to_string).collect();
        assert_eq!(names[4], "05 packet-loss strong then crowded-cores medium node watch told");
        names.dedup();
        assert_eq!(names.len(), cases.len());
    }
}
