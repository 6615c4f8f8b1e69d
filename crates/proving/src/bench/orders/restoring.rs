//! Restoring: data from their golden copy, as before each load point, and the same rows generated and loaded.
//!
//! Both are on a disk, in the folder of a run's data.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use model::DatabaseProduct;
use orders::OrderTable;
use orderstore::{OrderStore, Synchronous};
use servers::orders::{OrderData, OrderOptions};
use tempfile::TempDir;
use units::{Clock, RealClock};

use super::databases::Database;
use super::loading::{LoadTarget, count_all, population, scale};

/// The times of a round, in s.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestoreTimes {
    /// Generating and loading rows.
    pub(super) loading: f64,
    /// Restoring them from the golden copy.
    pub(super) restoring: f64,
}

impl RestoreTimes {
    /// Returns the time of loading as a multiple of that of restoring.
    pub(super) fn ratio(&self) -> f64 {
        self.loading / self.restoring
    }
}

impl LoadTarget {
    /// Loads and restores so many times, in the opposite order every other time.
    pub(super) fn measure_restoring(self, rounds: usize) -> Result<Vec<RestoreTimes>> {
        match self {
            LoadTarget::Server(product) => measure(&mut ServerRestoring::prepare(product)?, rounds),
            LoadTarget::Sqlite => measure(&mut SqliteRestoring::prepare()?, rounds),
        }
    }
}

/// Data with a golden copy.
trait Restoring {
    /// Makes the place empty into which rows are loaded.
    fn clear(&mut self) -> Result<()>;

    /// Generates the rows and loads them.
    fn load(&mut self) -> Result<()>;

    /// Returns the number of rows that were loaded.
    fn n_loaded(&self) -> Result<u64>;

    /// Restores the data from the golden copy, until they can be used.
    fn restore(&mut self) -> Result<()>;

    /// Returns the number of rows that were restored.
    fn n_restored(&self) -> Result<u64>;
}

fn measure(data: &mut impl Restoring, rounds: usize) -> Result<Vec<RestoreTimes>> {
    let round = |n: usize| -> Result<RestoreTimes> {
        let ((loading, n_loaded), (restoring, n_restored)) = if n % 2 == 1 {
            let restored = restored(data)?;
            (loaded(data)?, restored)
        } else {
            (loaded(data)?, restored(data)?)
        };
        ensure!(n_loaded == n_restored, "{n_loaded} rows were loaded, and {n_restored} restored");
        println!("round {}: loaded in {loading:.2} s, restored in {restoring:.2} s", n + 1);
        Ok(RestoreTimes { loading, restoring })
    };
    (0..rounds).map(round).collect()
}

/// Returns the duration of loading in s, and the rows that are there then.
fn loaded(data: &mut impl Restoring) -> Result<(f64, u64)> {
    data.clear()?;
    let clock = RealClock::start();
    data.load()?;
    Ok((clock.now().as_secs_f64(), data.n_loaded()?))
}

/// Returns the duration of restoring in s, and the rows that are there then.
fn restored(data: &mut impl Restoring) -> Result<(f64, u64)> {
    let clock = RealClock::start();
    data.restore()?;
    Ok((clock.now().as_secs_f64(), data.n_restored()?))
}

/// A server with all CPUs of the machine, which is stopped while its data are restored, and started again.
struct ServerRestoring(Database);

impl ServerRestoring {
    fn prepare(product: DatabaseProduct) -> Result<ServerRestoring> {
        Ok(ServerRestoring(Database::start_with_golden(product, &population()?)?))
    }

    fn n_rows(&self) -> Result<u64> {
        Ok(self.0.client().execute(&count_all())?.trim().parse()?)
    }
}

impl Restoring for ServerRestoring {
    fn clear(&mut self) -> Result<()> {
        self.0.clear()
    }

    fn load(&mut self) -> Result<()> {
        self.0.load(&population()?)
    }

    fn n_loaded(&self) -> Result<u64> {
        self.n_rows()
    }

    fn restore(&mut self) -> Result<()> {
        self.0.restore()
    }

    fn n_restored(&self) -> Result<u64> {
        self.n_rows()
    }
}

/// The data of the built-in server, and a file beside them that rows are loaded into.
struct SqliteRestoring {
    data: OrderData,
    folder: TempDir,
}

impl SqliteRestoring {
    fn prepare() -> Result<SqliteRestoring> {
        let folder = tempfile::tempdir_in("/var/tmp")?;
        let options = OrderOptions::new(scale()?, folder.path().to_owned());
        let data = OrderData::create(&options, &mut |_| ControlFlow::Continue(()))?;
        Ok(SqliteRestoring { data, folder })
    }

    fn loaded(&self) -> PathBuf {
        self.folder.path().join("loaded.db")
    }
}

impl Restoring for SqliteRestoring {
    fn clear(&mut self) -> Result<()> {
        Ok(orderstore::remove(&self.loaded())?)
    }

    fn load(&mut self) -> Result<()> {
        Ok(orderstore::create(&self.loaded(), &population()?, |_| ControlFlow::Continue(()))?)
    }

    fn n_loaded(&self) -> Result<u64> {
        let store = OrderStore::open(&self.loaded(), Synchronous::Normal)?;
        let rows = OrderTable::ALL.into_iter().map(|table| store.loaded_rows(table));
        Ok(rows.sum::<Result<u64, _>>()?)
    }

    fn restore(&mut self) -> Result<()> {
        Ok(self.data.load(false, &mut |_| ControlFlow::Continue(()))?)
    }

    fn n_restored(&self) -> Result<u64> {
        let description = self.data.description().context("there are no data")?;
        Ok(description.rows.into_iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 3 s of loading in place of 0.5 s of restoring are 6 times as much.
    #[test]
    fn the_ratio_is_that_of_times() {
        let times = RestoreTimes { loading: 3.0, restoring: 0.5 };
        assert!((times.ratio() - 6.0).abs() < 1e-9);
    }
}
