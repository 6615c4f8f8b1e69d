//! Golden copies of the data of servers, kept between runs.
//!
//! | below the folder of copies | |
//! |---|---|
//! | `NAME-HASH/data` | the data of one identity |
//! | `NAME-HASH/complete` | written last: identity, password and a list of the files |
//! | `NAME-HASH.new` | a copy that is being made, or was when its run was killed |
//! | `NAME-HASH.lock` | locked by every run that uses the copy, alone by one that makes or removes it; its time is that of the last use |

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use units::{Clock, Nanos, RealClock, wall};

use super::SutError;
use super::file_tree::{copy_tree, list_tree};

/// The folder of copies, below the folder for data.
const FOLDER: &str = "golden";

/// Number of copies that are kept; the least recently used are removed first.
const COPIES_MAX: usize = 8;

/// Time after which a copy is removed that was not used.
const UNUSED_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// The longest wait for a run that makes the same copy.
const LOCK_MAX: Nanos = Nanos::from_secs(600);

/// The pause between two attempts to lock.
const PAUSE: Duration = Duration::from_millis(20);

/// The identity of data: two servers with the same may have the same copy.
#[derive(Debug, Clone)]
pub(super) struct GoldenKey {
    /// Name of the recipe, for people who look into the folder.
    pub name: String,
    /// All that the data depend on. A text rather than a hash, so that differences can be inspected.
    pub identity: String,
}

impl GoldenKey {
    /// Returns the identity of the same data with contents.
    pub(super) fn with_contents(self, contents: Option<&str>) -> GoldenKey {
        let contents = contents.map(|contents| format!("\ncontents {contents}")).unwrap_or_default();
        GoldenKey { identity: self.identity + &contents, ..self }
    }
}

/// The path of a copy, by its identity.
#[derive(Debug, Clone)]
struct GoldenPath {
    folder: PathBuf,
    name: String,
    identity: String,
}

/// A complete copy. As long as it lives, no other run removes it.
#[derive(Debug)]
pub(super) struct GoldenCopy {
    data: PathBuf,
    /// The password that the data contain.
    pub password: String,
    /// Whether an earlier run made it.
    pub is_kept: bool,
    _lock: File,
}

/// A place without a copy. As long as it lives, no other run makes one there.
#[derive(Debug)]
pub(super) struct VacantGolden {
    place: GoldenPath,
    lock: File,
}

/// The answer to a look-up.
#[derive(Debug)]
pub(super) enum GoldenLookUp {
    /// A complete copy.
    Found(GoldenCopy),
    /// None, or a damaged one that was removed.
    Vacant(VacantGolden),
}

/// Looks for the copy of an identity below the folder for data, and waits while another run makes it.
///
/// # Errors
/// The folder cannot be used, or another run holds the place for too long.
pub(super) fn look_up(base: &Path, key: GoldenKey) -> Result<GoldenLookUp, SutError> {
    let folder = base.join(FOLDER);
    let place = GoldenPath::of(&folder, key);
    let looked_up = || {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let shared = place.lock(File::try_lock_shared)?;
        if let Some(password) = place.password() {
            return Ok(GoldenLookUp::Found(place.copy(password, true, shared)?));
        }
        drop(shared);
        let lock = place.lock(File::try_lock)?;
        // Another run may have made it meanwhile.
        if let Some(password) = place.password() {
            lock.lock_shared()?;
            return Ok(GoldenLookUp::Found(place.copy(password, true, lock)?));
        }
        place.clear()?;
        Ok(GoldenLookUp::Vacant(VacantGolden { place: place.clone(), lock }))
    };
    looked_up().map_err(|source| failed(&place.path(), source))
}

impl GoldenCopy {
    /// Copies the data to a path where nothing is.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn restore(&self, to: &Path) -> io::Result<()> {
        copy_tree(&self.data, to)
    }
}

impl VacantGolden {
    /// Makes the copy of data that contain a password; no program may be using them.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn fill(self, data: &Path, password: &str) -> Result<GoldenCopy, SutError> {
        let VacantGolden { place, lock } = self;
        let filled = || {
            place.prepare(data)?;
            place.complete(password)?;
            // From here on it is found.
            fs::rename(place.new_path(), place.path())?;
            lock.lock_shared()
        };
        filled().map_err(|source| failed(&place.path(), source))?;
        remove_old(&place.folder);
        place.copy(password.to_owned(), false, lock).map_err(|source| failed(&place.path(), source))
    }
}

