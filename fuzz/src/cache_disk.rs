//! Records of the accelerator's disk tier.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use cache_policy::{DotSegments, Key, Settings};
use cache_store::disk::DiskSettings;
use cache_store::{Store, StoreSettings, StoredResponse};

static FOLDER: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("plimsoll-fuzz-{}", std::process::id())));

const BODY: &[u8] = b"body";

/// Opens a record with this head and a valid body; an object that is found is written, and found again unchanged.
pub fn record(bytes: &[u8]) {
    let _ = fs::remove_dir_all(&*FOLDER);
    fs::create_dir_all(&*FOLDER).expect("a folder");
    fs::write(FOLDER.join("00000001.segment"), segment(bytes.to_vec())).expect("room on the disk");
    let key = Key::parse("http://a/", DotSegments::Resolved).expect("a key");
    let store = open();
    for object in fetch(&store, &key) {
        assert_eq!(object.body, BODY);
        assert!(store.insert(&object, store.since(key.as_str()), &Settings::default()));
        store.flush();
        let [again] = &fetch(&store, &key)[..] else { panic!("not found again: {object:?}") };
        assert_eq!((&again.stored, &again.tags), (&object.stored, &object.tags));
        assert_eq!((&again.body, again.origin_time), (&object.body, object.origin_time));
        assert!(again.lines.iter().eq(object.lines.iter()), "{:?}", again.lines);
    }
}

/// Inserts the checksums, which no input would guess.
fn segment(mut head: Vec<u8>) -> Vec<u8> {
    if let Some(place) = head.get_mut(16..52) {
        place[..4].copy_from_slice(&(BODY.len() as u32).to_le_bytes());
        place[4..].copy_from_slice(blake3::hash(BODY).as_bytes());
    }
    let lengths = [head.len() as u32, BODY.len() as u32].map(u32::to_le_bytes);
    let start = [*b"PLR1", lengths[0], lengths[1]].concat();
    let sum = blake3::hash(&[&start[..], &head].concat());
    [&start[..], sum.as_bytes(), &head, BODY].concat()
}

fn open() -> Store {
    let disk = DiskSettings { directory: FOLDER.clone(), bytes: 16 << 20 };
    let settings = StoreSettings { bytes: 4 << 20, disk: Some(disk), ..StoreSettings::default() };
    Store::open(&settings).expect("a store")
}

fn fetch(store: &Store, key: &Key) -> Vec<Arc<StoredResponse>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a thread without sockets");
    runtime.block_on(store.fetch(key, &Settings::default()))
}
