//! Which signs speak for which bottleneck: the table of rules, its thresholds in plain sight.
//!
//! Source of rules and thresholds: the attribution rules of the order-entry specification (7.4), extended by quotas,
//! queueing disciplines and accept queues.

use super::{Bottleneck, Sign, Signs};

/// The threshold of an indicator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// At least this.
    AtLeast(f64),
    /// Below this.
    Below(f64),
}

/// One condition on one sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// The sign.
    pub sign: Sign,
    /// The threshold that it must pass.
    pub threshold: Threshold,
}

/// A bottleneck and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cause {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// All of these must be known and hold.
    pub all: &'static [Condition],
    /// These must hold as far as they are known.
    pub unless_unknown: &'static [Condition],
    /// Whether no limit was seen to be reached: it is concluded from what grew or did not, or from what the whole machine
    /// counts. Such a bottleneck is only probable.
    pub is_indirect: bool,
}

const fn at_least(sign: Sign, threshold: f64) -> Condition {
    Condition { sign, threshold: Threshold::AtLeast(threshold) }
}

const fn below(sign: Sign, threshold: f64) -> Condition {
    Condition { sign, threshold: Threshold::Below(threshold) }
}

/// The server's CPUs are not what is full.
const CPU_FREE: &[Condition] = &[below(Sign::ProcessorUse, 0.90)];

/// The server's CPUs are not what is full, and something holds its rate back: who is accepted a little late and served
/// all the same has met no limit.
const HELD_BACK: &[Condition] = &[below(Sign::ProcessorUse, 0.90), below(Sign::RateOfIdeal, 0.95)];

/// The server's CPUs are not what is full, and the disks are busy with its own requests.
const ITS_DISKS: &[Condition] =
    &[below(Sign::ProcessorUse, 0.90), at_least(Sign::DiskRequestsPerOperation, 0.01)];

/// The rate is held back, and not by the disks: a user whose requests are served in time has met no limit.
const SLOWED: &[Condition] = &[below(Sign::RateOfIdeal, 0.95), below(Sign::DiskBusy, 0.60)];

/// Its disks are not what is full.
const DISK_FREE: &[Condition] = &[below(Sign::DiskBusy, 0.60)];

const fn cause(
    bottleneck: Bottleneck,
    all: &'static [Condition],
    unless_unknown: &'static [Condition],
) -> Cause {
    Cause { bottleneck, all, unless_unknown, is_indirect: false }
}

const fn indirect(
    bottleneck: Bottleneck,
    all: &'static [Condition],
    unless_unknown: &'static [Condition],
) -> Cause {
    Cause { is_indirect: true, ..cause(bottleneck, all, unless_unknown) }
}

