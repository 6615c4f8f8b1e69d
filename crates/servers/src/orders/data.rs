//! The data of a server, or of another process that uses them itself: a golden copy that stays, and the copy that
//! transactions change.
//!
//! | file in the directory | made | removed |
//! |---|---|---|
//! | `order-entry-W-D-S.golden` (warehouses, divisor, seed) | by the first server, and by `LOAD` if asked to | never |
//! | `order-server-…/data-N.db` | from the golden copy, at the start and by each `LOAD` | by the next `LOAD`, at the end, by the next server after a kill |
//!
//! A golden copy is moved to its name when it is complete. Whether it is right shows in its copy: it says what it is, and
//! what its rows were made from.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard};

use orders::wire::DataDescription;
use orders::{DataScale, OrderTable, Population, ShortText};
use orderstore::{OrderStore, StoreCounts, StoreError, Synchronous};
use units::wall;

use super::options::{OrderOptions, OrderServerError};
use crate::framed::DataDirectory;

/// Start of the names of directories with data of a server.
const DIRECTORY_PREFIX: &str = "order-server-";

/// Order-entry data on a disk; removed when this is dropped, while the golden copy stays.
#[derive(Debug)]
pub struct OrderData {
    scale: DataScale,
    seed: u64,
    synchronous: Synchronous,
    readers: u32,
    parent: PathBuf,
    golden: PathBuf,
    /// Locked for reading as long as a request uses the data, and for writing while they are loaded.
    current: RwLock<CurrentData>,
    is_untouched: AtomicBool,
    counts: Arc<StoreCounts>,
    /// Dropped last, with the data.
    directory: DataDirectory,
}

/// The copy that transactions change.
#[derive(Debug, Default)]
pub(super) struct CurrentData {
    /// The number of the load that has made it.
    pub(super) generation: u64,
    /// The file; `None` if loading has failed.
    file: Option<(PathBuf, DataDescription)>,
}

impl OrderData {
    /// Makes the directory, and the data in it: from the golden copy, which is made if it is not there. Of the options only
    /// those of the data count.
    ///
    /// `progress` gets the number of rows loaded so far, if any are, and can stop the loading.
    ///
    /// # Errors
    /// The directory cannot be used, has no room, or the database refuses.
    pub fn create(
        options: &OrderOptions,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<OrderData, OrderServerError> {
        let OrderOptions { scale, seed, synchronous, readers, .. } = *options;
        let parent = options.directory.clone();
        let directory = DataDirectory::create(&parent, DIRECTORY_PREFIX)?;
        let name = format!("order-entry-{}-{}-{seed}.golden", scale.warehouses(), scale.divisor());
        let data = OrderData {
            scale,
            seed,
            synchronous,
            readers,
            golden: parent.join(name),
            parent,
            current: RwLock::default(),
            is_untouched: AtomicBool::new(true),
            counts: Arc::default(),
            directory,
        };
        data.load(false, progress)?;
        Ok(data)
    }

    /// Returns the size.
    pub(super) fn scale(&self) -> &DataScale {
        &self.scale
    }

    /// Returns the counts of all connections, since the start.
    pub fn counts(&self) -> &Arc<StoreCounts> {
        &self.counts
    }

    /// Locks the data as they are: they are not loaded anew before the guard is dropped.
    pub(super) fn current(&self) -> RwLockReadGuard<'_, CurrentData> {
        self.current.read().expect("no thread panics with the data")
    }

    /// Opens a connection to the data as they are; they must not be loaded anew while it is used.
    ///
    /// # Errors
    /// There are none, because loading them has failed, or the database refuses.
    pub fn open(&self) -> Result<OrderStore, StoreError> {
        self.open_current(&self.current())
    }

    /// Opens a connection to the data, and returns the number of the load that has made them, too.
    pub(super) fn open_generation(&self) -> (u64, Result<OrderStore, StoreError>) {
        let current = self.current();
        (current.generation, self.open_current(&current))
    }

    fn open_current(&self, current: &CurrentData) -> Result<OrderStore, StoreError> {
        let none =
            || StoreError::NoData { path: self.golden.clone(), found: "loading them has failed".to_owned() };
        let (path, _) = current.file.as_ref().ok_or_else(none)?;
        let mut store = OrderStore::open(path, self.synchronous)?;
        store.count_in(Arc::clone(&self.counts))?;
        Ok(store)
    }

    /// Notes that a transaction may have changed the data.
    pub(super) fn touch(&self) {
        self.is_untouched.store(false, Ordering::Relaxed);
    }

    /// Describes the data as they are; `None` if there are none.
    pub fn description(&self) -> Option<DataDescription> {
        self.describe(&self.current())
    }

