//! The streams of a transfer: what each reads or writes, opened, laid out and removed.

use drivers::{AccessMode, Checking};
use procedure::CheckUpFacts;
use results::{Access, Caution, TargetDescription, TransferMode, TransferStream, Warning};
use units::{Bytes, Instant, TargetName};

use super::hosts::{PeerStreams, agreed, numbers};
use super::run::{Sharing, TransferRequest};
use crate::session::Result;
use lab::bench::{Bench, BenchError, BenchRequest, OpenedBench, of_full_host, open_bench};
use lab::cells::Cells;
use lab::kept::Kept;
use lab::laboratory::{LaboratoryError, trial_seed};
use lab::storage::{StorageLaboratory, StorageSettings};

/// Streams that are ready, and what is known of them.
pub struct OpenedStreams {
    pub streams: TransferStreams,
    /// The first target.
    pub description: TargetDescription,
    /// What would mislead.
    pub cautions: Vec<Caution>,
    /// Files of ours on the first target.
    pub files: u64,
    /// Number of streams, of all hosts.
    pub count: u32,
    /// What is known of the first target, with the smallest of all that exist, and with what files
    /// of ours may take together.
    pub facts: CheckUpFacts,
    /// How hosts differ where that is no mistake, a sentence each.
    pub differences: Vec<String>,
}

/// One stream.
pub struct StreamLane {
    /// Where its passes are run.
    pub bench: Bench,
    /// How it reaches its target.
    pub access: Access,
    /// What it is called.
    pub described: TransferStream,
    /// Whether it writes a file of its own.
    pub writes: bool,
}

pub struct TransferStreams {
    /// In the order of their numbers; a model has one for all.
    pub lanes: Vec<StreamLane>,
    /// Clients of a pass: above one on a model only.
    pub clients: u32,
    /// Streams that read the first one's file, once that is written.
    late: u32,
    settings: StorageSettings,
    /// The least room of any directory that gets a file.
    room: u64,
    existing: Option<u64>,
    /// The other hosts, where there are several.
    pub(super) peers: Option<PeerStreams>,
}

/// Open every stream. In directories this makes work directories and nothing else.
///
/// # Errors
/// When a target does not exist, must not be used that way, or has no room.
pub fn open_streams(request: &TransferRequest) -> Result<OpenedStreams> {
    let opened = open_here(request);
    match &request.bench.ranks {
        Some(ranks) => agreed(ranks, request.streams, opened.map_err(of_full_host)),
        None => opened,
    }
}

/// Open those of this host.
fn open_here(request: &TransferRequest) -> Result<OpenedStreams> {
    let is_model = request.bench.target.is_model();
    refuse_on_model(request, is_model)?;
    let numbers = numbers(request.bench.ranks.as_ref(), request.streams);
    let number = numbers.first().copied().unwrap_or(1);
    let wanted = wanted(&request.bench, number);
    let mut first = open_bench(&wanted)?;
    let makes_files = first.facts.makes_files;
    let own = request.sharing == Sharing::OwnFiles;
    if !makes_files && !is_model && own && numbers.len() > 1 {
        return Err(first.bench.abandon(BenchError::Usage(format!(
            "{} exists, and several streams can only share it. Add --same-file, or name a \
             directory in which each gets a file of its own",
            request.bench.target
        ))));
    }
    if makes_files && !own && request.bench.ranks.is_some() {
        return Err(first.bench.abandon(BenchError::Usage(
            "--same-file: no rank makes a file for the others. Name a file that exists, with \
             --shared, or leave it out"
                .into(),
        )));
    }
    let (facts, description) = (first.facts.clone(), first.description.clone());
    let cautions = first.cautions.clone();
    let late = if makes_files && !own {
        request.streams - 1
    } else {
        0
    };
    let mut streams = TransferStreams {
        existing: facts.existing.map(Bytes::as_u64),
        room: u64::MAX,
        lanes: vec![lane_of(first, number, &wanted, request.mode)],
        clients: if is_model { request.streams } else { 1 },
        late,
        settings: request.bench.storage.clone(),
        peers: None,
    };
    let others = if is_model || late > 0 {
        &[]
    } else {
        &numbers[1..]
    };
    if let Err(error) = streams.add(request, others) {
        return Err(error.with_left(streams.clean_up()));
    }
    let count = streams.clients.max(streams.lanes.len() as u32 + late);
    Ok(OpenedStreams {
        files: match (makes_files, own) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => numbers.len() as u64,
        },
        facts: CheckUpFacts {
            room: Bytes(facts.room.0.min(streams.room)),
            existing: streams.existing.map(Bytes),
            ..facts
        },
        differences: Vec::new(),
        streams,
        description,
        cautions,
        count,
    })
}

/// What is asked of the target of a stream: each file has data of its own, which nobody can take
/// for another's.
fn wanted(bench: &BenchRequest, number: u32) -> BenchRequest {
    let mut wanted = bench.clone();
    // Hosts agree on all of their streams at once.
    wanted.ranks = None;
    if number > 1 {
        wanted.storage.seed = trial_seed(bench.storage.seed, u64::from(number) << 48);
    }
    wanted
}

fn refuse_on_model(request: &TransferRequest, is_model: bool) -> Result<()> {
    let target = &request.bench.target;
    let beside = request.beside.as_ref().map(|beside| &beside.target);
    let reason = if is_model && beside.is_some() {
        "a model's time is virtual, and nothing real can be measured with it: leave --beside out"
    } else if is_model && request.mode != TransferMode::Simulated {
        "a model takes no mode, but --mode buffered where it has a file cache: leave --mode out"
    } else if beside.is_some_and(TargetName::is_model) {
        "--beside names a model, whose time is virtual. Name a real target"
    } else {
        return Ok(());
    };
    Err(BenchError::Usage(format!("{target}: {reason}")))
}

