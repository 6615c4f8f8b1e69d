//! The check of what a load agent records, before it is merged with the records of others.
//!
//! A record that can be merged may still be wrong: the first of a second is compared with no other. So each is compared with
//! the plan (its interval, its kinds), with the one before it, with the users of the agent, and with the clock. What is
//! consistent with all of them is believed.

use model::{IntervalRecord, LoadPoint, Phase, Phases, Plan, RecordSource};
use units::Nanos;

use super::serve::SILENCE_MAX;
use crate::agent_error::AgentRecordError;

/// The length of an interval, unless a phase ends in it.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The time by which a record may be there before the controller thinks that its interval is over.
const EARLY_MAX: Nanos = Nanos::from_secs(1);

/// The time by which it may come after that: an agent that is heard, but so late, is as good as silent.
const LATE_MAX: Nanos = SILENCE_MAX;

/// The numbers with which an interval ends and the next one begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Carried {
    waiting: u64,
    in_flight: u64,
    notices: Vec<u64>,
}

/// The check of the records of one agent at one load point.
#[derive(Debug)]
pub(super) struct PartCheck {
    source: RecordSource,
    load_point: u32,
    /// Cut where the agent had no operation left to start.
    phases: Phases,
    /// Whether that may be before the plan says so.
    may_end_early: bool,
    /// The numbers of kinds, pauses, notices and measures. Units may be without names in the catalog.
    parts: [usize; 4],
    users: u64,
    threads: u32,
    /// Records so far.
    n: u64,
    /// The start of the next interval; `None` after one that was cut short, which is the last.
    next: Option<Nanos>,
    carried: Carried,
}

impl PartCheck {
    /// Begins with the records of an agent of a plan at a load point.
    pub(super) fn new(plan: &Plan, agent: u32, point: LoadPoint) -> PartCheck {
        let catalog = &plan.catalog;
        PartCheck {
            source: RecordSource { agent, thread: None },
            load_point: point.index,
            phases: plan.phases,
            may_end_early: plan.operations.is_some(),
            parts: [catalog.kinds.len(), catalog.pauses.len(), catalog.notices.len(), catalog.measures.len()],
            users: plan.users_of_agent(agent as usize, point.load).into(),
            threads: plan.agents.get(agent as usize).map_or(0, |agent| agent.threads),
            n: 0,
            next: Some(Nanos::ZERO),
            carried: Carried { notices: vec![0; catalog.notices.len()], ..Carried::default() },
        }
    }

    /// Returns the index of the load point.
    pub(super) fn load_point(&self) -> u32 {
        self.load_point
    }

    /// Checks the record that comes next. `passed` is the time since the start of the load point, as the controller sees it;
    /// `None` where time is simulated.
    ///
    /// # Errors
    /// The first fault.
    pub(super) fn take(
        &mut self,
        number: u64,
        record: &IntervalRecord,
        passed: Option<Nanos>,
    ) -> Result<(), AgentRecordError> {
        let (of, found) = (record.source(), record.load_point);
        if (of, found) != (self.source, self.load_point) {
            return Err(AgentRecordError::OtherPart { found, of });
        }
        if number != self.n || u64::from(record.index) != self.n {
            let found = if number == self.n { record.index.into() } else { number };
            return Err(AgentRecordError::OutOfOrder { expected: self.n, found });
        }
        let next = self.check_interval(record)?;
        self.check_time(record, passed)?;
        self.check_parts(record)?;
        record.check_counts()?;
        self.check_continuity(record)?;
        self.check_users(record)?;
        self.n += 1;
        self.next = next;
        self.carried = Carried {
            waiting: record.flow.waiting_at_end,
            in_flight: record.flow.in_flight_at_end,
            notices: record.notices.iter().map(|notice| notice.awaited_at_end).collect(),
        };
        Ok(())
    }

    fn check_time(&self, record: &IntervalRecord, passed: Option<Nanos>) -> Result<(), AgentRecordError> {
        let Some(passed) = passed else { return Ok(()) };
        let (index, late) = (record.index, passed.saturating_sub(record.end));
        if passed.saturating_add(EARLY_MAX) < record.end {
            return Err(AgentRecordError::TooEarly { index });
        }
        if LATE_MAX < late { Err(AgentRecordError::TooLate { index, late }) } else { Ok(()) }
    }