    /// Describes the data; `None` if there are none.
    pub(super) fn describe(&self, current: &CurrentData) -> Option<DataDescription> {
        let (path, description) = current.file.as_ref()?;
        let is_untouched = self.is_untouched.load(Ordering::Relaxed);
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        let file_bytes = length(path) + length(&orderstore::log_of(path));
        Some(DataDescription { is_untouched, file_bytes, ..*description })
    }

    /// Brings the data back to their first state, from the golden copy, which is made if it is not right or if the data are
    /// to be made anew. Waits for requests in service; others wait for it.
    ///
    /// # Errors
    /// There are no data: there is no room, the loading was stopped, or the database refuses.
    pub fn load(
        &self,
        is_anew: bool,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), OrderServerError> {
        let mut current = self.current.write().expect("no thread panics with the data");
        current.generation += 1;
        if let Some((path, _)) = current.file.take() {
            discard(&path)?;
        }
        let path = self.directory.file(&format!("data-{}.db", current.generation));
        let restored = if is_anew { None } else { self.restore(&path)? };
        let description = match restored {
            Some(description) => description,
            None => {
                self.make_golden(progress)?;
                let unusable = || io::Error::other("it is not what has just been written");
                self.restore(&path)?.ok_or_else(|| failed("copy", &self.golden)(unusable()))?
            }
        };
        current.file = Some((path, description));
        self.is_untouched.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Copies the golden copy, and describes the data; `None` if there is none, or not the right one.
    fn restore(&self, path: &Path) -> Result<Option<DataDescription>, OrderServerError> {
        let Ok(found) = fs::symlink_metadata(&self.golden) else { return Ok(None) };
        if !found.is_file() {
            return Ok(None);
        }
        self.check_room(found.len())?;
        fs::copy(&self.golden, path).map_err(failed("copy", &self.golden))?;
        let description = self.description_of(path);
        if description.is_none() {
            orderstore::remove(path)?;
            return Ok(None);
        }
        settle(path).map_err(failed("write", path))?;
        Ok(description)
    }

    /// Makes the golden copy.
    fn make_golden(&self, progress: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<(), OrderServerError> {
        self.check_room(self.scale.disk_bytes())?;
        let path = self.directory.file("golden.db");
        // An earlier one may not have reached its place.
        orderstore::remove(&path)?;
        orderstore::create(&path, &Population::new(self.seed, self.scale, wall()), progress)?;
        fs::rename(&path, &self.golden).map_err(failed("move to", &self.golden))
    }

    fn check_room(&self, bytes: u64) -> Result<(), OrderServerError> {
        if self.directory.has_room(bytes)? {
            Ok(())
        } else {
            Err(OrderServerError::Room { path: self.parent.clone(), bytes })
        }
    }

    /// Describes the data in a file; `None` if they are other ones than this server's, or damaged.
    fn description_of(&self, path: &Path) -> Option<DataDescription> {
        let store = OrderStore::open(path, self.synchronous).ok()?;
        let population = store.population();
        if (*population.scale(), population.seed()) != (self.scale, self.seed) {
            return None;
        }
        let mut rows = [0; 9];
        for (n_rows, table) in rows.iter_mut().zip(OrderTable::ALL) {
            *n_rows = store.loaded_rows(table).ok()?;
        }
        let database =
            format!("{}, WAL, synchronous {}", orderstore::database_name(), self.synchronous.name());
        Some(DataDescription {
            warehouses: self.scale.warehouses(),
            divisor: self.scale.divisor(),
            c_load: population.c_load(),
            format: orderstore::FORMAT.cast_unsigned(),
            seed: self.seed,
            loaded_at: population.loaded_at(),
            readers: self.readers,
            is_untouched: true,
            file_bytes: 0,
            rows,
            database: ShortText::new(&database).unwrap_or_default(),
        })
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> OrderServerError + use<> {
    let path = path.to_owned();
    move |source| OrderServerError::File { action, path: path.clone(), source }
}

/// Writes a file that has been copied to the disk, and reads it once: what is not written now would be written while
/// transactions are measured, and a copy that shares its blocks with another file is not in memory yet.
fn settle(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.sync_all()?;
    io::copy(&mut file, &mut io::sink()).map(drop)
}

/// Removes data that threads without a request still have open. Emptied first, they take no room until those threads have
/// noticed.
fn discard(path: &Path) -> Result<(), OrderServerError> {
    let log = orderstore::log_of(path);
    for path in [path, log.as_path()] {
        // Without a log there is nothing to be emptied.
        if let Ok(file) = OpenOptions::new().write(true).open(path) {
            file.set_len(0).map_err(failed("empty", path))?;
        }
    }
    Ok(orderstore::remove(path)?)
}