fn lane_of(
    opened: OpenedBench,
    number: u32,
    request: &BenchRequest,
    mode: TransferMode,
) -> StreamLane {
    let device = opened.description.devices.first();
    StreamLane {
        access: opened.facts.access,
        described: TransferStream {
            number,
            target: request.target.to_string(),
            device: device.map(|device| device.name.clone()),
            host: None,
        },
        writes: opened.facts.makes_files
            || mode == TransferMode::Simulated && opened.facts.may_overwrite,
        bench: opened.bench,
    }
}

impl TransferStreams {
    /// Open `others` more streams on the first target, and the one beside it.
    fn add(&mut self, request: &TransferRequest, others: &[u32]) -> Result<()> {
        let more = others.iter().map(|number| wanted(&request.bench, *number));
        let beside_number = 2 + self.late + others.len() as u32;
        let beside = request.beside.as_ref().map(|it| wanted(it, beside_number));
        let numbers = others.iter().copied().chain([beside_number]);
        for (wanted, number) in more.chain(beside).zip(numbers) {
            let opened = open_bench(&wanted)?;
            if let Some(size) = opened.facts.existing {
                self.existing = Some(self.existing.map_or(size.0, |known| known.min(size.0)));
            }
            if opened.facts.makes_files {
                self.room = self.room.min(opened.facts.room.0);
            }
            self.lanes
                .push(lane_of(opened, number, &wanted, request.mode));
        }
        Ok(())
    }

    /// The present instant on the laboratory's clock.
    pub fn now(&mut self) -> Instant {
        self.lanes[0].bench.laboratory().now()
    }

    /// Whether their time is virtual.
    pub fn is_model(&self) -> bool {
        matches!(self.lanes[0].bench, Bench::Simulated(_))
    }

    /// The streams, for the record.
    pub fn described(&self) -> Vec<TransferStream> {
        if let Some(peers) = &self.peers {
            return peers.streams.clone();
        }
        let first = &self.lanes[0].described;
        let alike = (1..self.clients).map(|place| TransferStream {
            number: place + 1,
            ..first.clone()
        });
        let mut all: Vec<TransferStream> = self
            .lanes
            .iter()
            .map(|lane| lane.described.clone())
            .collect();
        all.extend(alike);
        all.sort_by_key(|stream| stream.number);
        all
    }

    /// Numbers of the streams that write, of `count` on all hosts.
    pub fn writers(&self, count: u32) -> Vec<u32> {
        let writers = self.lanes.iter().filter(|lane| lane.writes);
        let mut numbers: Vec<u32> = writers.map(|lane| lane.described.number).collect();
        // Streams of a model, and those of hosts, are alike.
        if self.clients > 1 || self.peers.is_some() && !numbers.is_empty() {
            numbers = (1..=count).collect();
        }
        numbers
    }

    /// Bytes of the smallest target that exists.
    pub const fn existing_size(&self) -> Option<u64> {
        self.existing
    }

    /// Make the files, `size` bytes each.
    ///
    /// # Errors
    /// When there is no room, or the system refuses.
    pub fn lay_out(&mut self, size: Bytes, check: Option<Checking>) -> Result<(), LaboratoryError> {
        for lane in &mut self.lanes {
            lane.bench.lay_out(size)?;
            if let Bench::Real(real) = &mut lane.bench {
                real.write_for(check.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// From now on the files are read: what was written is checked, and others may join.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn after_writing(&mut self, check: Option<Checking>) -> Result<(), LaboratoryError> {
        for lane in &mut self.lanes {
            if let (Bench::Real(real), true) = (&mut lane.bench, lane.writes) {
                real.settle_main()?;
                real.check_reads(check);
            }
        }
        let Bench::Real(first) = &self.lanes[0].bench else {
            return Ok(());
        };
        let Some(path) = first.main_file().filter(|_| self.late > 0) else {
            return Ok(());
        };
        let (access, described) = (self.lanes[0].access, self.lanes[0].described.clone());
        for place in 0..self.late {
            let settings = self.settings.clone();
            let read_only = AccessMode::ReadOnly;
            let mut late = StorageLaboratory::on_target(&path, read_only, None, settings)?;
            late.check_reads(check);
            self.lanes.push(StreamLane {
                bench: Bench::Real(Box::new(Kept::new(late, Cells::default(), 0))),
                access,
                described: TransferStream {
                    number: place + 2,
                    ..described.clone()
                },
                writes: false,
            });
        }
        self.late = 0;
        self.lanes.sort_by_key(|lane| lane.described.number);
        Ok(())
    }

    /// What inspection and opening found worth saying.
    pub fn warnings(&self, cautions: &[Caution]) -> Vec<Warning> {
        let mut warnings = self.lanes[0].bench.warnings(cautions);
        for lane in &self.lanes[1..] {
            for warning in lane.bench.warnings(&[]) {
                if !warnings.iter().any(|known| known.cause == warning.cause) {
                    warnings.push(warning);
                }
            }
        }
        warnings
    }
    /// Remove what was made; what could not be removed, a warning each.
    pub fn clean_up(&mut self) -> Vec<Warning> {
        // Those that read another's file go first.
        let lanes = self.lanes.iter_mut().rev();
        lanes.filter_map(|lane| lane.bench.clean_up()).collect()
    }
}
