//! Models by name: built in, or from files of the user's own.

use std::io::{ErrorKind, Read as _};

use results::SteadyLaw;
use sim::{
    Cleaning, Content, Definition, DefinitionError, DeviceSpec, FileSystemSpec, SimError, SimSpec,
};
use workload::{MixSpec, Partition, Pattern};

/// The most that is read of a file; the reader says where a definition is too long.
const BYTES_MAX: u64 = 128 << 10;

/// The model behind `sim:NAME`; files that it names are read.
///
/// # Errors
/// When the model or a parameter does not exist, or a file or value cannot be read.
pub fn open_model(text: &str) -> Result<SimSpec, SimError> {
    SimSpec::parse_with(text, &mut load)
}

/// The file system behind `sim:NAME`; files that it names are read.
///
/// # Errors
/// When it does not exist or has no file system, or a file or value cannot be read.
pub fn open_file_system(text: &str) -> Result<FileSystemSpec, SimError> {
    FileSystemSpec::parse_with(text, &mut load)
}

/// A definition by its name or file.
///
/// # Errors
/// When it does not exist, or something in it is wrong.
pub fn open_definition(name: &str) -> Result<Definition, DefinitionError> {
    sim::read_definition(name, &[], &mut load)
}

/// The text of a definition, as it is built in or stands in a file.
///
/// # Errors
/// What is wrong, in words.
pub fn definition_text(name: &str) -> Result<String, String> {
    match sim::device_text(name) {
        Some(text) => Ok(text.to_owned()),
        None => load(name),
    }
}

/// What the law of flash says of a load of random writes over all of a full device.
#[must_use]
pub fn steady_law(spec: &SimSpec, mix: &MixSpec) -> Option<SteadyLaw> {
    let machine = spec.machine()?;
    let DeviceSpec::Flash(flash) = &machine.device else {
        return None;
    };
    let is_bare = machine.host.is_none()
        && machine.link.is_none()
        && machine.array.array.is_none()
        && machine.array.slow.is_none();
    let is_whole = spec.size.0 == machine.size() && flash.content == Content::Full;
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
        ErrorKind::InvalidInput => format!("{path} is no file"),
        ErrorKind::InvalidData => format!("{path} is no text"),
        _ => format!("{path} cannot be read: {error}"),
    })
}
