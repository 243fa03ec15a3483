//! Laws of components: operations of an array, cost of flash cleaning, cache hit ratios, disk
//! rotations.

use random::Stream;
use results::{Bar, ValidationRow};
use sim::{
    Action, Answer, Array, ArrayMode, Command, Device, DeviceSpec, Disk, Flash, FlashSpec,
    Operations, SimSpec, fifo_write_amplification,
};
use units::{Duration, Instant};
use workload::Durability;

use super::experiment::Fillers;
use super::hand::{DataDirection, SteppedMachine, places};
use super::{Rows, ValidationError};
use host::interrupt::Interrupt;

pub(super) const ROWS: Fillers<Rows> = &[
    ("raid", raid),
    ("flash", flash),
    ("cache", cache),
    ("lost_turn", lost_turn),
];

/// Random commands.
#[derive(Clone, Copy)]
struct CommandLoad {
    action: Action,
    len: u64,
    count: u64,
    /// Number of commands in flight.
    depth: u64,
}

/// Runs a load from an instant on. Returns its end.
fn anywhere(
    device: &mut dyn Device,
    load: CommandLoad,
    places: &mut Stream,
    start: Instant,
) -> Instant {
    let size = device.size();
    let mut begin = |device: &mut dyn Device, now| {
        let command = Command {
            tag: 0,
            action: load.action,
            client: None,
            offset: places.below(size / load.len) * load.len,
            len: load.len,
        };
        device.begin(now, command);
    };
    let mut now = start;
    let mut begun = load.depth.min(load.count);
    for _ in 0..begun {
        begin(device, now);
    }
    let mut answers: Vec<Answer> = Vec::new();
    let mut done = 0;
    while let Some(at) = device.next().filter(|_| done < load.count) {
        now = at.max(now);
        device.step(now, &mut answers);
        for _ in answers.drain(..) {
            done += 1;
            if begun < load.count {
                begin(device, now);
                begun += 1;
            }
        }
    }
    now
}

const RAID: &str = "sim:raid5-rz28";
const COMMANDS: u64 = 40_000;

/// Operations of each disk of the array in that mode.
fn operations(mode: ArrayMode, action: Action) -> Result<Vec<Operations>, ValidationError> {
    let spec = SimSpec::parse(RAID)?;
    let parts = spec
        .machine()
        .and_then(|machine| Some((machine.array.array.clone()?, machine.device.clone())));
    let Some((mut array, DeviceSpec::Disk(disk))) = parts else {
        return Err(ValidationError::Nothing(format!("{RAID} is no array")));
    };
    array.mode = mode;
    let turn = disk.layout.period / array.layout.disks as u64;
    let disks = (0..array.layout.disks as u64)
        .map(|number| Box::new(Disk::new(disk.clone(), number * turn)) as Box<dyn Device>)
        .collect();
    let mut array = Array::new(&array, disks);
    let load = CommandLoad {
        action,
        len: 4096,
        count: COMMANDS,
        depth: 4,
    };
    anywhere(&mut array, load, &mut places(), Instant::START);
    Ok(array.operations().to_vec())
}

fn raid(_: &Interrupt) -> Rows {
    const WRITE: Action = Action::Write(Durability::Volatile);
    let n = 5.0;
    let mut rows = Vec::new();
    let mut survivors = Vec::new();
    for (name, mode, action, law) in [
        ("read", ArrayMode::Normal, Action::Read, 1.0),
        ("write", ArrayMode::Normal, WRITE, 4.0),
        (
            "read, a disk lost",
            ArrayMode::Reduced,
            Action::Read,
            2.0 * (n - 1.0) / n,
        ),
        (
            "write, a disk lost",
            ArrayMode::Reduced,
            WRITE,
            (n - 1.0) / n + 1.0 / n + 4.0 * (n - 2.0) / n,
        ),
    ] {
        let found = operations(mode, action)?;
        let sum: u64 = found.iter().map(|one| one.reads + one.writes).sum();
        let each = sum as f64 / COMMANDS as f64;
        rows.push(
            ValidationRow::new(name, "", law)
                .simulated(each)
                .within(0.02),
        );
        if action == Action::Read {
            let reads: u64 = found[..4].iter().map(|one| one.reads).sum();
            survivors.push(reads as f64);
        }
    }
    let row = ValidationRow::new("reads of a survivor, over those before", "", 2.0);
    rows.push(row.simulated(survivors[1] / survivors[0]).within(0.02));
    Ok(rows)
}

