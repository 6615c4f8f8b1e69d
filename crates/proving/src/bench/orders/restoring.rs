//! Restoring: data from their golden copy, as before each load point, and the same rows generated and loaded.
//!
//! Both are on a disk, in the folder of a run's data.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, Result};
use model::DatabaseProduct;
use orders::OrderTable;
use orderstore::{OrderStore, Synchronous};
use servers::orders::{OrderData, OrderOptions};
use tempfile::TempDir;

use super::data::{DataTarget, Refillable, RowSource, population, scale};
use super::databases::Database;

/// Returns a target with a golden copy of its rows.
pub(super) fn prepare(target: DataTarget) -> Result<Box<dyn Refillable>> {
    Ok(match target {
        DataTarget::Server(product) => Box::new(ServerRestoring::prepare(product)?),
        DataTarget::Sqlite => Box::new(SqliteRestoring::prepare()?),
    })
}

/// A server with all CPUs of the machine, which is stopped while its data are restored, and started again.
struct ServerRestoring(Database);

impl ServerRestoring {
    fn prepare(product: DatabaseProduct) -> Result<ServerRestoring> {
        Ok(ServerRestoring(Database::start_with_golden(product, &population()?)?))
    }
}

impl Refillable for ServerRestoring {
    /// Restoring takes the place of what is there.
    fn clear(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => self.0.clear(),
            RowSource::Kept => Ok(()),
        }
    }

    fn fill(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => self.0.load(&population()?),
            RowSource::Kept => self.0.restore(),
        }
    }

    fn n_rows(&self, _: RowSource) -> Result<u64> {
        self.0.client().n_rows()
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

impl Refillable for SqliteRestoring {
    fn clear(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => Ok(orderstore::remove(&self.loaded())?),
            RowSource::Kept => Ok(()),
        }
    }

    fn fill(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => {
                Ok(orderstore::create(&self.loaded(), &population()?, |_| ControlFlow::Continue(()))?)
            }
            RowSource::Kept => Ok(self.data.load(false, &mut |_| ControlFlow::Continue(()))?),
        }
    }

    fn n_rows(&self, source: RowSource) -> Result<u64> {
        match source {
            RowSource::Generated => {
                let store = OrderStore::open(&self.loaded(), Synchronous::Normal)?;
                let rows = OrderTable::ALL.into_iter().map(|table| store.loaded_rows(table));
                Ok(rows.sum::<Result<u64, _>>()?)
            }
            RowSource::Kept => {
                let description = self.data.description().context("there are no data")?;
                Ok(description.rows.into_iter().sum())
            }
        }
    }
}
