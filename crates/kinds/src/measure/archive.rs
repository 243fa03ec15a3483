//! `archive` and `retrieve`: many files into a store, and out of it again.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use results::Reading;
use results::metric::{
    ARCHIVE_CPU, ARCHIVE_RATE, FILES_GOT, FILES_PUT, RETRIEVE_CPU, RETRIEVE_RATE, TIME_TO_GET,
    TIME_TO_PUT,
};
use units::Bytes;

use super::Stop;
use super::form::ValueForm;
use super::kind::{Kind, Measuring, flag, made, settings};
use super::made::{Checker, MadeFiles, open_made};
use super::net;
use super::place::{MeasureError, ReplicateContext, Result, go_on};
use super::records::{Gauge, Who};
use super::settings::{SettingFault, Settings};
use super::store::{check_store, open_store, pump};
use super::targets::Targets;
use host::together::{no_thread, together};

settings! {
    /// files that are made for it
    const FILES = ValueForm::Count(1, 1_000_000).or("100");
    /// bytes of each
    const SIZE = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 10)).or("256KiB");
    /// the directory or bucket that they are put into. A second directory in the target when not
    /// given. A server in clear is s3://HOST:PORT/BUCKET. A bucket's keys are taken from
    /// AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
    const STORE = ValueForm::Path("PATH or s3:https://HOST/BUCKET").optional();
    /// files under way at the same time
    const AT_ONCE = ValueForm::Count(1, 256).or("1");
}
/// The kind that puts.
pub const ARCHIVE: Kind = Kind {
    name: "archive",
    about: "many files put from a directory into a store",
    settings: settings! {
        files = FILES,
        size = SIZE,
        store = STORE,
        ca = net::CA,
        at_once = AT_ONCE,
        /// whether the files are dropped from the page cache before they are put
        cold = flag(true),
    },
    readings: &[ARCHIVE_RATE, ARCHIVE_CPU, FILES_PUT, TIME_TO_PUT],
    targets: Targets::directories(
        "makes its files in a directory",
        "moves files, and a model has none",
    ),
    in_place: None,
    is_command: false,
    make: |settings| {
        made(ArchiveMeasurement::from_settings(
            StoreDirection::Put,
            settings,
        ))
    },
};

/// The kind that gets.
pub const RETRIEVE: Kind = Kind {
    name: "retrieve",
    about: "many files got from a store into a directory",
    settings: settings! {
        files = FILES,
        size = SIZE,
        store = STORE,
        ca = net::CA,
        at_once = AT_ONCE,
        /// whether the store's contents are dropped from this machine's memory before the get
        cold = flag(true),
    },
    readings: &[RETRIEVE_RATE, RETRIEVE_CPU, FILES_GOT, TIME_TO_GET],
    make: |settings| {
        made(ArchiveMeasurement::from_settings(
            StoreDirection::Get,
            settings,
        ))
    },
    ..ARCHIVE
};

/// Which way files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreDirection {
    /// Into the store.
    Put,
    /// Out of it.
    Get,
}

/// Many files into a store, or out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMeasurement {
    direction: StoreDirection,
    files: u64,
    size: Bytes,
    store: Option<String>,
    ca: Option<PathBuf>,
    at_once: u64,
    cold: bool,
}

impl ArchiveMeasurement {
    fn from_settings(
        direction: StoreDirection,
        settings: &Settings<'_>,
    ) -> Result<Self, SettingFault> {
        let store: Option<String> = settings.optional("store");
        Ok(Self {
            direction,
            files: settings.value("files"),
            size: settings.value("size"),
            ca: net::ca(settings, store.as_deref().unwrap_or_default())?,
            store,
            at_once: settings.value("at-once"),
            cold: settings.value("cold"),
        })
    }

