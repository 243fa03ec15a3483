//! A place of our own, and measurements typed as in a study file.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use host::interrupt::Interrupt;
use kinds::measure::{MeasureError, Measuring, ReplicateContext, measuring};
use results::Reading;
use tempfile::TempDir;
use units::Bytes;

/// A directory that is removed with everything in it.
pub fn place() -> (TempDir, ReplicateContext) {
    place_in(tempfile::tempdir().expect("a temporary directory"))
}

/// The same in the build's directory: on some systems `/tmp` is in memory.
pub fn place_on_disk() -> (TempDir, ReplicateContext) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
    place_in(directory.expect("a temporary directory"))
}

fn place_in(directory: TempDir) -> (TempDir, ReplicateContext) {
    let mut place = ReplicateContext::new(directory.path().display().to_string(), 7);
    place.reserve = Some(Bytes::from_mib(64));
    (directory, place)
}

/// All tests share the page cache: who empties it does so while nobody counts on it.
static PAGE_CACHE: RwLock<()> = RwLock::new(());

/// For a test that counts on what is in the page cache.
pub fn page_cache_kept() -> RwLockReadGuard<'static, ()> {
    PAGE_CACHE.read().unwrap_or_else(PoisonError::into_inner)
}

/// For a test that empties the page cache.
pub fn page_cache_emptied() -> RwLockWriteGuard<'static, ()> {
    PAGE_CACHE.write().unwrap_or_else(PoisonError::into_inner)
}

/// A model.
pub fn model(target: &str) -> ReplicateContext {
    ReplicateContext::new(target, 7)
}

/// The measurement with settings in TOML.
pub fn parsed(kind: &str, settings: &str) -> Box<dyn Measuring> {
    let table: toml::Table = settings.parse().expect("TOML");
    measuring(kind, &table).unwrap_or_else(|fault| panic!("{kind}: {fault}"))
}

/// Why these settings are refused, with the key that is at fault.
pub fn refused(kind: &str, settings: &str) -> String {
    let table: toml::Table = settings.parse().expect("TOML");
    let fault = measuring(kind, &table).expect_err("wrong settings");
    format!("{}: {}", fault.key.as_deref().unwrap_or("-"), fault.message)
}

/// What one replicate gives.
pub fn measured(kind: &str, settings: &str, place: &ReplicateContext) -> Vec<Reading> {
    try_measured(kind, settings, place).unwrap_or_else(|error| panic!("{kind}: {error:?}"))
}

/// What one replicate gives, or why there is nothing.
pub fn try_measured(
    kind: &str,
    settings: &str,
    place: &ReplicateContext,
) -> Result<Vec<Reading>, MeasureError> {
    parsed(kind, settings).measure(place, &Interrupt::never())
}

/// The reading of that name.
pub fn reading(readings: &[Reading], name: &str) -> f64 {
    let found = readings.iter().find(|reading| reading.name == name);
    found
        .unwrap_or_else(|| panic!("no {name:?} in {readings:?}"))
        .value
}

/// The names of the readings.
pub fn names(readings: &[Reading]) -> Vec<&str> {
    readings
        .iter()
        .map(|reading| reading.name.as_str())
        .collect()
}

/// Nothing of ours is left in the directory.
pub fn assert_empty(directory: &TempDir) {
    let left: Vec<_> = std::fs::read_dir(directory.path())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