    /// Checks that all records have come.
    ///
    /// # Errors
    /// Others were sent.
    pub(super) fn finish(&self, stated: u64) -> Result<(), AgentRecordError> {
        if stated == self.n { Ok(()) } else { Err(AgentRecordError::Count { found: self.n, stated }) }
    }

    /// Returns the start of the interval that comes next; `None` after one that was cut short.
    fn check_interval(&mut self, record: &IntervalRecord) -> Result<Option<Nanos>, AgentRecordError> {
        let other = AgentRecordError::OtherInterval { index: record.index };
        let Some(start) = self.next else { return Err(other) };
        let phase = self.phases.at(start);
        let second = Nanos((start.0 / INTERVAL.0 + 1) * INTERVAL.0);
        let end_of_phase = self.phases.end_of(phase);
        let end = if start < end_of_phase { second.min(end_of_phase) } else { second };
        if (record.start, record.phase) != (start, phase) || record.end < start || end < record.end {
            return Err(other);
        }
        if self.may_end_early && record.end < end && phase != Phase::Drain {
            self.phases = self.phases.ending_at(record.end);
            return Ok(Some(record.end));
        }
        Ok((record.end == end).then_some(end))
    }

    fn check_parts(&self, record: &IntervalRecord) -> Result<(), AgentRecordError> {
        let index = record.index;
        let [kinds, pauses, notices, measures] = self.parts;
        let has_measures = record.kinds.iter().all(|kind| kind.measures.len() == measures);
        let parts = [
            ("kinds of operations", record.kinds.len() == kinds),
            ("pauses", record.pauses.len() == pauses),
            ("notices", record.notices.len() == notices),
            ("measures", has_measures),
            ("readings of the server", record.sut.is_none()),
        ];
        match parts.into_iter().find(|(_, is_right)| !is_right) {
            Some((parts, _)) => Err(AgentRecordError::OtherParts { index, parts }),
            None => Ok(()),
        }
    }

    fn check_continuity(&self, record: &IntervalRecord) -> Result<(), AgentRecordError> {
        let awaited = record.notices.iter().map(|notice| &notice.awaited_at_start);
        let counts = [
            ("operations waiting", record.flow.waiting_at_start == self.carried.waiting),
            ("operations in flight", record.flow.in_flight_at_start == self.carried.in_flight),
            ("notices awaited", awaited.eq(&self.carried.notices)),
        ];
        match counts.into_iter().find(|(_, is_equal)| !is_equal) {
            Some((what, _)) => Err(AgentRecordError::Discontinuous { index: record.index, what }),
            None => Ok(()),
        }
    }

