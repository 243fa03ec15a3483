//! Models by name: built in, or from the user's files.

use std::io::{ErrorKind, Read as _};

use engine::FileDriver as _;
use results::{Law, QueueLaw, Setup, SteadyLaw, TargetDescription};
use sim::{
    Cleaning, DeviceDefinition, DeviceSpec, FileSystemSpec, FlashContent, QueueLoad, SimError,
    SimSpec,
};
use toml_reader::TomlFaults;
use units::{Duration, Instant, TargetName};
use workload::{GapShape, MixSpec, Pacing, Partition, Pattern};

/// Maximum length read from a file. The parser reports where a definition is too long.
const BYTES_MAX: u64 = 128 << 10;

/// The model `sim:NAME`. Reads the files that it names.
///
/// # Errors
/// If the model or a parameter does not exist, or a file or value cannot be read.
pub fn open_model(text: &str) -> Result<SimSpec, SimError> {
    SimSpec::parse_with(text, &mut load)
}

/// The same, if the setup of a run holds the files' texts.
///
/// # Errors
///
/// Those of [`open_model`].
pub fn open_recorded_model(text: &str, setup: &Setup) -> Result<SimSpec, SimError> {
    SimSpec::parse_with(text, &mut |path| recorded(path, setup))
}

/// Whether a target is a model whose host has a file cache. Errors of the model are reported when
/// it is opened.
pub fn has_file_cache(target: &TargetName) -> bool {
    let spec = target.model().and_then(|text| open_model(text).ok());
    let machine = spec.as_ref().and_then(|spec| spec.machine());
    let host = machine.and_then(|machine| machine.host.as_ref());
    host.is_some_and(|host| host.cache_max > 0)
}

/// Time of a unit of the DISKRAND document's CPU work on that machine, if it is a model whose
/// definition states it. Errors of the model are reported when it is opened.
pub fn cpu_unit(target: &TargetName, setup: &Setup) -> Option<Duration> {
    let spec = open_recorded_model(target.model()?, setup).ok()?;
    spec.cpu_unit()
}

/// Rotation time of a model's disk, nanoseconds; `None` if a host's memory serves part of the
/// reads.
pub fn turn_of_disk(target: &TargetName, setup: &Setup) -> Option<u64> {
    let spec = open_recorded_model(target.model()?, setup).ok()?;
    let machine = spec.machine()?;
    match &machine.device {
        DeviceSpec::Disk(disk) if machine.host.is_none() => Some(disk.layout.period),
        _ => None,
    }
}

/// The file system of `sim:NAME`. Reads the files that it names, unless the setup of the run holds
/// their texts.
///
/// # Errors
/// If it does not exist or has no file system, or a file or value cannot be read.
pub fn open_file_system(text: &str, setup: &Setup) -> Result<FileSystemSpec, SimError> {
    FileSystemSpec::parse_with(text, &mut |path| recorded(path, setup))
}

/// Describes the model `sim:NAME`: a device, or a machine with a file system.
///
/// # Errors
/// If it does not exist, or a file or value cannot be read.
pub fn describe_model(text: &str) -> Result<TargetDescription, SimError> {
    let (path, size) = match open_model(text) {
        Ok(spec) => (spec.text.clone(), Some(spec.size.as_u64())),
        Err(error) => match FileSystemSpec::parse_with(text, &mut load) {
            Ok(system) => {
                let built = system.build(0, Instant::START);
                (text.to_owned(), built.device_bytes())
            }
            Err(_) => return Err(error),
        },
    };
    Ok(TargetDescription::simulated(text, &path, size))
}

/// Keeps the texts of the files that define a model. Errors of the model are reported when it is
/// opened.
pub fn keep_texts(target: &TargetName, setup: &mut Setup) {
    let Some(model) = target.model() else { return };
    let mut read = Vec::new();
    let _ = SimSpec::parse_with(model, &mut |path| {
        let text = recorded(path, setup)?;
        read.push((path.to_owned(), text.clone()));
        Ok(text)
    });
    for (path, text) in read {
        setup.keep_text(&path, &text);
    }
}

