//! The memory of what a load thread records.

use model::{IntervalRecord, Page, Request};
use stats::Histogram;
use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, phases, with_seed};

use super::us;

/// Goal: kinds of operation do not cost the memory of all times from 1 ns to an hour.
///
/// Method: 20 kinds, 40 users, exponential service times of 800 µs without a queue. Nearly all times of a kind lie
/// in the five octaves from 66 µs to 2.1 ms, and all of them in 16 (up to 2 s); an octave takes 8 KB. Counts of all
/// buckets took 270 KB a histogram, 6.5 MB a second.
#[test]
fn the_histograms_of_a_second_take_the_memory_of_the_octaves_in_use() {
    with_seed(107, |seed| {
        let mut plan = closed_plan(seed, &[40], phases(0, 3));
        let workload = plan.workload.web_mut().unwrap();
        workload.requests = (0..20).map(|kind| Request::file(&format!("/{kind}"), 500)).collect();
        workload.pages = (0..20).map(|kind| Page { weight: 1, requests: vec![kind] }).collect();
        let recording =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Exponential(us(800)), None))
                .record();
        for record in &recording.intervals[..3] {
            assert!(30_000 < record.flow.ok && record.kinds.iter().all(|kind| kind.response.n > 1_000));
            let memory = memory(record);
            assert!((20 * 5 * 8_192..20 * 16 * 8_192).contains(&memory), "{memory} bytes");
        }
    });
}

/// Returns the memory of all histograms of a record, in bytes.
fn memory(record: &IntervalRecord) -> usize {
    let all = [&record.response, &record.service, &record.lateness];
    let detail = record
        .detail
        .iter()
        .flat_map(|detail| detail.response.iter().chain(detail.failed.values()).chain(&detail.spreads));
    all.into_iter().chain(detail).map(Histogram::memory).sum()
}
