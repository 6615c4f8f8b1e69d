//! The Disk Mix: golden checks 18 and 19 of the specification, and what holds on servers that fail.

use std::collections::BTreeSet;

use files::{
    CYCLE_OPERATIONS, DiskMix, DiskMixClient, FileAction, FileAnswer, FileContent, FileKind, FileOperation,
    FilePopulation, FileStep, PadUse, Workspace,
};
use proptest::prelude::*;
use units::{Rng, StreamPurpose};

use crate::share::{Share, is_created};

/// Performs a cycle on a server where everything succeeds.
fn cycle(client: &mut DiskMixClient, mut perform: impl FnMut(&FileOperation)) {
    let mut answer = None;
    loop {
        match client.next(answer.take()) {
            FileStep::Perform(operation) => {
                perform(&operation);
                answer = Some(FileAnswer::Done);
            }
            FileStep::UnitEnd => return,
            step => panic!("{step:?}"),
        }
    }
}

fn share(mix: &DiskMix, n_clients: u32) -> Share {
    Share::new(FilePopulation { workspace: mix.workspace, n_clients }.files())
}

/// Operations and bytes of cycles.
#[derive(Debug, Default)]
struct Totals {
    counts: [u64; FileKind::COUNT],
    read_bytes: u64,
    written_bytes: u64,
    read_sizes: [u64; 8],
    write_sizes: [u64; 8],
    n_cycles: u64,
}

impl Totals {
    fn of(mix: DiskMix, n_cycles: u32) -> Totals {
        let mut totals = Totals { n_cycles: n_cycles.into(), ..Totals::default() };
        let mut client = mix.client(5);
        for _ in 0..n_cycles {
            cycle(&mut client, |operation| totals.add(operation));
        }
        assert_eq!(client.n_cycles(), n_cycles);
        totals
    }

    fn add(&mut self, operation: &FileOperation) {
        self.counts[operation.kind().index()] += 1;
        self.read_bytes += operation.read_bytes();
        self.written_bytes += operation.written_bytes();
        match operation.action {
            FileAction::Read(_, range) => self.read_sizes[size_class(range.length)] += 1,
            FileAction::Write(_, range) => self.write_sizes[size_class(range.length)] += 1,
            _ => {}
        }
    }

