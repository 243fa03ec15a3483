//! One step of a procedure of file tests: a script played by all clients at once.

use std::collections::BTreeMap;

use engine::{PlayEnd, Played, ProcessorTime, WRONG_DATA, WallPart, play};
use procedure::{FileCell, FileItem, FilePlayed, FileStep, time_alike};
use results::{FilePass, FileState, FileSystemRole, StonewallPass};
use serde::{Deserialize, Serialize};
use stats::Histogram;
use units::Duration;
use verify::FileFindings;
use workload::{
    DecusOrder, DecusTest, Durability, Errno, FileOp, FileOpKind, FileScript, FilesShape, Spacing,
    read_device, stand_in_for_device,
};

use super::hosts;
use super::run::{FilesRequest, FilesSession};
use super::stonewall::{at_the_wall, made_in, played_to_wall};
use super::subject::{ClientFiles, TestedFileSystem};
use host::counters::Counters;
use host::interrupt::Interrupt;
use host::together::{no_thread, together};
use lab::bench::BenchError;
use lab::cells::Killed;
use lab::test_file::stopped;

/// A pass, with the times of its calls by kind.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptPass {
    pub pass: FilePass,
    pub times: BTreeMap<FileOpKind, Histogram>,
    /// What verification found in it.
    pub found: FileFindings,
}

