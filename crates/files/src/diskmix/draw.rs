//! Draws from the tables of the Disk Mix.

use units::{Rng, saturating_u64};

use super::tables::{FEW_READS, FEW_SHARE, MANY_READS, SAVE_QUANTILES, WeightedRange};

/// A number of transactions that have an additional part, of those of a cycle: exactly so many, at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    wanted: u16,
    left: u16,
}

impl Quota {
    pub(super) fn new((wanted, of): (u16, u16)) -> Quota {
        Quota { wanted, left: of }
    }

    /// Decides about the next transaction. Each of those that are left is as likely as the others.
    pub(super) fn take(&mut self, rng: &mut Rng) -> bool {
        let is_chosen = rng.below(u64::from(self.left)) < u64::from(self.wanted);
        self.left = self.left.saturating_sub(1);
        self.wanted -= u16::from(is_chosen);
        is_chosen
    }
}

/// Uniform numbers of which, in a cycle, each of `N` equal parts of [0, 1) has one, in random order: single draws are
/// as without parts, and the sum of all is nearly the same in each cycle.
#[derive(Debug, Clone)]
pub(super) struct Strata<const N: usize> {
    order: [u8; N],
    n_drawn: usize,
}

impl<const N: usize> Strata<N> {
    pub(super) fn new(rng: &mut Rng) -> Strata<N> {
        let mut order = std::array::from_fn(|part| part as u8);
        rng.shuffle(&mut order);
        Strata { order, n_drawn: 0 }
    }

    /// Draws the next number. Behind the last part, the first is next.
    pub(super) fn uniform(&mut self, rng: &mut Rng) -> f64 {
        let part = self.order[self.n_drawn % N];
        self.n_drawn += 1;
        (f64::from(part) + rng.uniform()) / N as f64
    }
}

/// Returns whether one of `percent` of a hundred cases has come.
pub(super) fn is_percent(percent: u64, rng: &mut Rng) -> bool {
    rng.below(100) < percent
}

/// Draws a number of a table.
pub(super) fn from_table(table: &[WeightedRange], rng: &mut Rng) -> u64 {
    let total = table.iter().map(|row| row.weight).sum();
    let mut point = rng.below(total);
    for row in table {
        if point < row.weight {
            return row.least + rng.below(row.most - row.least + 1);
        }
        point -= row.weight;
    }
    0
}

/// Returns the number of reads of a transaction, 1 to 90, that so large a share of transactions does not exceed.
pub(super) fn n_reads(share: f64) -> u64 {
    let few = FEW_READS.into_iter().find(|(_, up_to)| share < *up_to);
    few.map_or_else(|| many_reads((share - FEW_SHARE) / (1.0 - FEW_SHARE)), |(n_reads, _)| n_reads)
}

fn many_reads(uniform: f64) -> u64 {
    let (least, most) = MANY_READS;
    saturating_u64((least * (most / least).powf(uniform)).round())
}

/// Returns the size of a new file, 53 to 540,000 bytes, that so large a share of new files does not exceed.
pub(super) fn save_size(share: f64) -> u64 {
    let segment = SAVE_QUANTILES.windows(2).find(|pair| share < pair[1].0);
    let size = segment.map_or(SAVE_QUANTILES[SAVE_QUANTILES.len() - 1].1, |pair| {
        let ((from, least), (to, most)) = (pair[0], pair[1]);
        least + (most - least) * (share - from) / (to - from)
    });
    saturating_u64(size.round())
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::super::tables::{EXTENDED_SIZES, FILL_SIZES, READ_SIZES, UPDATE_SIZES};
    use super::*;

    fn rng() -> Rng {
        Rng::new(1, StreamPurpose::Cycle, 0)
    }

    #[test]
    fn a_quota_is_used_up_exactly() {
        let mut rng = rng();
        let mut first = 0;
        for _ in 0..1000 {
            let mut quota = Quota::new((12, 158));
            let mut copy = quota;
            first += u32::from(copy.take(&mut rng));
            assert_eq!((0..158).filter(|_| quota.take(&mut rng)).count(), 12);
            assert!(!quota.take(&mut rng), "there is none beyond them");
        }
        // 1,000 · 12/158 = 76, within four deviations of 8.4.
        assert!((43..110).contains(&first), "{first}");
    }

    #[test]
    fn each_part_has_one_number() {
        let mut rng = rng();
        let mut strata = Strata::<39>::new(&mut rng);
        let mut parts: Vec<u64> = (0..39).map(|_| saturating_u64(39.0 * strata.uniform(&mut rng))).collect();
        assert!(!parts.is_sorted());
        parts.sort_unstable();
        assert_eq!(parts, (0..39).collect::<Vec<_>>());
    }

    #[test]
    fn weights_of_tables_are_whole_percents_and_per_mille() {
        let total = |table: &[WeightedRange]| table.iter().map(|row| row.weight).sum::<u64>();
        assert_eq!([&UPDATE_SIZES[..], &FILL_SIZES].map(total), [100; 2]);
        assert_eq!((total(&READ_SIZES), total(&EXTENDED_SIZES)), (1000, 8));
    }

    /// By hand: 0.706 · 4,096 + 0.06 · (8,192 + 2,048) + 0.023 · 16,384 + 0.004 · 32,768 + 0.07 · 259.5 + 0.06 · 1,280
    /// + 0.017 · 3,072 = 4,161 bytes.
    #[test]
    fn the_mean_read_is_the_one_of_the_table() {
        let mut rng = rng();
        let mean = (0..1_000_000).map(|_| from_table(&READ_SIZES, &mut rng)).sum::<u64>() as f64 / 1e6;
        assert!((mean - 4161.0).abs() < 16.0, "{mean}");
    }

    /// By hand: 0.77 + 2 · 0.10 + 3 · 0.04 + 4 · 0.02 + 0.07 · (90 − 5) ÷ ln 18 = 3.23.
    #[test]
    fn the_mean_number_of_reads_is_the_one_of_the_table() {
        let mut rng = rng();
        let mean = (0..1_000_000).map(|_| n_reads(rng.uniform())).sum::<u64>() as f64 / 1e6;
        assert!((mean - 3.23).abs() < 0.05, "{mean}");
        assert_eq!((many_reads(0.0), many_reads(1.0), many_reads(0.5)), (5, 90, 21));
        assert_eq!([0.0, 0.769, 0.77, 0.88, 0.92, 0.93, 0.9999].map(n_reads), [1, 1, 2, 3, 4, 5, 90]);
    }

    /// By hand, the mean of the segments: 523 + 1,680 + 6,831 + 15,531 + 27,780 + 41,440 = 93,785 bytes.
    #[test]
    fn sizes_of_new_files_follow_the_quantiles() {
        let sizes = [0.0, 0.05, 0.10, 0.50, 0.95, 1.0].map(save_size);
        assert_eq!(sizes, [53, 5227, 10_400, 42_650, 414_400, 540_000]);
        let mut rng = rng();
        let mean = (0..1_000_000).map(|_| save_size(rng.uniform())).sum::<u64>() as f64 / 1e6;
        assert!((mean - 93_785.0).abs() < 600.0, "{mean}");
    }
}
