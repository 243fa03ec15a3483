//! `objects`: an object store under a mix of requests, as an application sees it that keeps
//! objects in a bucket.
//!
//! Objects are put under a prefix of the run's own. Clients then put, get, head, list and delete
//! them, each one request after the other, or requests are due at a rate whatever the store does.
//! A put of a large object in parts is one operation, and so is a list with all its pages. What
//! comes back is compared with what was put.

#![cfg_attr(
    not(feature = "s3"),
    allow(dead_code, reason = "a build without buckets")
)]

mod load;
#[cfg_attr(not(feature = "s3"), path = "../without/objects.rs")]
mod run;
mod sizes;

use std::path::PathBuf;

use engine::OnError;
use results::metric::{
    CLIENT_CPU, CONNECTIONS, DELETE_LATENCY, DELETE_P99, DELETES, FAILED_REQUESTS, FIRST_BYTE_P99,
    GET_LATENCY, GET_P99, GETS, HEAD_LATENCY, HEAD_P99, HEADS, LATENCY, LATENCY_P50, LATENCY_P95,
    LATENCY_P99, LATENCY_P999, LIST_LATENCY, LIST_P99, LISTS, OPERATION_RATE, PUT_LATENCY, PUT_P99,
    PUTS, THROTTLED_ANSWERS, THROUGHPUT, TIME_TO_FIRST_BYTE,
};
use units::{Bytes, Duration, Rate};

use super::form::ValueForm;
use super::kind::{Kind, Measured, Measuring, flag, made, settings};
use super::place::{ReplicateContext, Result};
use super::settings::{SettingFault, Settings};
use super::targets::{ERRORS, Targets, on_error};
use super::{Stop, net};
use load::ObjectMix;
use sizes::SizeLaw;

pub const KIND: Kind = Kind {
    name: "objects",
    about: "an object store: objects of a bucket are put, got, listed and deleted in a mix",
    settings: settings! {
        /// shares of get, put, head, list and delete. A delete takes an object that was put. Where
        /// there is none left to delete it is a put
        mix = ValueForm::Text("OP/SHARE:...").or("get/45:head/30:put/15:delete/10"),
        /// bytes of an object: one size, a range as in `4KiB-1MiB`, sizes with shares as in
        /// `4KiB/60:1MiB/40`, or `lognormal:MEDIAN:SIGMA`
        size = ValueForm::Text("SIZES").or("1MiB"),
        /// objects that are put before the measurement. Once there are twice as many, puts write
        /// over objects
        objects = ValueForm::Count(1, 1_000_000).or("200"),
        /// clients, each with one request at a time on a connection of its own
        clients = ValueForm::Count(1, 1024).or("8"),
        /// operations that are due per second, at random instants, whatever the store does
        /// (default: each client goes on at once)
        rate = ValueForm::Text("RATE").optional(),
        /// bytes that a get reads, at a random place of the object (default: all)
        range = ValueForm::Size(Bytes(1), Bytes(OBJECT_MAX)).optional(),
        /// larger objects are put in parts of this size, one after the other (default: 16 MiB)
        part = ValueForm::Size(Bytes::from_mib(5), Bytes(OBJECT_MAX)).optional(),
        /// keys that a list asks for at a time
        page = ValueForm::Count(1, 1000).or("1000"),
        /// whether a put of a new object asks that its key is new (If-None-Match)
        conditional = flag(false),
        /// whether each byte that is got is compared
        verify = flag(true),
        /// how often a request that is throttled (503, 429) is sent again, after pauses that
        /// double. The pauses are in its latency
        retries = ValueForm::Count(0, 20).or("8"),
        /// whether the bucket stands in the path or in the host. Auto puts it into the host on
        /// Amazon's servers
        style = ValueForm::Words(&["auto", "path", "host"]).or("auto"),
        /// how long each repeat measures
        time = ValueForm::Time(Duration::from_millis(100), Duration::from_secs(86_400)).or("5s"),
        ca = net::CA,
        timeout = net::TIMEOUT,
        errors = ERRORS,
    },
    readings: &[
        OPERATION_RATE,
        THROUGHPUT,
        LATENCY,
        LATENCY_P50,
        LATENCY_P95,
        LATENCY_P99,
        LATENCY_P999,
        TIME_TO_FIRST_BYTE,
        FIRST_BYTE_P99,
        GETS,
        GET_LATENCY,
        GET_P99,
        PUTS,
        PUT_LATENCY,
        PUT_P99,
        HEADS,
        HEAD_LATENCY,
        HEAD_P99,
        LISTS,
        LIST_LATENCY,
        LIST_P99,
        DELETES,
        DELETE_LATENCY,
        DELETE_P99,
        CONNECTIONS,
        CLIENT_CPU,
        THROTTLED_ANSWERS,
        FAILED_REQUESTS,
    ],
    targets: Targets::buckets("measures object stores"),
    in_place: None,
    is_command: true,
    make: |settings| made(ObjectsMeasurement::from_settings(settings)),
};

/// The largest object: a request counts its bytes in 32 bits.
const OBJECT_MAX: u64 = u32::MAX as u64;
const PART: Bytes = Bytes::from_mib(16);

/// An object store, and what is asked of it.
#[derive(Debug)]
struct ObjectsMeasurement {
    mix: ObjectMix,
    sizes: SizeLaw,
    objects: u32,
    clients: u32,
    rate: Option<f64>,
    range: Option<u64>,
    part: u64,
    page: u16,
    is_conditional: bool,
    verifies: bool,
    retries: u32,
    is_in_host: Option<bool>,
    time: Duration,
    ca: Option<PathBuf>,
    timeout: std::time::Duration,
    on_error: OnError,
    typed: Vec<(String, String)>,
}

impl ObjectsMeasurement {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let text = |name: &str| settings.value::<String>(name);
        let fault = |name: &str, why: &str| {
            SettingFault::at(name, format!("{name} = {:?}: {why}", text(name)))
        };
        let rate: Option<String> = settings.optional("rate");
        let rate = rate.map(|typed| {
            let rate: Rate = typed
                .parse()
                .map_err(|error| SettingFault::at("rate", format!("rate: {error}")))?;
            match rate.per_second() > 0.0 {
                true => Ok(rate.per_second()),
                false => Err(SettingFault::at("rate", "rate: it is above zero")),
            }
        });
        let part = settings.optional("part").unwrap_or(PART);
        Ok(Self {
            mix: ObjectMix::parse(&text("mix")).map_err(|why| fault("mix", &why))?,
            sizes: SizeLaw::parse(&text("size")).map_err(|why| fault("size", &why))?,
            objects: settings.value::<u64>("objects") as u32,
            clients: settings.value::<u64>("clients") as u32,
            rate: rate.transpose()?,
            range: settings.optional::<Bytes>("range").map(|it| it.0),
            part: part.0,
            page: settings.value::<u64>("page") as u16,
            is_conditional: settings.value("conditional"),
            verifies: settings.value("verify"),
            retries: settings.value::<u64>("retries") as u32,
            is_in_host: settings.choice(
                "style",
                &[("auto", None), ("path", Some(false)), ("host", Some(true))],
            ),
            time: settings.value("time"),
            ca: settings.optional("ca"),
            timeout: net::timeout(settings),
            on_error: on_error(settings),
            typed: settings.all_typed(),
        })
    }
}

impl Measuring for ObjectsMeasurement {
    fn check(&self, place: &ReplicateContext) -> Result<()> {
        run::check(self, place)
    }

    fn measured(&self, place: &ReplicateContext, stop: &Stop) -> Result<Measured> {
        run::measured(self, place, stop)
    }
}