impl FilesSession<'_> {
    /// Do what comes next.
    ///
    /// # Errors
    /// When a call fails, or somebody stopped it.
    pub(super) fn perform(&mut self, step: &FileStep) -> Result<(), BenchError> {
        if let Some(stop) = stopped(self.interrupt)
            && self.peers.is_none()
        {
            return Err(stop);
        }
        match *step {
            FileStep::Measure { cell, pass } => return self.measure(&cell, pass),
            // What follows finds an empty disk, whatever was to be done before.
            FileStep::Initialise(_) => self.put_off.clear(),
            _ => {}
        }
        self.put_off.push(*step);
        Ok(())
    }

    /// Do what a step does, whether or not its time is wanted.
    fn act(&mut self, step: &FileStep) -> Result<(), BenchError> {
        match *step {
            FileStep::Initialise(role) => {
                self.each_does(role, FileOp::Initialise, "removing the files")?;
            }
            FileStep::DropCaches(cell) => self.drop_caches(&cell)?,
            FileStep::Prepare(cell) => {
                self.play(&cell, 0)?;
            }
            FileStep::Space(cell, spacing) => {
                let script = move |_: u32, _: &ClientFiles| spacing.script(cell.scale);
                self.play_scripts(&cell, spacing.name(), &script)?;
            }
            FileStep::StandIn(cell) => {
                let chunk = self.request.device_chunk;
                let script = |_: u32, hand: &ClientFiles| -> FileScript {
                    match hand.looked_at().device_bytes() {
                        Some(_) => Box::new(std::iter::empty()),
                        None => stand_in_for_device(chunk).0,
                    }
                };
                self.play_scripts(&cell, "the file of TEST11", &script)?;
            }
            FileStep::SharedFile(cell) => {
                let shape = self.request.shape();
                let share = self.request.share();
                let script = move |client: u32, _: &ClientFiles| -> FileScript {
                    match shape {
                        Some(FilesShape::Transfers(spec)) if share.client(client) == 0 => {
                            spec.shared_file()
                        }
                        _ => Box::new(std::iter::empty()),
                    }
                };
                self.play_scripts(&cell, "the file of all clients", &script)?;
            }
            FileStep::Measure { cell, pass } => {
                self.play(&cell, pass)?;
            }
        }
        Ok(())
    }

    /// A pass, or what was kept of it before a kill. What comes before a pass is put off until one
    /// is measured; where passes leave behind what no next one would make, all of them are.
    fn measure(&mut self, cell: &FileCell, pass: u32) -> Result<(), BenchError> {
        let cells = self.request.bench.cells.clone();
        let of = format!("{cell:?}, pass {pass}");
        let may_be_replayed = self.subject(cell.role).is_stateless || cells.is_replay_only();
        let replayed: Option<KeptPass> = cells.replay(&of).filter(|_| may_be_replayed);
        let kept = match replayed {
            Some(kept) => {
                self.replayed += Duration(kept.pass.elapsed_ns);
                let (cell, pass) = (*cell, pass);
                self.put_off.push(FileStep::Measure { cell, pass });
                kept
            }
            None if cells.is_replay_only() => return Err(Killed.into()),
            None => {
                let mut kept = self.measured(cell, pass)?;
                kept.found = self.read_back(cell)?;
                cells.keep(&of, &kept);
                kept
            }
        };
        if let Some(made) = made_in(&kept.pass) {
            self.made.insert((cell.role, cell.state), made);
        }
        self.found.merge(&kept.found);
        self.procedure.record(cell, time_alike(&kept.pass));
        let has_warm_up = self.procedure.has_warm_up();
        let row = self.played.entry(*cell);
        let row = row.or_insert_with(|| FilePlayed::new(has_warm_up));
        row.add(kept.pass, &kept.times);
        Ok(())
    }

    /// A pass of all hosts: each takes the steps before it, all begin together, and what they
    /// found is added.
    fn measured(&mut self, cell: &FileCell, pass: u32) -> Result<KeptPass, BenchError> {
        let Some(mut peers) = self.peers.take() else {
            self.act_put_off()?;
            return self.measured_here(cell, pass);
        };
        let measured = peers.round(
            self,
            Self::act_put_off,
            |session| session.measured_here(cell, pass),
            |all, machines| {
                let parts = all.iter().map(hosts::part);
                (hosts::merged(all, machines), parts.collect())
            },
        );
        self.peers = Some(peers);
        measured
    }

    fn act_put_off(&mut self) -> Result<(), BenchError> {
        if let Some(stop) = stopped(self.interrupt) {
            return Err(stop);
        }
        let steps = std::mem::take(&mut self.put_off);
        steps.iter().try_for_each(|before| self.act(before))
    }

    fn measured_here(&mut self, cell: &FileCell, pass: u32) -> Result<KeptPass, BenchError> {
        let device = self.subject(cell.role).device_of(cell.item);
        let before = Counters::take(device.as_deref());
        let (played, wall) = match self.request.wall_of(cell) {
            Some(wall) => {
                let (played, parts) = self.play_to_wall(cell, wall)?;
                (played, at_the_wall(&parts))
            }
            None => (self.play(cell, pass)?, None),
        };
        let counted = before.delta(&Counters::take(device.as_deref())).device;
        let counted = counted.as_ref().map(|it| (it.reads, it.writes));
        let pass = FilePass {
            items: self.items_here(cell, wall.as_ref(), &played),
            stonewall: wall,
            ..summed(pass, &played, counted)
        };
        let mut times = BTreeMap::new();
        for (kind, found) in played.iter().flat_map(|one| &one.times) {
            let all: &mut Histogram = times.entry(*kind).or_default();
            all.merge(found);
        }
        let found = FileFindings::default();
        Ok(KeptPass { pass, times, found })
    }

    /// Make files up to the wall, and then as many as the furthest client of all hosts has made.
    fn play_to_wall(
        &mut self,
        cell: &FileCell,
        wall: Duration,
    ) -> Result<(Vec<Played>, Vec<WallPart>), BenchError> {
        let (request, interrupt) = (self.request, self.interrupt);
        let shape = request.shape().expect("the same for each client");
        let work = move |client: u32| {
            request.pin(client);
            request.walled_work(shape, client)
        };
        let subject = self.ready_subject(cell);
        let furthest = |here| request.furthest(here);
        let played = played_to_wall(&mut subject.hands, &work, wall, interrupt, furthest)?;
        let path = subject.description.path.clone();
        let (played, parts): (Vec<Played>, Vec<WallPart>) = played.into_iter().unzip();
        all_whole(&played, &title_of(cell.item), &path, interrupt)?;
        Ok((played, parts))
    }

    /// Items of this host's clients in a pass, where a stonewall decides how many there are.
    fn items_here(
        &self,
        cell: &FileCell,
        wall: Option<&StonewallPass>,
        played: &[Played],
    ) -> Option<u64> {
        self.request.stonewall?;
        // An item of these workloads is made by one such call.
        let (call, each) = match cell.item {
            FileItem::Metadata(phase) => (FileOpKind::Create, self.shape_made(cell)?.items(phase)),
            FileItem::Bandwidth(_) => (FileOpKind::Write, self.shape_made(cell)?.most()),
            FileItem::Decus(..) => return None,
        };
        let calls = played.iter().filter_map(|it| it.times.get(&call));
        Some(match wall {
            Some(_) => calls.map(Histogram::len).sum(),
            None => u64::from(each) * u64::from(self.request.clients_here()),
        })
    }

    /// What each client makes, with as many files or transfers as are there.
    fn shape_made(&self, cell: &FileCell) -> Option<FilesShape> {
        let shape = self.request.shape()?;
        let made = self.made.get(&(cell.role, cell.state));
        Some(made.map_or(shape, |made| shape.with(*made)))
    }

    /// Play a test's script, which for TEST11 depends on what there is to read.
    fn play(&mut self, cell: &FileCell, pass: u32) -> Result<Vec<Played>, BenchError> {
        let shape = self.request.shape();
        let made = self.shape_made(cell).map_or(0, |shape| shape.most());
        let seed = self.request.bench.storage.seed;
        let (item, scale) = (cell.item, cell.scale);
        let request = self.request;
        let (share, chunk) = (request.share(), request.device_chunk);
        let script = move |client: u32, hand: &ClientFiles| -> FileScript {
            let order = DecusOrder {
                seed,
                client: share.client(client),
                round: pass,
            };
            let number = request.metadata_client(client);
            match (item, shape) {
                (FileItem::Metadata(phase), Some(FilesShape::Tree(tree))) => {
                    tree.script_of(phase, number, 0..made)
                }
                (FileItem::Bandwidth(phase), Some(FilesShape::Transfers(spec))) => {
                    spec.script_of(phase, number, 0..made)
                }
                (FileItem::Decus(test, _), _) => match (test, hand.looked_at().device_bytes()) {
                    (DecusTest::Test11, None) => stand_in_for_device(chunk).1,
                    (DecusTest::Test11, Some(bytes)) => read_device(bytes, chunk),
                    (test, bytes) => test.script(scale, bytes.unwrap_or(0), &order),
                },
                _ => unreachable!("a workload has its own phases"),
            }
        };
        self.play_scripts(cell, &title_of(item), &script)
    }

    fn play_scripts(
        &mut self,
        cell: &FileCell,
        title: &str,
        script: &(dyn Fn(u32, &ClientFiles) -> FileScript + Sync),
    ) -> Result<Vec<Played>, BenchError> {
        let (request, interrupt) = (self.request, self.interrupt);
        let subject = self.ready_subject(cell);
        let played = played(&mut subject.hands, script, request, interrupt)?;
        let path = subject.description.path.clone();
        all_whole(&played, title, &path, interrupt)?;
        Ok(played)
    }

    /// The file system of a row, with clients that make durable what its state asks for.
    fn ready_subject(&mut self, cell: &FileCell) -> &mut TestedFileSystem {
        let durability = match cell.state {
            FileState::Durable => Durability::Synced,
            FileState::AsIs | FileState::Cold => Durability::Volatile,
        };
        let subject = self.subject(cell.role);
        for hand in &mut subject.hands {
            hand.set_durability(durability);
        }
        subject
    }

    fn drop_caches(&mut self, cell: &FileCell) -> Result<(), BenchError> {
        let kept = self.each_does(cell.role, FileOp::DropCaches, "dropping caches")?;
        let bytes = self.bytes_read_again(cell) * u64::from(self.request.clients_here());
        self.kept = self.kept.max(kept as f64 / bytes.max(1) as f64);
        Ok(())
    }

    /// Bytes of the files that are there before a test, of one client.
    fn bytes_read_again(&self, cell: &FileCell) -> u64 {
        match cell.item {
            FileItem::Decus(test, _) => {
                let order = DecusOrder {
                    seed: 0,
                    client: 0,
                    round: 0,
                };
                let maker = test.needs().unwrap_or(test);
                let script = maker.script(cell.scale, u64::MAX, &order);
                script.map(|op| op.bytes()).sum()
            }
            FileItem::Metadata(_) | FileItem::Bandwidth(_) => {
                self.shape_made(cell).map_or(0, |shape| shape.bytes())
            }
        }
    }

    /// Every client makes this one call; returns the sum of what they say.
    fn each_does(
        &mut self,
        role: FileSystemRole,
        op: FileOp,
        what: &str,
    ) -> Result<u64, BenchError> {
        let subject = self.subject(role);
        let path = subject.description.path.clone();
        let mut sum = 0;
        for hand in &mut subject.hands {
            let done = hand.driver().perform(&op);
            sum += done.map_err(|error| BenchError::Refused(failure(what, &path, &op, error)))?;
        }
        Ok(sum)
    }

    pub(super) fn subject(&mut self, role: FileSystemRole) -> &mut TestedFileSystem {
        let found = self
            .subjects
            .iter_mut()
            .find(|subject| subject.role == role);
        found.expect("the plan holds only what is open")
    }
}