    fn check_users(&self, record: &IntervalRecord) -> Result<(), AgentRecordError> {
        let flow = &record.flow;
        let span = u128::from(self.users) * u128::from(record.end.saturating_sub(record.start).0);
        // Operations began after the load point did.
        let is_too_long = |n: u64, longest: u64| 0 < n && record.end.0 < longest;
        let slowest = record.kinds.iter().any(|kind| is_too_long(kind.response.n, kind.response.max));
        let excesses = [
            ("more operations in flight", self.users < flow.in_flight_at_end),
            ("more time in flight", span < flow.in_flight_ns),
            ("more time of thinking", span < flow.thinking_ns),
            ("more clients", self.users < record.clients.n),
            ("more load threads", self.threads < record.health.threads),
            ("longer response times", slowest),
        ];
        match excesses.into_iter().find(|(_, is_excess)| *is_excess) {
            Some((what, _)) => {
                let (users, threads) = (self.users, self.threads);
                Err(AgentRecordError::TooMuch { index: record.index, what, users, threads })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentPlan, Flow, Load};
    use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, phases};

    use super::*;

    /// Two agents of a thread each, with two users each, for 3 s; the records of the second, as it would send them.
    fn recorded() -> (Plan, Vec<IntervalRecord>) {
        let agents = AgentPlan::in_sequence(vec![AgentPlan::only(1); 2]);
        let plan = Plan { agents, ..closed_plan(7, &[4], phases(0, 3)) };
        let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(10)), Some(4));
        let records = Simulation::new(plan.clone(), server).record().intervals;
        let second = records.into_iter().filter(|record| record.thread == Some(1));
        let sent = second.map(|record| IntervalRecord { agent: 1, thread: None, ..record }).collect();
        (plan, sent)
    }

    fn check(plan: &Plan) -> PartCheck {
        PartCheck::new(plan, 1, LoadPoint { index: 0, load: Load::Users(4) })
    }

    /// Returns the error of the last record after a change; those before are accepted.
    fn refused(change: impl FnOnce(&mut IntervalRecord)) -> String {
        let (plan, mut records) = recorded();
        let mut check = check(&plan);
        let mut last = records.remove(1);
        check.take(0, &records[0], None).unwrap();
        change(&mut last);
        check.take(1, &last, None).unwrap_err().to_string()
    }

    #[test]
    fn what_an_agent_records_is_accepted_in_time() {
        let (plan, records) = recorded();
        let mut part = check(&plan);
        for (number, record) in (0..).zip(&records) {
            part.take(number, record, Some(record.end)).unwrap();
        }
        assert_eq!((records.len(), part.users), (4, 2), "three seconds, and one of the drain");
        assert_eq!(part.finish(4), Ok(()));
        assert_eq!(part.finish(5).unwrap_err().to_string(), "it has sent 4 records and says that they are 5");
        let early = check(&plan).take(0, &records[0], Some(Nanos::ZERO));
        assert_eq!(early, Ok(()), "a second too early is allowed");
        let mut part = check(&plan);
        part.take(0, &records[0], None).unwrap();
        let early = part.take(1, &records[1], Some(Nanos::from_millis(900))).unwrap_err();
        assert_eq!(early.to_string(), "it has sent interval 1 before it was over");
        part.take(1, &records[1], Some(Nanos::from_secs(62))).unwrap();
        let late = part.take(2, &records[2], Some(Nanos::from_millis(63_100))).unwrap_err();
        let text = "interval 2 of them has come 60 s after its end, over a way that is too slow";
        assert_eq!(late.to_string(), text);
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_reason() {
        let second = Nanos::from_secs(1);
        assert_eq!(
            refused(|record| record.load_point = 6),
            "it has sent a record of load point 6 from load agent 1"
        );
        assert_eq!(
            refused(|record| record.agent = 0),
            "it has sent a record of load point 0 from load agent 0"
        );
        assert_eq!(refused(|record| record.index = 2), "it has sent record 2 in place of record 1");
        for change in [
            (|record: &mut IntervalRecord| record.start += Nanos(1)) as fn(&mut IntervalRecord),
            |record| record.end += Nanos(1),
            |record| record.phase = model::Phase::Drain,
        ] {
            assert_eq!(refused(change), "interval 1 of its records is not that of the plan");
        }
        assert_eq!(
            refused(|record| record.kinds.clear()),
            "interval 1 of its records has other kinds of operations than the plan"
        );
        assert_eq!(
            refused(|record| record.flow.ok += 1),
            "load agent 1: the record of interval 1 of load point 0 contradicts itself: it has 202 operations in \
             flight, and 203 in another count of them"
        );
        let carried = |record: &mut IntervalRecord| {
            let Flow { in_flight_at_start, started, .. } = &mut record.flow;
            (*in_flight_at_start, *started) = (*in_flight_at_start - 1, *started + 1);
            record.flow.due += 1;
        };
        assert_eq!(
            refused(carried),
            "interval 1 of its records begins with other operations in flight than the one before ended with"
        );
        assert_eq!(
            refused(|record| record.flow.thinking_ns = 3 * u128::from(second.0)),
            "interval 1 of its records has more time of thinking than its users (2) and load threads (1) can have"
        );
        assert_eq!(
            refused(|record| record.kinds[0].response.max = 3 * second.0),
            "interval 1 of its records has longer response times than its users (2) and load threads (1) can have"
        );
        assert_eq!(
            refused(|record| record.health.threads = 2),
            "interval 1 of its records has more load threads than its users (2) and load threads (1) can have"
        );
        assert_eq!(
            refused(|record| record.sut = Some(model::SutUse::default())),
            "interval 1 of its records has other readings of the server than the plan"
        );
    }

    /// An interval that was cut short is the last.
    #[test]
    fn nothing_follows_an_interval_that_was_cut_short() {
        let (plan, records) = recorded();
        let mut part = check(&plan);
        let cut = IntervalRecord { end: records[0].end.saturating_sub(Nanos(5)), ..records[0].clone() };
        let flow = Flow { in_flight_ns: 0, ..cut.flow };
        part.take(0, &IntervalRecord { flow, ..cut }, None).unwrap();
        assert_eq!(
            part.take(1, &records[1], None).unwrap_err().to_string(),
            "interval 1 of its records is not that of the plan"
        );
    }
}
