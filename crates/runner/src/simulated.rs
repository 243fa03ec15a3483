//! Models by name: built in, or from files of the user's own.

use std::io::{ErrorKind, Read as _};

use sim::{Definition, DefinitionError, FileSystemSpec, SimError, SimSpec};

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

fn load(path: &str) -> Result<String, String> {
    let read = || {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|error: std::io::Error| match error.kind() {
        ErrorKind::InvalidInput => format!("{path} is no file"),
        ErrorKind::InvalidData => format!("{path} is no text"),
        _ => format!("{path} cannot be read: {error}"),
    })
}