pub(super) fn title_of(item: FileItem) -> String {
    match item {
        FileItem::Decus(test, Spacing::None) => format!("TEST{}", test.number()),
        FileItem::Decus(test, spacing) => format!("TEST{} after {}", test.number(), spacing.name()),
        FileItem::Metadata(phase) => phase.name().to_owned(),
        FileItem::Bandwidth(phase) => phase.name().to_owned(),
    }
}

/// Every client made all of its calls.
fn all_whole(
    played: &[Played],
    title: &str,
    path: &str,
    interrupt: &Interrupt,
) -> Result<(), BenchError> {
    // What failed says more than who was stopped because of it.
    let failed = played.iter().find_map(|one| match &one.end {
        PlayEnd::Failed { op, error } => Some(failure(title, path, op, *error)),
        PlayEnd::Whole | PlayEnd::Stopped => None,
    });
    if let Some(text) = failed {
        return Err(BenchError::Refused(text));
    }
    if played.iter().any(|one| one.end == PlayEnd::Stopped) {
        return Err(stopped(interrupt).expect("only a signal stops a script"));
    }
    Ok(())
}

/// Each client on a thread of its own; they begin together.
fn played(
    hands: &mut [ClientFiles],
    script: &(dyn Fn(u32, &ClientFiles) -> FileScript + Sync),
    request: &FilesRequest,
    interrupt: &Interrupt,
) -> Result<Vec<Played>, BenchError> {
    let mut stops = || interrupt.is_raised().is_some();
    if let [one] = hands
        && request.bench.storage.processors.is_empty()
    {
        let calls = script(0, one);
        return Ok(vec![play(one.driver(), calls, &mut stops)]);
    }
    let work = (0_u32..).zip(hands.iter_mut()).map(|(client, hand)| {
        move || {
            request.pin(client);
            let calls = script(client, hand);
            let mut stops = || interrupt.is_raised().is_some();
            play(hand.driver(), calls, &mut stops)
        }
    });
    let ((), joined) =
        together(work, || ()).map_err(|error| BenchError::Refused(no_thread(&error)))?;
    let joined = joined.into_iter();
    Ok(joined
        .map(|played| played.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        .collect())
}

/// A pass of all clients, and what the kernel counted of the device meanwhile.
fn summed(number: u32, played: &[Played], counted: Option<(u64, u64)>) -> FilePass {
    let began = played.iter().map(|one| one.began).min();
    let ended = played.iter().map(|one| one.ended).max();
    let elapsed = ended.unwrap_or_default().since(began.unwrap_or_default());
    let cpu: Option<ProcessorTime> = played
        .iter()
        .map(|one| one.cpu)
        .try_fold(ProcessorTime::default(), |all, one| Some(all.plus(&one?)));
    let own = |of: fn(&engine::Activity) -> Option<u64>| -> Option<u64> {
        played.iter().map(|one| of(one.activity.as_ref()?)).sum()
    };
    FilePass {
        number,
        is_warm_up: false,
        elapsed_ns: elapsed.as_nanos(),
        calls: played.iter().map(|one| one.ops).sum(),
        bytes: played.iter().map(|one| one.bytes).sum(),
        cpu_user_ns: cpu.map(|cpu| cpu.user.as_nanos()),
        cpu_system_ns: cpu.map(|cpu| cpu.system.as_nanos()),
        device_reads: own(|it| it.device_reads).or(counted.map(|it| it.0)),
        device_writes: own(|it| it.device_writes).or(counted.map(|it| it.1)),
        items: None,
        stonewall: None,
    }
}

/// What went wrong, where, and what to do.
fn failure(title: &str, path: &str, op: &FileOp, error: Errno) -> String {
    let kind = op.kind().name();
    let file = match op {
        FileOp::Create { file, .. }
        | FileOp::Open { file, .. }
        | FileOp::Remove { file }
        | FileOp::Stat { file }
        | FileOp::Rename { from: file, .. } => format!(" {file}"),
        _ => String::new(),
    };
    let why = match error {
        WRONG_DATA => "the data are not those that were written last. Do not trust this file \
                       system"
            .to_owned(),
        error => std::io::Error::from_raw_os_error(error.0).to_string(),
    };
    format!("{title} in {path}, {kind}{file}: {why}")
}