    fn n_operations(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the share of kinds together, in percent.
    fn percent(&self, kinds: &[FileKind]) -> f64 {
        let count: u64 = kinds.iter().map(|kind| self.counts[kind.index()]).sum();
        100.0 * count as f64 / self.n_operations() as f64
    }
}

/// The classes of the specification: 1; 2–512; to 2, 4, 8, 16, 32 and 64 KiB.
fn size_class(bytes: u64) -> usize {
    [1, 512, 2048, 4096, 8192, 16_384, 32_768, 65_536].iter().position(|most| bytes <= *most).unwrap()
}

/// Kinds, their share of the load file's body in percent, and the greatest difference in percentage points.
const SHARES: [(&[FileKind], f64, f64); 14] = [
    (&[FileKind::Read], 27.133, 0.8),
    (&[FileKind::Write], 8.544, 0.4),
    (&[FileKind::Open, FileKind::OpenMissing, FileKind::Create], 17.294, 0.2),
    (&[FileKind::PathHit, FileKind::PathMiss], 15.689, 0.2),
    (&[FileKind::Close], 12.700, 0.2),
    (&[FileKind::FindHit, FileKind::FindMiss], 6.065, 0.1),
    (&[FileKind::Unlink], 3.495, 0.1),
    (&[FileKind::VolumeQuery], 2.876, 0.1),
    (&[FileKind::FileQuery], 2.734, 0.1),
    (&[FileKind::Set], 1.410, 0.1),
    (&[FileKind::Flush], 1.213, 0.1),
    (&[FileKind::Rename], 0.733, 0.1),
    (&[FileKind::Lock], 0.056, 0.1),
    (&[FileKind::Unlock], 0.056, 0.1),
];

/// Golden check 18, on ten seeds, without and with shared files: shares, operations and bytes per cycle.
#[test]
fn a_hundred_cycles_have_the_shares_and_bytes_of_the_load_file() {
    for seed in 0..10 {
        for mix in [DiskMix::unshared(seed), DiskMix::new(seed)] {
            let totals = Totals::of(mix, 100);
            for (kinds, percent, difference) in SHARES {
                let found = totals.percent(kinds);
                assert!((found - percent).abs() <= difference, "seed {seed}: {kinds:?} {found}");
            }
            let per_cycle = |total: u64| total as f64 / totals.n_cycles as f64;
            let near = |found: f64, expected: f64, share: f64| (found / expected - 1.0).abs() <= share;
            let operations = per_cycle(totals.n_operations());
            assert!(near(operations, CYCLE_OPERATIONS.into(), 0.01), "seed {seed}: {operations} operations");
            let read = per_cycle(totals.read_bytes) / 1e6;
            let written = per_cycle(totals.written_bytes) / 1e6;
            assert!(near(read, 11.41, 0.02), "seed {seed}: {read} MB read");
            assert!(near(written, 7.77, 0.03), "seed {seed}: {written} MB written");
            assert!((1.43..=1.51).contains(&(read / written)), "seed {seed}: {}", read / written);
        }
    }
}

/// Table of section 3.4: classes of request sizes, in percent, within one percentage point.
#[test]
fn requests_have_the_sizes_of_the_fitted_mix() {
    let totals = Totals::of(DiskMix::unshared(1), 200);
    let check = |found: [u64; 8], expected: [f64; 8]| {
        let total: u64 = found.iter().sum();
        for (found, expected) in found.into_iter().zip(expected) {
            let percent = 100.0 * found as f64 / total as f64;
            assert!((percent - expected).abs() < 1.0, "{percent} in place of {expected}");
        }
    };
    check(totals.read_sizes, [0.0, 4.7, 8.0, 68.2, 4.0, 1.5, 0.3, 13.3]);
    check(totals.write_sizes, [19.3, 4.4, 3.5, 23.8, 4.0, 4.6, 3.2, 37.3]);
}

/// Golden check 19: 124 files are created and deleted, none is left, and the workspace has the files that it had.
#[test]
fn a_cycle_leaves_the_workspace_as_it_was() {
    for (seed, mix) in [(1, DiskMix::new(1)), (2, DiskMix::unshared(2)), (3, DiskMix::new(3))] {
        let mut share = share(&mix, 2);
        let before: Vec<_> = share.sizes.keys().copied().collect();
        let mut client = mix.client(1);
        for n_cycles in 1..=10 {
            let mut created = 0;
            let mut deleted = 0;
            cycle(&mut client, |operation| {
                created += u32::from(operation.kind() == FileKind::Create);
                deleted += u32::from(operation.kind() == FileKind::Unlink);
                share.perform(operation);
            });
            assert_eq!((created, deleted), (124, 124), "seed {seed}");
            assert!(!share.is_anything_open());
            assert_eq!(
                share.sizes.keys().copied().collect::<Vec<_>>(),
                before,
                "seed {seed}, cycle {n_cycles}"
            );
        }
    }
}

/// Golden check 19: the same seed gives a log that is the same to the byte; another seed, client or cycle another.
#[test]
fn the_log_is_a_function_of_seed_client_and_cycle() {
    let log = |seed, client, n_skipped| {
        let mut client = DiskMix::new(seed).client(client);
        for _ in 0..n_skipped {
            cycle(&mut client, |_| {});
        }
        let mut log = String::new();
        cycle(&mut client, |operation| log += &format!("{operation}\n"));
        log
    };
    let one = log(7, 3, 0);
    assert_eq!(one, log(7, 3, 0));
    let without_client = |log: String, client: u32| log.replace(&format!("private/c{client}/"), "");
    let logs = [log(8, 3, 0), log(7, 4, 0), log(7, 3, 1)];
    assert!(logs.iter().all(|other| *other != one));
    assert_ne!(without_client(log(7, 4, 0), 4), without_client(one, 3));
}

/// Of created files, 54 % are empty when they are deleted, and half live for at most ten operations; the specification
/// has a mean lifetime of 372 operations.
#[test]
fn created_files_live_as_long_as_those_of_the_load_file() {
    let mix = DiskMix::unshared(1);
    let mut share = share(&mix, 1);
    let mut client = mix.client(0);
    let mut n_empty = 0;
    let mut n_deleted = 0;
    for _ in 0..50 {
        cycle(&mut client, |operation| {
            if let FileAction::Unlink(path) = operation.action {
                n_deleted += 1;
                n_empty += u32::from(share.sizes[&path] == 0);
            }
            share.perform(operation);
        });
    }
    share.lifetimes.sort_unstable();
    assert_eq!((share.lifetimes.len(), n_deleted), (50 * 124, 50 * 124));
    // 67 of 124 are never written.
    assert_eq!(n_empty, 50 * 67);
    let brief = &share.lifetimes[..50 * 67];
    assert!(brief.iter().all(|lifetime| (3..10).contains(lifetime)), "{:?}", brief.last());
    let mean = share.lifetimes.iter().sum::<u64>() as f64 / share.lifetimes.len() as f64;
    assert!((340.0..400.0).contains(&mean), "{mean}");
}

#[test]
fn clients_have_orders_of_their_own() {
    let first_kinds = |client| {
        let mut kinds = Vec::new();
        cycle(&mut DiskMix::new(1).client(client), |operation| kinds.push(operation.kind()));
        kinds.truncate(300);
        kinds
    };
    let orders: BTreeSet<Vec<FileKind>> = (0..40).map(first_kinds).collect();
    assert_eq!(orders.len(), 40);
}

/// The standard share: a fifth of what may be shared, and a twentieth of the updates.
#[test]
fn a_part_of_the_work_is_on_shared_files() {
    let mut shared = 0_u32;
    let mut all = 0_u32;
    let mut client = DiskMix::new(2).client(0);
    for _ in 0..20 {
        cycle(&mut client, |operation| {
            if let FileAction::PathQuery(path, _) = operation.action
                && !is_created(&path, 0)
            {
                all += 1;
                shared += u32::from(path.is_shared());
            }
        });
    }
    // 20 · 407 questions, of which a fifth: 1,628, within four deviations of 36.
    assert_eq!(all, 20 * 407);
    assert!(shared.abs_diff(1628) < 144, "{shared}");
}

#[test]
fn pads_are_read_where_they_are_active() {
    let opened_pads = |pads| {
        let mix = DiskMix { pads, workspace: Workspace::new(80).unwrap(), ..DiskMix::unshared(1) };
        let mut share = share(&mix, 1);
        let mut n_pads = 0;
        let mut client = mix.client(0);
        for _ in 0..5 {
            cycle(&mut client, |operation| {
                share.perform(operation);
                if let FileAction::Open(_, path) = operation.action {
                    n_pads += u32::from(path.to_string().contains("/pad/"));
                }
            });
        }
        n_pads
    };
    assert_eq!(opened_pads(PadUse::Inert), 0);
    // 5 · 158 documents, of which 65 in 113 are pads: 454, within four deviations of 14.
    assert!(opened_pads(PadUse::Active).abs_diff(454) < 56);
}

/// Every byte that a client reads is the one that was written, through several cycles; what it must know for that is
/// small.
#[test]
fn every_read_can_be_verified() {
    let mix = DiskMix::new(1);
    let mut share = share(&mix, 1).with_content(FileContent::new(1, 50));
    let mut client = mix.client(0);
    for _ in 0..3 {
        cycle(&mut client, |operation| share.perform(operation));
    }
    assert!((10..300).contains(&share.n_extents()), "{}", share.n_extents());
}

#[test]
fn a_client_is_small() {
    let bytes = size_of::<DiskMixClient>() + 99 * size_of::<FileOperation>();
    assert!(bytes < 8192, "{bytes}");
}

#[test]
fn wrong_bytes_stop_a_client() {
    let mut client = DiskMix::new(1).client(0);
    let mut step = client.next(None);
    while !matches!(step, FileStep::Perform(operation) if operation.kind() == FileKind::Read) {
        step = client.next(Some(FileAnswer::Done));
    }
    assert_eq!(client.next(Some(FileAnswer::WrongBytes)), FileStep::Leave);
    assert_eq!(client.next(None), FileStep::Leave);
}

/// An open that fails ends its transaction: the next operation is of another one, and uses no handle.
#[test]
fn a_failed_open_ends_the_transaction() {
    let mut client = DiskMix::new(1).client(0);
    let mut step = client.next(None);
    for _ in 0..50 {
        while !matches!(step, FileStep::Perform(operation) if operation.kind() == FileKind::Open) {
            step = client.next(Some(FileAnswer::Done));
        }
        step = client.next(Some(FileAnswer::Failed));
        assert!(matches!(step, FileStep::Perform(operation) if operation.uses().is_none()), "{step:?}");
    }
}

proptest! {
    /// On a server that fails at random and loses sessions, no operation is on a file that is not there or not open,
    /// nothing is unlocked that is not locked, and cycles end.
    #[test]
    fn on_a_bad_server_nothing_is_used_that_is_not_there(
        seed in any::<u64>(),
        client_number in 0_u32..3,
        failures_per_mille in 0_u64..400,
        losses_per_mille in 0_u64..20,
    ) {
        let mix = DiskMix::new(seed);
        let mut share = share(&mix, 3);
        let mut client = mix.client(client_number);
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
        let mut answer = None;
        let mut n_cycles = 0;
        while n_cycles < 2 {
            match client.next(answer.take()) {
                FileStep::Perform(operation) => {
                    let point = rng.below(1000);
                    answer = Some(if point < losses_per_mille {
                        share.lose_session();
                        FileAnswer::SessionLost
                    } else if point < losses_per_mille + failures_per_mille && fails_cleanly(&operation) {
                        FileAnswer::Failed
                    } else {
                        share.perform(&operation);
                        FileAnswer::Done
                    });
                }
                FileStep::UnitEnd => n_cycles += 1,
                step => prop_assert!(false, "{:?}", step),
            }
        }
        prop_assert!(share.n_operations < 4 * u64::from(CYCLE_OPERATIONS));
    }
}

/// Returns whether an operation that fails leaves all as it was. Of an unlink that failed the client cannot know
/// whether the file is still there, and a close always closes.
fn fails_cleanly(operation: &FileOperation) -> bool {
    !matches!(operation.action, FileAction::Close(_))
}
