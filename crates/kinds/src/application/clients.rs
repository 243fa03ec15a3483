//! The clients of a step: those that are measured report what they have done, those beside them do
//! not.

use std::sync::Arc;

use drivers::{BLOCK_BYTES, DriverKind};
use lab::bench::BenchError;
use procedure::{
    ApplicationProfile, LoadOperation, LoadOrder, MAIN_BUFFERED, MAIN_DIRECT, ProfileLoad,
    ProfileStep,
};
use results::Access;
use units::Bytes;
use workload::{
    AddressError, AddressSpec, Agenda, Client, ClientSpec, Durability, Event, Gap, GapShape,
    MakeClient, Mix, MixClient, MixSpec, OwnCounts, OwnSpec, Pacing, Partition, Region, TargetId,
    UnitOfWork,
};

use crate::depth::{closed_depth, open_depth};
use crate::measure::wal::log::LogSpec;
use crate::session::{Result, Session};

/// A log is the last so much of the target ...
const LOG_SHARE: u64 = 4;
/// ... and no more than this; after its end it begins anew, as a database reuses its segments.
const LOG_MAX: u64 = 256 << 20;
/// The most records that one append takes.
const GROUP_MAX: u32 = 64;

/// Where steps are measured.
pub(super) struct StepPlace {
    pub access: Access,
    has_page_cache: bool,
    driver: DriverKind,
    size: Bytes,
    cores: u32,
}

impl StepPlace {
    pub fn of(session: &Session<'_>, cores: u32) -> Self {
        Self {
            access: session.facts.access,
            has_page_cache: session.facts.has_page_cache,
            driver: session.request.storage.driver,
            size: session.size,
            cores,
        }
    }

    /// First byte and length of the log.
    fn log(&self) -> (u64, u64) {
        let block = BLOCK_BYTES as u64;
        let len = (self.size.0 / LOG_SHARE).min(LOG_MAX) / block * block;
        let offset = (self.size.0 - len) / block * block;
        (offset, len)
    }
}

/// Whether a load uses the page cache; what is not a whole number of blocks always does.
pub(super) fn is_cached(load: &ProfileLoad) -> bool {
    load.is_cached || !load.io.0.is_multiple_of(BLOCK_BYTES as u64)
}

/// Clients of a load, or writers of a log.
pub(super) fn clients_in(load: &ProfileLoad, cores: u32) -> u32 {
    (load.clients.on(cores).round() as u32).max(1)
}

/// The clients of a step, how many they are, and how many requests they have outstanding.
pub(super) fn clients_of(
    profile: &ApplicationProfile,
    step: &ProfileStep,
    place: &StepPlace,
) -> Result<(ClientSpec, u32, u32)> {
    let loads = step.beside.iter().map(|it| (it, false));
    let loads = std::iter::once((&step.load, true)).chain(loads);
    let groups: Vec<LikeClients> = loads
        .map(|(load, is_measured)| like_clients(load, is_measured, place))
        .collect();
    for group in &groups {
        if group.is_too_large {
            let name = profile.measurement(step);
            return Err(BenchError::Usage(format!(
                "{name} needs a larger target than {}: use --size",
                place.size
            )));
        }
    }
    let clients = groups.iter().map(|it| it.count).sum();
    let depth = groups.iter().map(|it| it.depth).sum();
    let loads = || step.beside.iter().chain([&step.load]);
    let reads = loads().any(|it| it.operation == LoadOperation::Read);
    let writes = loads().any(|it| it.operation != LoadOperation::Read);
    // Past the page cache only whole blocks are moved.
    let (target, unit) = match loads().all(is_cached) {
        true => (target_of(&step.load, place), 1),
        false => (MAIN_DIRECT, BLOCK_BYTES as u32),
    };
    let len_max = groups.iter().map(|it| it.len_max).max();
    let spec = OwnSpec {
        kind: profile.name.clone(),
        settings: vec![("step".to_owned(), step.name.clone())],
        target,
        len: place.size.0,
        unit,
        len_max: len_max.unwrap_or_default(),
        reads,
        writes,
        is_durable: step.load.is_synced || step.load.operation == LoadOperation::Log,
        counts: match step.load.rate {
            Some(rate) => OwnCounts::ScheduledUnits {
                per_second: rate.on(place.cores),
            },
            None => OwnCounts::Units,
        },
        maker: Some(Arc::new(StepClients { groups })),
    };
    Ok((ClientSpec::Own(spec), clients, depth))
}

/// Makes the clients of a step, group after group.
#[derive(Debug)]
struct StepClients {
    groups: Vec<LikeClients>,
}