fn recorded(path: &str, setup: &Setup) -> Result<String, String> {
    match setup.text_of(path) {
        Some(text) => Ok(text.to_owned()),
        None => load(path),
    }
}

/// Opens a definition by name or file.
///
/// # Errors
/// If it does not exist, or is invalid.
pub fn open_definition(name: &str) -> Result<DeviceDefinition, TomlFaults> {
    sim::read_definition(name, &[], &mut load)
}

/// The text of a definition, built in or from a file.
///
/// # Errors
/// A description of the problem.
pub fn definition_text(name: &str) -> Result<String, String> {
    match sim::device_text(name) {
        Some(text) => Ok(text.to_owned()),
        None => load(name),
    }
}

/// Theory for `clients` on a model, if a law applies.
pub fn law(spec: &SimSpec, mix: &MixSpec, clients: u32) -> Option<Law> {
    let of_queue = || queue_law(spec, mix, clients).map(Law::Queue);
    steady_law(spec, mix).map(Law::Steady).or_else(of_queue)
}

fn queue_law(spec: &SimSpec, mix: &MixSpec, clients: u32) -> Option<QueueLaw> {
    let load = match mix.pacing {
        Pacing::Open { gap } if gap.shape == GapShape::Exponential => QueueLoad::Poisson {
            per_second: f64::from(clients) * 1e9 / gap.mean_ns,
        },
        // Sources with their own clocks do not arrive at equal distances.
        Pacing::Open { gap } if gap.shape == GapShape::Constant && clients == 1 => {
            QueueLoad::Even {
                per_second: 1e9 / gap.mean_ns,
            }
        }
        Pacing::Closed { think }
            if think.mean_ns == 0.0 || think.shape == GapShape::Exponential =>
        {
            QueueLoad::Thinking {
                clients,
                think_ns: think.mean_ns,
            }
        }
        _ => return None,
    };
    law_of_queue(spec, load)
}

/// Theory for a load on a model that is a queue, if a law applies.
pub fn law_of_queue(spec: &SimSpec, load: QueueLoad) -> Option<QueueLaw> {
    let found = spec.answer(load)?;
    Some(QueueLaw {
        name: found.name,
        wait_mean_ns: found.wait_ns,
        service_mean_ns: found.service_ns,
        response_mean_ns: found.wait_ns + found.service_ns,
        per_second: found.per_second,
    })
}

/// The law of flash for a load of random writes over all of a full device.
fn steady_law(spec: &SimSpec, mix: &MixSpec) -> Option<SteadyLaw> {
    let machine = spec.machine()?;
    let DeviceSpec::Flash(flash) = &machine.device else {
        return None;
    };
    let is_bare = machine.host.is_none()
        && machine.link.is_none()
        && machine.array.array.is_none()
        && machine.array.slow.is_none()
        && machine.limits.is_none();
    let is_whole = spec.size.0 == machine.size() && flash.content == FlashContent::Full;
    let writes_only = mix.mix.read == 0 && mix.mix.flush == 0;
    let is_uniform = mix.addresses.pattern == Pattern::Uniform
        && mix.addresses.partition == Partition::Contending;
    let len = mix.sizes.iter().map(|size| u64::from(size.len)).max()?;
    if !(is_bare && is_whole && writes_only && is_uniform) || len > u64::from(flash.page) {
        return None;
    }
    let [fresh_per_second, steady_per_second] = flash.write_rates();
    let name = match flash.cleaning {
        Cleaning::Fifo => "law of FIFO cleaning",
        Cleaning::Greedy => "law of FIFO cleaning, below which greedy cleaning does not fall",
    };
    Some(SteadyLaw {
        name: name.into(),
        fresh_per_second,
        steady_per_second,
    })
}

fn load(path: &str) -> Result<String, String> {
    let read = || {
        let mut text = String::new();
        let file = drivers::open_regular_file(path.as_ref())?;
        file.take(BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error: std::io::Error| match error.kind() {
        ErrorKind::InvalidInput => format!("{path} is not a file"),
        ErrorKind::InvalidData => format!("{path} is not text"),
        _ => format!("cannot read {path}: {error}"),
    })
}