/// Write amplification in steady state.
fn amplification(spare: &str) -> Result<(f64, f64), ValidationError> {
    let text = format!(
        "sim:nvme?channels=1&dies=1&page=4KiB&pages-per-block=32&blocks=1024&cleaning=fifo\
         &write-buffer=0&spare={spare}"
    );
    let spec = flash_spec(&text)?;
    let law = fifo_write_amplification(spec.spare_factor());
    let user = u64::from(spec.user_pages());
    let mut device = Flash::new(spec);
    let load = CommandLoad {
        action: Action::Write(Durability::Volatile),
        len: 4096,
        count: 4 * user,
        depth: 1,
    };
    let mut places = places();
    let now = anywhere(&mut device, load, &mut places, Instant::START);
    let before = device.programs();
    anywhere(&mut device, load, &mut places, now);
    let programs = device.programs() - before;
    Ok((law, programs as f64 / load.count as f64))
}

fn flash_spec(text: &str) -> Result<FlashSpec, ValidationError> {
    match SimSpec::parse(text)?.machine().map(|it| it.device.clone()) {
        Some(DeviceSpec::Flash(spec)) => Ok(spec),
        _ => Err(ValidationError::Nothing(format!("{text} is no flash"))),
    }
}

fn flash(_: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for spare in ["7%", "28%"] {
        let (law, found) = amplification(spare)?;
        let row = ValidationRow::new(format!("programs for a write, {spare} spare"), "", law);
        rows.push(row.simulated(found).within(0.03));
    }
    let spec = flash_spec("sim:nvme")?;
    for depth in [1_u32, 32, 1024] {
        let load = CommandLoad {
            action: Action::Read,
            len: u64::from(spec.page),
            count: 40_000,
            depth: u64::from(depth),
        };
        let mut device = Flash::new(spec.clone());
        let end = anywhere(&mut device, load, &mut places(), Instant::START);
        let rate = load.count as f64 / end.since(Instant::START).as_secs_f64();
        let name = format!("reads of a page, {depth} at a time, at most");
        let row = ValidationRow::new(name, "/s", spec.read_bound(depth));
        rows.push(row.simulated(rate).judged(Bar::Bound { share: 0.5 }));
    }
    Ok(rows)
}

fn cache(_: &Interrupt) -> Rows {
    let hit = Duration::from_micros(1200);
    let mut places = places();
    let mut steady = SteppedMachine::on("sim:ppro?size=40MiB&file-cache-max=13MiB")?;
    steady.share_within(hit, 20_000, &mut places)?;
    let share = steady.share_within(hit, 60_000, &mut places)?;
    let full = ValidationRow::new("steady: cache over file", "", 13.0 / 40.0);

    let text = "sim:ppro?size=200MiB&memory=256MiB&file-cache=200MiB&file-cache-max=200MiB";
    let mut filling = SteppedMachine::on(text)?;
    let pages = (filling.bytes / 4096) as f64;
    let (before, counted) = (20_000, 20_000);
    filling.share_within(hit, before, &mut places)?;
    let found = filling.share_within(hit, counted, &mut places)?;
    // The mean over the counted reads of 1 - exp(-k / F).
    let missed = |reads: u64| (-(reads as f64) / pages).exp();
    let law = 1.0 - pages * (missed(before) - missed(before + counted)) / counted as f64;
    let cold = ValidationRow::new("filling: reads 20001 to 40000, 1 - exp(-k / F)", "", law);
    Ok(vec![
        full.simulated(share).within(0.02),
        cold.simulated(found).within(0.02),
    ])
}

fn lost_turn(_: &Interrupt) -> Rows {
    let spec = SimSpec::parse("sim:rz26")?;
    let Some(DeviceSpec::Disk(disk)) = spec.machine().map(|it| it.device.clone()) else {
        return Err(ValidationError::Nothing("sim:rz26 is no disk".into()));
    };
    let layout = &disk.layout;
    let turn = layout.period as f64 / 1e6;
    let sectors = f64::from(layout.zones[0].sectors);
    let heads = f64::from(layout.heads);
    // From track to track, and once in a cylinder to the next one.
    let skew = ((heads - 1.0) * layout.track_skew as f64 + layout.cylinder_skew as f64) / heads;
    let each = 16.0 / sectors;
    let law = each * turn + each * skew / 1e6 + turn;
    let tracks = 140 * u64::from(layout.zones[0].sectors) * 512;
    let write = 16 * 512;
    let rate = SteppedMachine::on("sim:rz26")?.in_order(tracks, write, DataDirection::Writing)?;
    let found = write as f64 / 1024.0 / rate * 1e3;
    let row = ValidationRow::new("a write of 16 sectors", "ms", law);
    Ok(vec![row.simulated(found).within(0.02)])
}
