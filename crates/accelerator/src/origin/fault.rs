//! Faulty responses, for the operator: what is wrong with them, without a line for each.

use std::sync::{Mutex, PoisonError};

use units::Nanos;

use super::servers::Servers;

/// The shortest time between two notices about one server.
const INTERVAL: Nanos = Nanos::from_secs(60);

/// The faulty responses of a server since the last notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFault {
    /// The server.
    pub address: String,
    /// Their number.
    pub responses: u64,
    /// The reason for which the last of them is faulty.
    pub reason: String,
}

/// The faulty responses of one server, until the next notice.
#[derive(Debug, Default)]
pub(super) struct FaultRecord(Mutex<Faults>);

#[derive(Debug, Default)]
struct Faults {
    responses: u64,
    reason: String,
    /// The time of the last notice.
    told: Option<Nanos>,
}

impl FaultRecord {
    fn note(&self, reason: String) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.responses += 1;
        faults.reason = reason;
    }

    /// Takes the number of responses and the last reason, if there is to be a notice now.
    fn take(&self, now: Nanos) -> Option<(u64, String)> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = faults.told.is_none_or(|told| INTERVAL <= now.saturating_sub(told));
        if faults.responses == 0 || !is_due {
            return None;
        }
        faults.told = Some(now);
        Some((std::mem::take(&mut faults.responses), std::mem::take(&mut faults.reason)))
    }
}

impl Servers {
    /// Notes that a response of a server is not valid HTTP.
    pub(super) fn note_fault(&self, index: usize, reason: String) {
        if let Some(server) = self.all.get(index) {
            server.faults.note(reason);
        }
    }

    /// Takes the faulty responses since the last notice; each server has one a minute at most.
    pub fn take_faults(&self) -> Vec<ServerFault> {
        let now = self.now();
        let taken = self.all.iter().filter_map(|server| {
            let (responses, reason) = server.faults.take(now)?;
            Some(ServerFault { address: server.address.clone(), responses, reason })
        });
        taken.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_notice_a_minute() {
        let record = FaultRecord::default();
        let at = Nanos::from_secs;
        assert_eq!(record.take(at(0)), None);
        record.note("a".to_owned());
        assert_eq!(record.take(at(1)), Some((1, "a".to_owned())));
        ["b", "c"].iter().for_each(|reason| record.note((*reason).to_owned()));
        assert_eq!(record.take(at(60)), None);
        assert_eq!(record.take(at(61)), Some((2, "c".to_owned())));
        assert_eq!(record.take(at(200)), None);
    }
}
