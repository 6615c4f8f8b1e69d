//! The headroom of the load generator, by the CPU time that was really left.

use model::{Counter, MachineRole, Plan};

use crate::finding::Finding;
use crate::resources::{ResourceUsage, SeriesUsage, ratio};
use crate::{Analysis, LoadPointResult};

/// One CPU of the machine that made the load.
struct Cpu {
    number: Option<u32>,
    /// The busy share, from 0 to 1.
    busy: f64,
}

/// The load that the generator could have made, as a multiple of what it made, by what is scarcest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorHeadroom {
    /// The multiple, from 1.
    pub times: f64,
    /// The time that it is computed from.
    pub from: HeadroomSource,
}

/// The CPU time from which headroom is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadroomSource {
    /// The idle time of the generator's own CPUs.
    OwnCpus,
    /// The idle time of CPUs that generator and server share.
    SharedCpus,
    /// The time that its threads can use, one CPU each.
    Threads,
}

/// Returns whether load threads were at their limit at some load point, and the server was not at its own, so that more of
/// them may carry more. By the rule of the verdict: a server whose limit is not known does not count as full.
pub fn load_threads_were_full(analysis: &Analysis) -> bool {
    let mut reasons = analysis.load_points.iter().flat_map(|point| &point.verdict.reasons);
    reasons.any(|reason| matches!(reason.finding, Finding::GeneratorBusy { .. }))
}

/// Returns the multiple of the load that the generator could have made with the idle CPU time; `None` if the
/// load machine was not monitored, or the generator used no CPU time.
///
/// On CPUs of its own: (G + I) ÷ G, with G the time that its threads used and I the idle time. Where it shares CPUs
/// with the server, more load needs more of both, and other programs continue: (G + S + I) ÷ (G + S), with I the idle
/// time of all CPUs and S the time that the server used. Never more than its threads could use, T ÷ G.
pub fn generator_headroom(plan: &Plan, point: &LoadPointResult) -> Option<GeneratorHeadroom> {
    let generator = point.generator_cpus(plan);
    let (role, cpus) = cpus_of_generator(&point.resources)?;
    if generator <= 0.0 {
        return None;
    }
    let is_given = |cpu: &Cpu, given: &[u32]| cpu.number.is_some_and(|number| given.contains(&number));
    let idle = |cpus: &mut dyn Iterator<Item = &Cpu>| cpus.map(|cpu| 1.0 - cpu.busy).sum::<f64>();
    let has_own_cpus = !plan.load_cpus().is_empty()
        && (role == MachineRole::Load
            || !plan.sut.cpus.is_empty() && plan.load_cpus().iter().all(|cpu| !plan.sut.cpus.contains(cpu)));
    let by_cpus = if has_own_cpus {
        let own = idle(&mut cpus.iter().filter(|cpu| is_given(cpu, &plan.load_cpus())));
        GeneratorHeadroom { times: (generator + own) / generator, from: HeadroomSource::OwnCpus }
    } else {
        // The use of an unmonitored server is unknown: it may be all that the generator does not use.
        let busy: f64 = cpus.iter().map(|cpu| cpu.busy).sum();
        let server = match role {
            MachineRole::Load => 0.0,
            _ => point.sut_cpus.unwrap_or((busy - generator).max(0.0)),
        };
        let times = (generator + server + idle(&mut cpus.iter())) / (generator + server);
        let from = match role {
            MachineRole::Load => HeadroomSource::OwnCpus,
            _ => HeadroomSource::SharedCpus,
        };
        GeneratorHeadroom { times, from }
    };
    let threads = f64::from(plan.load_threads()) / generator;
    let by_threads = GeneratorHeadroom { times: threads, from: HeadroomSource::Threads };
    let least = if threads < by_cpus.times { by_threads } else { by_cpus };
    Some(GeneratorHeadroom { times: least.times.max(1.0), ..least })
}

/// Returns the CPUs of the load machine, and its role.
fn cpus_of_generator(uses: &ResourceUsage) -> Option<(MachineRole, Vec<Cpu>)> {
    let makes_load = |one: &&SeriesUsage| uses.role(one).is_some_and(|role| role != MachineRole::Sut);
    let idle: Vec<&SeriesUsage> =
        uses.series.iter().filter(|one| one.series.counter == Counter::CpuIdle).filter(makes_load).collect();
    let role = uses.role(idle.first()?)?;
    let cpu = |one: &&SeriesUsage| {
        let machine = one.series.machine;
        let name = &one.series.instance;
        let sum = |modes: &[Counter]| -> f64 {
            let of_cpu = uses.series.iter().filter(|other| {
                other.series.machine == machine
                    && other.series.instance == *name
                    && modes.contains(&other.series.counter)
            });
            of_cpu.filter_map(|other| other.value).sum()
        };
        let busy = sum(&Counter::CPU_BUSY);
        let idle = sum(&Counter::CPU_IDLE);
        Some(Cpu { number: name.parse().ok(), busy: ratio(Some(busy), Some(busy + idle))? })
    };
    let cpus = idle.iter().map(cpu).collect::<Option<Vec<Cpu>>>()?;
    Some((role, cpus))
}