impl GoldenPath {
    fn of(folder: &Path, key: GoldenKey) -> GoldenPath {
        let hash = blake3::hash(key.identity.as_bytes()).to_hex();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
        let name: String = key.name.chars().filter(is_plain).take(40).collect();
        GoldenPath {
            folder: folder.to_owned(),
            name: format!("{name}-{}", &hash[..16]),
            identity: key.identity,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    fn new_path(&self) -> PathBuf {
        self.folder.join(format!("{}.new", self.name))
    }

    /// Locks the place, and waits for it.
    fn lock(&self, attempt: fn(&File) -> Result<(), TryLockError>) -> io::Result<File> {
        let path = lock_path(&self.folder, &self.name);
        let clock = RealClock::start();
        loop {
            match try_lock(&path, attempt)? {
                Some(lock) => return Ok(lock),
                None if LOCK_MAX < clock.now() => {
                    let why = "another run has been using it for too long";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Returns the password of a copy that is complete and as it was made; `None` if there is none.
    fn password(&self) -> Option<String> {
        let text = fs::read_to_string(self.path().join("complete")).ok()?;
        let password = text.lines().find_map(|line| line.strip_prefix("password "))?.to_owned();
        let expected = self.marker(&self.path().join("data"), &password).ok()?;
        (text == expected).then_some(password)
    }

    /// Describes a copy: it is used as long as this is true of it.
    fn marker(&self, data: &Path, password: &str) -> io::Result<String> {
        let files = list_tree(data)?.join("\n");
        Ok(format!(
            "Plimsoll's golden copy, form 1\npassword {password}\n{files}\nidentity\n{}\n",
            self.identity
        ))
    }

    /// Copies data to where a copy is made.
    fn prepare(&self, data: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(self.new_path())?;
        copy_tree(data, &self.new_path().join("data"))
    }

    /// Writes the marker of the copy that is being made, readable for this user alone.
    fn complete(&self, password: &str) -> io::Result<()> {
        let marker = self.marker(&self.new_path().join("data"), password)?;
        let path = self.new_path().join("complete");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(marker.as_bytes())?;
        file.sync_all()
    }

    fn clear(&self) -> io::Result<()> {
        remove(&self.path())?;
        remove(&self.new_path())
    }

    fn copy(&self, password: String, is_kept: bool, lock: File) -> io::Result<GoldenCopy> {
        lock.set_modified(now())?;
        Ok(GoldenCopy { data: self.path().join("data"), password, is_kept, _lock: lock })
    }
}

/// Removes copies that were not used for long, and beyond those that are kept; those that are in use stay. What cannot
/// be removed is left to the next run.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let locks = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?.strip_suffix(".lock")?.to_owned();
        Some((entry.metadata().ok()?.modified().ok()?, name))
    });
    let mut copies: Vec<(SystemTime, String)> = locks.collect();
    copies.sort_unstable_by(|one, other| other.cmp(one));
    for (place, (used, name)) in copies.iter().enumerate() {
        let is_old = now().duration_since(*used).is_ok_and(|unused| UNUSED_MAX < unused);
        let path = lock_path(folder, name);
        if !is_old && place < COPIES_MAX {
            continue;
        }
        if let Ok(Some(_lock)) = try_lock(&path, File::try_lock) {
            let removed =
                remove(&folder.join(name)).and_then(|()| remove(&folder.join(format!("{name}.new"))));
            // Whoever opened it before sees that it is gone.
            let _ = removed.and_then(|()| fs::remove_file(&path));
        }
    }
}

/// Opens a lock file and locks it; `None` while others hold it.
fn try_lock(path: &Path, attempt: fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<File>> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    match attempt(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // It may have been removed in between, with what it protects.
    let is_there = fs::symlink_metadata(path).is_ok_and(|meta| {
        file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (meta.dev(), meta.ino()))
    });
    Ok(is_there.then_some(file))
}

fn lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.lock"))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(wall().0).unwrap_or(0))
}

fn failed(path: &Path, source: io::Error) -> SutError {
    SutError::File { what: "golden copy", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn key(identity: &str) -> GoldenKey {
        GoldenKey { name: "a server".to_owned(), identity: identity.to_owned() }
    }

    /// Data with a file in a directory.
    fn data(base: &Path, content: &str) -> PathBuf {
        let path = base.join("live");
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("base")).unwrap();
        fs::write(path.join("base/table"), content).unwrap();
        path
    }

    fn vacant(base: &Path, identity: &str) -> VacantGolden {
        match look_up(base, key(identity)).unwrap() {
            GoldenLookUp::Vacant(vacant) => vacant,
            GoldenLookUp::Found(copy) => panic!("found {copy:?}"),
        }
    }

    fn found(base: &Path, identity: &str) -> GoldenCopy {
        match look_up(base, key(identity)).unwrap() {
            GoldenLookUp::Found(copy) => copy,
            GoldenLookUp::Vacant(vacant) => panic!("nothing at {:?}", vacant.place.path()),
        }
    }

    fn restored(copy: &GoldenCopy, base: &Path) -> String {
        let to = base.join("restored");
        let _ = fs::remove_dir_all(&to);
        copy.restore(&to).unwrap();
        fs::read_to_string(to.join("base/table")).unwrap()
    }

    #[test]
    fn a_copy_is_found_again_with_its_password_and_only_by_its_identity() {
        let base = tempfile::tempdir().unwrap();
        let made = vacant(base.path(), "one").fill(&data(base.path(), "rows"), "0123").unwrap();
        assert!(!made.is_kept && made.password == "0123");
        assert_eq!(restored(&made, base.path()), "rows");
        drop(made);
        let kept = found(base.path(), "one");
        assert!(kept.is_kept && kept.password == "0123");
        assert_eq!(restored(&kept, base.path()), "rows");
        for other in ["one ", "One", "two", ""] {
            drop(vacant(base.path(), other));
        }
        // Two at once may use it.
        found(base.path(), "one");
    }

    #[test]
    fn a_run_that_was_killed_between_copy_and_marker_leaves_none() {
        let base = tempfile::tempdir().unwrap();
        let killed = vacant(base.path(), "one");
        killed.place.prepare(&data(base.path(), "half")).unwrap();
        drop(killed);
        let again = vacant(base.path(), "one");
        assert!(!again.place.new_path().exists());
        // Killed after the marker, before the copy got its name.
        again.place.prepare(&data(base.path(), "half")).unwrap();
        again.place.complete("0123").unwrap();
        drop(again);
        let made = vacant(base.path(), "one").fill(&data(base.path(), "whole"), "4567").unwrap();
        assert_eq!(restored(&made, base.path()), "whole");
    }

    /// Goal: whatever was changed in a copy, it is made again.
    #[test]
    fn a_damaged_copy_is_made_again() {
        let base = tempfile::tempdir().unwrap();
        let damages: [fn(&Path); 6] = [
            |copy| fs::write(copy.join("data/base/table"), "row").unwrap(),
            |copy| {
                // The same size and content, written again.
                let path = copy.join("data/base/table");
                let text = fs::read(&path).unwrap();
                let later = fs::metadata(&path).unwrap().modified().unwrap() + Duration::from_millis(1);
                fs::write(&path, text).unwrap();
                File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
            },
            |copy| fs::remove_file(copy.join("data/base/table")).unwrap(),
            |copy| fs::write(copy.join("data/more"), "").unwrap(),
            |copy| fs::remove_file(copy.join("complete")).unwrap(),
            |copy| {
                let text = fs::read_to_string(copy.join("complete")).unwrap();
                fs::write(copy.join("complete"), &text[..text.len() / 2]).unwrap();
            },
        ];
        for (number, damage) in damages.into_iter().enumerate() {
            let rows = format!("rows {number}");
            let vacant = vacant(base.path(), "one");
            let path = vacant.place.path();
            assert!(!path.exists(), "{number}");
            drop(vacant.fill(&data(base.path(), &rows), "0123").unwrap());
            assert_eq!(restored(&found(base.path(), "one"), base.path()), rows);
            damage(&path);
        }
    }

    /// Goal: of runs that begin at the same time one makes the copy, and all have the same password.
    #[test]
    fn one_of_several_runs_at_once_makes_the_copy() {
        let base = tempfile::tempdir().unwrap();
        let n_made = AtomicU32::new(0);
        let barrier = Barrier::new(4);
        let run = |number: u32| {
            barrier.wait();
            match look_up(base.path(), key("one")).unwrap() {
                GoldenLookUp::Found(copy) => copy.password.clone(),
                GoldenLookUp::Vacant(vacant) => {
                    n_made.fetch_add(1, Ordering::Relaxed);
                    let own = base.path().join(number.to_string());
                    vacant.fill(&data(&own, "rows"), &number.to_string()).unwrap().password.clone()
                }
            }
        };
        let passwords: Vec<String> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..4).map(|number| scope.spawn(move || run(number))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(n_made.into_inner(), 1);
        assert!(passwords.iter().all(|one| *one == passwords[0]), "{passwords:?}");
    }

    /// Goal: the folder does not grow without end, and no run loses a copy that it uses.
    #[test]
    fn the_least_recently_used_copies_are_removed_unless_they_are_in_use() {
        let base = tempfile::tempdir().unwrap();
        let rows = data(base.path(), "rows");
        let age = |copy: &GoldenCopy, days: u64| {
            copy._lock.set_modified(now() - Duration::from_secs(days * 24 * 3600)).unwrap();
        };
        let used = vacant(base.path(), "used").fill(&rows, "0").unwrap();
        age(&used, 100);
        for (identity, days) in [("old", 31), ("older", 5), ("younger", 4)] {
            age(&vacant(base.path(), identity).fill(&rows, "0").unwrap(), days);
        }
        let n_copies = || {
            let entries = fs::read_dir(base.path().join(FOLDER)).unwrap().flatten();
            entries.filter(|entry| entry.file_type().unwrap().is_dir()).count()
        };
        for number in 0..COPIES_MAX - 1 {
            drop(vacant(base.path(), &number.to_string()).fill(&rows, "0").unwrap());
        }
        // Seven new ones and `younger` are kept, and the one in use; `old` and `older` went.
        assert_eq!(n_copies(), COPIES_MAX + 1);
        drop(found(base.path(), "younger"));
        assert_eq!(restored(&used, base.path()), "rows");
        drop(vacant(base.path(), "old"));
        drop(vacant(base.path(), "older"));
    }
}