    const fn kind(&self) -> &'static str {
        match self.direction {
            StoreDirection::Put => ARCHIVE.name,
            StoreDirection::Get => RETRIEVE.name,
        }
    }

    /// Do it to each file, several at once, and tell what that took.
    fn each(&self, act: &(impl Fn(u64) -> Result<()> + Sync), stop: &Stop) -> Result<Vec<Reading>> {
        let next = AtomicU64::new(0);
        let seconds = Mutex::new(vec![0.0; self.files as usize]);
        let (next, times) = (&next, &seconds);
        let work = move || loop {
            go_on(stop)?;
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.files {
                return Ok::<(), MeasureError>(());
            }
            let begun = Instant::now();
            act(number)?;
            let elapsed = begun.elapsed().as_secs_f64();
            times.lock().unwrap_or_else(PoisonError::into_inner)[number as usize] = elapsed;
        };
        let threads = (0..self.at_once).map(|_| work);
        let (gauge, ends) = together(threads, || Gauge::start(Who::Process))
            .map_err(|error| MeasureError::Failed(no_thread(&error)))?;
        let died = || MeasureError::Failed("a thread has died: our mistake".into());
        for end in ends {
            end.map_err(|_| died())??;
        }
        let flow = gauge.flow(self.files * self.size.0);
        let seconds = seconds.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let (of_flow, done, time) = match self.direction {
            StoreDirection::Put => ([ARCHIVE_RATE, ARCHIVE_CPU], FILES_PUT, TIME_TO_PUT),
            StoreDirection::Get => ([RETRIEVE_RATE, RETRIEVE_CPU], FILES_GOT, TIME_TO_GET),
        };
        let per_second = self.files as f64 / flow.elapsed.as_secs_f64().max(1e-9);
        let others = [done.reading(per_second), time.reading(mean).of(seconds)];
        Ok(flow.readings(of_flow).chain(others).collect())
    }
}

impl Measuring for ArchiveMeasurement {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        check_store(self.store.as_deref(), self.ca.as_deref(), place)
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let wanted = self.files.saturating_mul(self.size.0);
        let directory = place.work_directory(self.kind(), wanted.saturating_mul(2))?;
        let files = MadeFiles::make(&directory, self.files, self.size, place.seed, stop)?;
        let store = open_store(self.store.as_deref(), self.ca.as_deref(), place, wanted)?;
        let got = |number: u64| format!("got{number:06}");
        let put = |number| {
            let mut file = files.open(number)?;
            store.put(&files.name(number), self.size.0, &mut file)
        };
        let get = |number| {
            let mut file = directory.create_file(&got(number))?;
            let path = directory.path().join(got(number));
            store.get(&files.name(number), &mut file)?;
            file.sync_data().map_err(MeasureError::io("sync", &path))
        };
        let readings = match self.direction {
            StoreDirection::Put => {
                if self.cold {
                    files.cool()?;
                }
                let readings = self.each(&put, stop)?;
                store.cool()?;
                compare(&files, stop, |number, checker| {
                    store.get(&files.name(number), checker).map(drop)
                })?;
                readings
            }
            StoreDirection::Get => {
                self.each(&put, stop)?;
                if self.cold {
                    store.cool()?;
                }
                let readings = self.each(&get, stop)?;
                compare(&files, stop, |number, checker| {
                    let mut file = open_made(&directory, &got(number))?;
                    let path = directory.path().join(got(number));
                    let copied = pump(&mut file, checker);
                    copied.map(drop).map_err(MeasureError::io("read", &path))
                })?;
                readings
            }
        };
        let expected: Vec<String> = (0..self.files).map(|number| files.name(number)).collect();
        if store.list()? != expected {
            return Err(MeasureError::Failed(
                "the store does not list the files that were put into it".into(),
            ));
        }
        store.close()?;
        directory.remove()?;
        Ok(readings)
    }
}

/// Every file has come where it should, whole.
fn compare(
    files: &MadeFiles<'_>,
    stop: &Stop,
    read: impl Fn(u64, &mut Checker<'_>) -> Result<()>,
) -> Result<()> {
    for number in 0..files.count() {
        go_on(stop)?;
        let mut checker = files.checker(number);
        read(number, &mut checker)?;
        checker.finish()?;
    }
    Ok(())
}