/// Clients that do the same.
#[derive(Debug)]
struct LikeClients {
    count: u32,
    depth: u32,
    len_max: u32,
    is_measured: bool,
    is_too_large: bool,
    what: ClientKind,
}

#[derive(Debug)]
enum ClientKind {
    Mix(MixSpec),
    Log(LogSpec),
}

impl MakeClient for StepClients {
    fn client(&self, seed: u64, client: u32, _: u32) -> Result<Box<dyn Client>, AddressError> {
        let mut number = client;
        for group in &self.groups {
            if number >= group.count {
                number -= group.count;
                continue;
            }
            return match &group.what {
                // It reports its records itself.
                ClientKind::Log(spec) => spec.client(seed, client, 1),
                ClientKind::Mix(spec) => {
                    let own = seed.wrapping_add(u64::from(client - number) << 32);
                    let inner = MixClient::new(spec, own, number, group.count)?;
                    Ok(match group.is_measured {
                        true => Box::new(MeasuredClient { inner }),
                        false => Box::new(inner),
                    })
                }
            };
        }
        unreachable!("client {client} is of no group");
    }
}

/// Reports each of its operations as a unit of work.
struct MeasuredClient {
    inner: MixClient,
}

impl Client for MeasuredClient {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        if let Event::Completed(done) = &event
            && done.result.is_ok()
        {
            agenda.unit_done(UnitOfWork {
                kind: 0,
                due: done.request.due,
                started: done.issued,
                completed: done.completed,
                lateness: done.lateness(),
                bytes: u64::from(done.request.op.len()),
            });
        }
        self.inner.on_event(event, agenda);
    }
}

fn target_of(load: &ProfileLoad, place: &StepPlace) -> TargetId {
    match is_cached(load) && place.has_page_cache {
        true => MAIN_BUFFERED,
        false => MAIN_DIRECT,
    }
}

fn like_clients(load: &ProfileLoad, is_measured: bool, place: &StepPlace) -> LikeClients {
    let count = clients_in(load, place.cores);
    let target = target_of(load, place);
    match load.operation {
        LoadOperation::Log => log(load, (count, target), is_measured, place),
        LoadOperation::Read | LoadOperation::Write => {
            mix(load, (count, target), is_measured, place)
        }
    }
}

fn log(
    load: &ProfileLoad,
    (writers, target): (u32, TargetId),
    is_measured: bool,
    place: &StepPlace,
) -> LikeClients {
    let (offset, len) = place.log();
    let spec = LogSpec {
        target,
        offset,
        len,
        record: load.io.0 as u32,
        unit: 1,
        writers,
        group: GROUP_MAX.min(writers),
        durability: Durability::DataSynced,
        think: Gap::NONE,
    };
    let largest = spec.append_max();
    LikeClients {
        count: 1,
        depth: 1,
        len_max: largest as u32,
        is_measured,
        is_too_large: largest > len,
        what: ClientKind::Log(spec),
    }
}

fn mix(
    load: &ProfileLoad,
    (count, target): (u32, TargetId),
    is_measured: bool,
    place: &StepPlace,
) -> LikeClients {
    let (data, _) = place.log();
    let region = Region::first(target, data / load.io.0 * load.io.0, load.io.0);
    let addresses = match load.order {
        LoadOrder::Random => AddressSpec::random(region),
        LoadOrder::Sequential => AddressSpec {
            partition: Partition::Contiguous,
            ..AddressSpec::sequential(region)
        },
    };
    let rate = load.rate.map(|it| it.on(place.cores));
    let pacing = match rate {
        Some(rate) => Pacing::Open {
            gap: Gap {
                shape: GapShape::Exponential,
                mean_ns: f64::from(count) * 1e9 / rate,
            },
        },
        None => Pacing::Closed { think: Gap::NONE },
    };
    let depth = match rate {
        Some(rate) => open_depth(place.driver, count, rate, load.io),
        None => closed_depth(place.driver, count, load.io),
    };
    LikeClients {
        count,
        depth,
        len_max: load.io.0 as u32,
        is_measured,
        is_too_large: region.len / load.io.0 < u64::from(count),
        what: ClientKind::Mix(MixSpec {
            durability: match load.is_synced {
                true => Durability::DataSynced,
                false => Durability::Volatile,
            },
            pacing,
            ..MixSpec::closed(
                addresses,
                match load.operation {
                    LoadOperation::Read => Mix::READ,
                    LoadOperation::Write | LoadOperation::Log => Mix::WRITE,
                },
            )
        }),
    }
}