/// All rules; the first that holds names the bottleneck.
pub const CAUSES: &[Cause] = &[
    cause(Bottleneck::Generator, &[at_least(Sign::GeneratorFault, 1.0)], &[]),
    // What memory lacks shows as CPU time of the kernel and at the disks as well, so it is asked first.
    cause(
        Bottleneck::Memory,
        &[at_least(Sign::RefaultsPerOperation, 0.10), at_least(Sign::MemoryPressure, 0.10)],
        &[],
    ),
    cause(
        Bottleneck::Memory,
        &[at_least(Sign::RefaultsPerOperation, 0.10), at_least(Sign::MemoryLimitHits, 1.0)],
        &[],
    ),
    cause(Bottleneck::Memory, &[at_least(Sign::MemoryPressure, 0.10)], CPU_FREE),
    cause(Bottleneck::Processor, &[at_least(Sign::ProcessorUse, 0.95)], &[]),
    cause(
        Bottleneck::Processor,
        &[at_least(Sign::ProcessorUse, 0.90), at_least(Sign::CpuPressure, 0.20)],
        DISK_FREE,
    ),
    cause(
        Bottleneck::Processor,
        &[at_least(Sign::ProcessorUse, 0.90), at_least(Sign::RunnablePerCpu, 1.0)],
        DISK_FREE,
    ),
    cause(Bottleneck::Processor, &[at_least(Sign::ProcessorUse, 0.90)], SLOWED),
    // Its CPUs are full, although a part of what they do, as for the network, is on nobody's account.
    cause(
        Bottleneck::Processor,
        &[at_least(Sign::CpuBusy, 0.97), at_least(Sign::ProcessorUse, 0.80)],
        SLOWED,
    ),
    // A server with one thread fills one CPU of several: who waits for it, and where, is a consequence.
    cause(Bottleneck::Processor, &[at_least(Sign::BusiestThread, 0.90)], SLOWED),
    cause(
        Bottleneck::Processor,
        &[at_least(Sign::CpuBusiest, 0.98), at_least(Sign::ServerCpus, 0.90), below(Sign::RateGrowth, 1.05)],
        DISK_FREE,
    ),
    cause(Bottleneck::DiskOperations, &[at_least(Sign::DiskOperationsOfShare, 0.90)], CPU_FREE),
    cause(Bottleneck::DiskBandwidth, &[at_least(Sign::DiskBytesOfShare, 0.90)], CPU_FREE),
    cause(
        Bottleneck::DiskBandwidth,
        &[at_least(Sign::DiskBusy, 0.90), at_least(Sign::DiskRequestBytes, 65536.0)],
        ITS_DISKS,
    ),
    cause(Bottleneck::DiskOperations, &[at_least(Sign::DiskBusy, 0.90)], ITS_DISKS),
    cause(
        Bottleneck::DiskBandwidth,
        &[at_least(Sign::IoPressure, 0.30), at_least(Sign::DiskRequestBytes, 65536.0)],
        ITS_DISKS,
    ),
    cause(Bottleneck::DiskOperations, &[at_least(Sign::IoPressure, 0.30)], ITS_DISKS),
    indirect(
        Bottleneck::DiskOperations,
        &[at_least(Sign::DiskGrowth, 3.0), at_least(Sign::IoPressure, 0.05)],
        ITS_DISKS,
    ),
    cause(Bottleneck::Network, &[at_least(Sign::NetworkBusy, 0.85)], CPU_FREE),
    cause(Bottleneck::Network, &[at_least(Sign::QueueBacklog, 1500.0)], HELD_BACK),
    cause(Bottleneck::Network, &[at_least(Sign::QueueDrops, 1.0)], HELD_BACK),
    cause(Bottleneck::WorkerLimit, &[at_least(Sign::WorkersBusy, 0.98)], CPU_FREE),
    cause(
        Bottleneck::WorkerLimit,
        &[at_least(Sign::InFlightPerWorker, 1.2), below(Sign::RateOfIdeal, 0.95)],
        CPU_FREE,
    ),
    cause(Bottleneck::AcceptBacklog, &[at_least(Sign::ListenOverflows, 1.0)], CPU_FREE),
    indirect(Bottleneck::AcceptBacklog, &[at_least(Sign::SynRetransmits, 1.0)], CPU_FREE),
    indirect(Bottleneck::Network, &[at_least(Sign::Retransmits, 0.01)], HELD_BACK),
    // A thread that is nearly full makes others wait before it is full on average.
    indirect(Bottleneck::Processor, &[at_least(Sign::BusiestThread, 0.80)], SLOWED),
    indirect(Bottleneck::WorkerLimit, &[at_least(Sign::AcceptQueue, 1.0)], HELD_BACK),
    cause(Bottleneck::None, &[at_least(Sign::RateOfIdeal, 0.95)], &[below(Sign::ProcessorUse, 0.95)]),
    indirect(
        Bottleneck::Scheduler,
        &[at_least(Sign::SwitchGrowth, 3.0), below(Sign::RateGrowth, 1.05), below(Sign::ProcessorUse, 0.70)],
        &[],
    ),
    indirect(Bottleneck::Waiting, &[below(Sign::RateGrowth, 1.05), below(Sign::ProcessorUse, 0.85)], &[]),
    // From one user to many, a rate that grows by a few percent does not grow.
    indirect(
        Bottleneck::Waiting,
        &[
            below(Sign::RateOfLoadGrowth, 0.10),
            below(Sign::RateOfIdeal, 0.50),
            below(Sign::ProcessorUse, 0.60),
        ],
        DISK_FREE,
    ),
];

impl Condition {
    /// Returns whether the sign is known and holds.
    pub fn holds(&self, signs: &Signs) -> bool {
        signs.get(&self.sign).is_some_and(|value| match self.threshold {
            Threshold::AtLeast(least) => least <= *value,
            Threshold::Below(limit) => *value < limit,
        })
    }

    fn is_contradicted(&self, signs: &Signs) -> bool {
        signs.contains_key(&self.sign) && !self.holds(signs)
    }
}

impl Cause {
    /// Returns whether the signs speak for this bottleneck.
    pub fn holds(&self, signs: &Signs) -> bool {
        self.all.iter().all(|condition| condition.holds(signs))
            && !self.unless_unknown.iter().any(|condition| condition.is_contradicted(signs))
    }

    /// Returns the conditions whose signs are known, with what was found.
    pub fn evidence(&self, signs: &Signs) -> Vec<(Condition, f64)> {
        let conditions = self.all.iter().chain(self.unless_unknown);
        conditions.filter_map(|condition| Some((*condition, *signs.get(&condition.sign)?))).collect()
    }
}

