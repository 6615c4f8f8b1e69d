//! The wording of faults and contradictions of a record.

use analysis::finding::{
    DetailDifference, EqualTotals, FirstOccurrence, FlowFault, FlowLaw, IntervalFault, KindMeasure,
    LocatedFault, MeasureMismatch, MissingLoad, OverflowingPart, TimesExtent, UnequalTotals, ValueMoment,
};

/// Writes the first occurrence of a fault, and the number of further ones.
pub(super) fn with_others<T>(found: &FirstOccurrence<T>, text: impl FnOnce(&T) -> String) -> String {
    let first = text(&found.first);
    match found.n_more {
        0 => first,
        1 => format!("{first}; and 1 more time"),
        n => format!("{first}; and {n} more times"),
    }
}

pub(super) fn interval_fault(found: &LocatedFault<IntervalFault>) -> String {
    let fault = match found.fault {
        IntervalFault::Index { expected } => format!("is in the place of interval {expected}"),
        IntervalFault::Start { start, end_before } => {
            format!("begins at {start}, but the one before it ends at {end_before}")
        }
        IntervalFault::Length { length, limit } => format!("is {length} long, more than {limit}"),
        IntervalFault::Phase { start, end, phase, planned } => {
            let phase = phase.name();
            let planned = planned.name();
            format!("from {start} to {end} has phase {phase}; by the plan it begins in {planned}")
        }
    };
    format!("{} {fault}", place(found))
}

pub(super) fn overflow(part: &OverflowingPart) -> String {
    let place = match part {
        OverflowingPart::Interval { interval, agent } => format!("interval {interval} of agent {agent}"),
        OverflowingPart::Detail { agent, start } => format!("details of agent {agent} from {start}"),
    };
    format!("{place}: histograms hold too many values to be merged")
}

pub(super) fn missing_load(found: &MissingLoad) -> String {
    match found {
        MissingLoad::Agents { interval, found, expected } => {
            format!("interval {interval} has records of {found} load agents, the first one of {expected}")
        }
        MissingLoad::Threads { interval, found, planned } => {
            format!("interval {interval} has {found} load threads, the plan {planned}")
        }
    }
}

pub(super) fn flow_fault(found: &LocatedFault<FlowFault>) -> String {
    let fault = match found.fault {
        FlowFault::Unequal { law, left, right } => {
            format!("{} does not hold: {left} ≠ {right}", law_name(law))
        }
        FlowFault::LeftOpen { left_open, ok } => {
            format!("{left_open} connections left open by {ok} successes")
        }
    };
    format!("{}: {fault}", place(found))
}

fn law_name(law: FlowLaw) -> &'static str {
    match law {
        FlowLaw::Due => "waiting + due = started + skipped + still waiting",
        FlowLaw::Started => "in flight + started = ended + still in flight",
        FlowLaw::Waiting => "waiting at the start = waiting at the end before",
        FlowLaw::InFlight => "in flight at the start = in flight at the end before",
    }
}

pub(super) fn unequal_totals(found: &LocatedFault<UnequalTotals>) -> String {
    let UnequalTotals { totals, found: one, expected } = found.fault;
    format!("{}: {} differ, {one} and {expected}", place(found), totals_name(totals))
}

fn totals_name(totals: EqualTotals) -> &'static str {
    match totals {
        EqualTotals::Kinds => "operation kinds",
        EqualTotals::Successes => "successes of all kinds and their total",
        EqualTotals::Failures => "failures of all kinds and their total",
        EqualTotals::TimedOut => "timed out of all kinds and their total",
        EqualTotals::Codes => "protocol codes of failures and failures",
        EqualTotals::InFlight => "in flight of all kinds and their total",
        EqualTotals::ResponseTimes => "response times and successes",
        EqualTotals::ServiceTimes => "service times and successes",
        EqualTotals::Latenesses => "latenesses and started operations",
        EqualTotals::ResponseSum => "sums of response times (ns)",
        EqualTotals::ResponseMin => "smallest response times (ns)",
        EqualTotals::ResponseMax => "largest response times (ns)",
        EqualTotals::NoticeKinds => "kinds of notices",
        EqualTotals::Notices => "notices awaited, and those that came, were lost or are awaited still,",
        EqualTotals::AwaitedNotices => "notices awaited at the start and at the end before",
    }
}

pub(super) fn kind_measure(found: &LocatedFault<KindMeasure>) -> String {
    let KindMeasure { kind, measure, fault } = &found.fault;
    let fault = match fault {
        MeasureMismatch::Count { values, ok } => format!("{values} values, {ok} operations succeeded"),
        MeasureMismatch::Part { sum, whole, whole_sum } => {
            format!("{sum} in all, more than {whole}, of which they are part: {whole_sum}")
        }
        MeasureMismatch::Expected { sum, ok, least, most } if least == most => {
            format!("{sum} in all, {ok} operations have {least}")
        }
        MeasureMismatch::Expected { sum, ok, least, most } => {
            format!("{sum} in all, {ok} operations have {least} to {most}")
        }
    };
    format!("{}, kind {kind}, {measure}: {fault}", place(found))
}

pub(super) fn detail_difference(difference: &DetailDifference) -> String {
    match difference {
        DetailDifference::Response { kind, details, intervals } => {
            format!("response times of kind {kind}: {}", extents(details, intervals))
        }
        DetailDifference::Measure { name, details, intervals } => {
            format!("{name}: {}", extents(details, intervals))
        }
        DetailDifference::Pause { name, details, intervals } => {
            format!("pauses `{name}`: {}", extents(details, intervals))
        }
        DetailDifference::Notice { name, details, intervals } => {
            format!("notices `{name}`: {}", extents(details, intervals))
        }
        DetailDifference::Failures { kind, outcome, details, intervals } => {
            let outcome = outcome.name();
            format!("failures `{outcome}` of kind {kind}: {details} in details, {intervals} in intervals")
        }
    }
}

fn extents(details: &TimesExtent, intervals: &TimesExtent) -> String {
    let text = |extent: &TimesExtent| {
        let TimesExtent { n, sum, min, max } = extent;
        format!("{n} with sum {sum} ns from {min} to {max} ns")
    };
    format!("{} in details, {} in intervals", text(details), text(intervals))
}

pub(super) fn moment_name(moment: ValueMoment) -> &'static str {
    match moment {
        ValueMoment::Sum => "sum",
        ValueMoment::SumOfSquares => "sum of squares",
    }
}

fn place<T>(found: &LocatedFault<T>) -> String {
    format!("interval {} of agent {}", found.interval, found.agent)
}
