//! The state of the cache with which a load point on files begins: what a run asks for, and what it can do.

use std::net::SocketAddr;

use model::{FileCache, FileWorkload};
use testbed::{can_drop_caches, drop_caches};

use crate::cache_state_error::CacheStateError;

/// The state of the cache that a load point begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheState {
    /// The files are not cached.
    Cold,
    /// Every file was read once.
    Warm,
    /// Nothing is cached on this machine.
    ColdMachine,
    /// The state in which the making of the files and earlier load points have left it.
    AsLeft,
}

impl CacheState {
    /// Returns whether files are taken out of the page cache for it.
    pub(crate) fn evicts(self) -> bool {
        matches!(self, CacheState::Cold | CacheState::ColdMachine)
    }

    /// Describes how it comes about.
    pub(crate) fn text(self) -> &'static str {
        match self {
            CacheState::Cold => "emptied of the clients’ files before each load point",
            CacheState::ColdMachine => "emptied of everything before each load point",
            CacheState::Warm => "filled with the clients’ files before each load point: each was read once",
            CacheState::AsLeft => "not emptied",
        }
    }
}

/// The place of the files, as far as it decides about their cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CachePlace {
    /// This run can evict the files: those of a directory, or of a server that it has started.
    Evictable,
    /// Those of a server that was there already, at an address.
    OtherServer(SocketAddr),
}

/// Returns the state that a workload asks for, of files at a place.
///
/// # Errors
/// The run cannot bring it about.
pub(super) fn wanted_state(
    workload: &FileWorkload,
    place: CachePlace,
) -> Result<CacheState, CacheStateError> {
    match (workload.cache, place) {
        (FileCache::Auto | FileCache::Cold, CachePlace::Evictable) => Ok(CacheState::Cold),
        (FileCache::Auto, CachePlace::OtherServer(_)) => Ok(CacheState::AsLeft),
        (FileCache::Cold, CachePlace::OtherServer(_)) => Err(CacheStateError::OtherServer),
        (FileCache::Warm, _) => Ok(CacheState::Warm),
        (FileCache::ColdMachine, CachePlace::OtherServer(address)) if !address.ip().is_loopback() => {
            Err(CacheStateError::OtherMachine)
        }
        (FileCache::ColdMachine, _) if !can_drop_caches() => Err(CacheStateError::NotRoot),
        (FileCache::ColdMachine, _) => Ok(CacheState::ColdMachine),
    }
}

/// Drops the caches of this machine.
///
/// # Errors
/// The kernel refuses.
pub(super) fn drop_machine_caches() -> Result<(), CacheStateError> {
    drop_caches().map_err(CacheStateError::Kernel)
}

#[cfg(test)]
mod tests {
    use model::{FileMixSettings, FileWork};

    use super::*;

    #[test]
    fn a_state_is_wanted_only_where_the_run_can_bring_it_about() {
        let state = |cache, place| {
            let workload =
                FileWorkload { cache, ..FileWorkload::new(FileWork::DiskMix(FileMixSettings::STANDARD)) };
            wanted_state(&workload, place).map_err(|error| error.to_string())
        };
        let here = CachePlace::OtherServer("127.0.0.1:445".parse().unwrap());
        let there = CachePlace::OtherServer("10.0.0.1:445".parse().unwrap());
        assert_eq!(FileCache::ALL.len(), 4);
        assert_eq!(state(FileCache::Auto, CachePlace::Evictable), Ok(CacheState::Cold));
        assert_eq!(state(FileCache::Cold, CachePlace::Evictable), Ok(CacheState::Cold));
        assert_eq!(state(FileCache::Auto, there), Ok(CacheState::AsLeft));
        for place in [CachePlace::Evictable, here, there] {
            assert_eq!(state(FileCache::Warm, place), Ok(CacheState::Warm));
        }
        let refused = state(FileCache::Cold, here).unwrap_err();
        assert!(refused.contains("cannot be evicted"), "{refused}");
        let refused = state(FileCache::ColdMachine, there).unwrap_err();
        assert!(refused.contains("not on this machine"), "{refused}");
        let is_root = can_drop_caches();
        assert_eq!(state(FileCache::ColdMachine, here).is_ok(), is_root);
        assert_eq!(state(FileCache::ColdMachine, CachePlace::Evictable).is_ok(), is_root);
    }
}