/// Returns the first rule that holds; `None` if none does.
pub fn find_cause(signs: &Signs) -> Option<&'static Cause> {
    CAUSES.iter().find(|cause| cause.holds(signs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(signs: &[(Sign, f64)]) -> Bottleneck {
        find_cause(&signs.iter().copied().collect())
            .map_or(Bottleneck::Undetermined, |cause| cause.bottleneck)
    }

    /// The examples of the order-entry specification, 9.8.
    #[test]
    fn the_specified_examples_are_named() {
        use Sign::*;
        for (signs, expected) in [
            (&[(ProcessorUse, 0.97), (RunnablePerCpu, 4.5), (DiskBusy, 0.12)][..], Bottleneck::Processor),
            (&[(ProcessorUse, 0.41), (DiskBusy, 0.99), (DiskGrowth, 4.0)], Bottleneck::DiskOperations),
            (
                &[(ProcessorUse, 0.40), (SwitchGrowth, 4.0), (DiskBusy, 0.05), (RateGrowth, 1.0)],
                Bottleneck::Scheduler,
            ),
            (&[(ProcessorUse, 0.35), (DiskBusy, 0.10), (RateGrowth, 1.01)], Bottleneck::Waiting),
            (&[(ProcessorUse, 0.55), (NetworkBusy, 0.96)], Bottleneck::Network),
            (&[(GeneratorFault, 1.0), (ProcessorUse, 0.61)], Bottleneck::Generator),
        ] {
            assert_eq!(named(signs), expected, "{signs:?}");
        }
    }

    #[test]
    fn a_full_server_is_not_called_anything_else() {
        use Sign::*;
        let full = (ProcessorUse, 0.99);
        for other in [(IoPressure, 0.5), (ListenOverflows, 30.0), (AcceptQueue, 50.0), (QueueDrops, 3.0)] {
            assert_eq!(named(&[full, other]), Bottleneck::Processor, "{other:?}");
        }
    }

    #[test]
    fn who_waits_to_be_accepted_is_a_limit_only_where_the_rate_suffers() {
        use Sign::*;
        let waiting = [(AcceptQueue, 2.0), (ProcessorUse, 0.7)];
        let with = |ideal| [&waiting[..], &[(RateOfIdeal, ideal)]].concat();
        assert_eq!(named(&waiting), Bottleneck::WorkerLimit);
        assert_eq!(named(&with(0.6)), Bottleneck::WorkerLimit);
        assert_eq!(named(&with(1.0)), Bottleneck::None);
    }

    /// The reported case: a server with one worker on two CPUs, which used 90 % of one of them, was bound by a lock, the
    /// network, its workers or nothing in particular, by what else stood out.
    #[test]
    fn a_full_thread_is_not_called_anything_else() {
        use Sign::*;
        for thread in [0.90, 0.97] {
            let one = [(ProcessorUse, thread / 2.0), (BusiestThread, thread), (RateOfIdeal, 0.3)];
            for other in [
                (AcceptQueue, 12.0),
                (RateGrowth, 1.01),
                (Retransmits, 0.02),
                (QueueBacklog, 3000.0),
                (RateOfLoadGrowth, 0.01),
                (SwitchGrowth, 5.0),
                (ListenOverflows, 2.0),
            ] {
                assert_eq!(
                    named(&[&one[..], &[other]].concat()),
                    Bottleneck::Processor,
                    "{thread} {other:?}"
                );
            }
        }
        // A thread that keeps up with what it is asked for is no limit yet.
        assert_eq!(
            named(&[(ProcessorUse, 0.46), (BusiestThread, 0.92), (RateOfIdeal, 1.0)]),
            Bottleneck::None
        );
        // Nor are disks that are full because of it.
        assert_eq!(
            named(&[
                (ProcessorUse, 0.46),
                (BusiestThread, 0.92),
                (DiskBusy, 0.95),
                (DiskRequestsPerOperation, 1.0)
            ]),
            Bottleneck::DiskOperations
        );
    }

    #[test]
    fn between_nine_tenths_and_full_the_processor_is_named_without_further_signs() {
        use Sign::*;
        for used in [0.90, 0.93, 0.95] {
            assert_eq!(named(&[(ProcessorUse, used), (RateOfIdeal, 0.5)]), Bottleneck::Processor, "{used}");
        }
        assert_eq!(
            named(&[(ProcessorUse, 0.84), (CpuBusy, 0.99), (RateOfIdeal, 0.5)]),
            Bottleneck::Processor
        );
    }

    /// A cause concluded from growth, or from what all programs of a machine share, is never more than probable.
    #[test]
    fn locks_are_concluded_and_full_cpus_are_seen() {
        use Sign::*;
        let is_indirect =
            |signs: &[(Sign, f64)]| find_cause(&signs.iter().copied().collect()).unwrap().is_indirect;
        assert!(is_indirect(&[(RateGrowth, 1.01), (ProcessorUse, 0.3)]));
        assert!(is_indirect(&[(Retransmits, 0.02), (ProcessorUse, 0.3)]));
        assert!(!is_indirect(&[(ProcessorUse, 0.97)]));
    }

    #[test]
    fn nothing_known_names_nothing() {
        assert_eq!(named(&[]), Bottleneck::Undetermined);
        assert_eq!(named(&[(Sign::ProcessorUse, 0.3)]), Bottleneck::Undetermined);
    }
}
