//! The files that options such as `--json` name: judged, and where possible opened, before anything
//! is measured; written whole afterwards.
//!
//! An existing file is replaced only if it is empty, if we wrote it and nobody changed it since, or
//! if the user says `--force`. That we wrote it is told by an extended attribute of the file, which
//! holds the SHA-256 of its content. A link is followed to the file that it leads to; of several
//! hard links only the named one gets the new content. Owner, group and permissions stay, access
//! control lists do not.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use drivers::{NewFile, TargetError};
use host::interrupt::Wait;
use rustix::fs::{Gid, Mode, OFlags, Uid, XattrFlags, fchmod, fchown, fsetxattr, openat};
use sha2::{Digest as _, Sha256};

use super::place::{OutputLocation, place_of};
use crate::args::Force;
use crate::exit::UsageError;

/// The attribute that tells our files. Users' attributes begin like this.
const ATTRIBUTE: &str = "user.seekstone.output";
/// What a result is kept under when its own name cannot be had: the name and a number up to this.
const NUMBER_MAX: u32 = 99;
/// Bytes that are hashed at a time.
const CHUNK: usize = 1 << 16;
/// Devices that are written like files: the null, zero and full devices.
const SINKS: [(u32, u32); 3] = [(1, 3), (1, 5), (1, 7)];
/// Device numbers of terminals: virtual and serial ones, `/dev/tty`, pseudo terminals.
const TERMINALS: [u32; 10] = [4, 5, 136, 137, 138, 139, 140, 141, 142, 143];

/// What an option names for a command to write to; `-` is standard output.
#[derive(Clone, Debug)]
pub struct Output {
    path: PathBuf,
    opened: Arc<OnceLock<Destination>>,
}

/// What is written into an output.
#[derive(Clone, Debug)]
pub enum OutputContent {
    /// Lines for people and programs.
    Text(String),
    /// A form that is no text.
    Bytes(Vec<u8>),
}

impl From<String> for OutputContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Where the text goes.
#[derive(Debug)]
enum Destination {
    /// Somebody who reads, held open from the start so that one document is one for the reader.
    Stream(File),
    /// A file that does not exist yet, or is to be replaced.
    File {
        directory: File,
        name: OsString,
        judged: Option<Box<ReplaceableFile>>,
    },
}

/// The file that may be replaced.
#[derive(Debug)]
struct ReplaceableFile {
    file: File,
    found: Metadata,
    /// What it must still hold.
    content: Option<String>,
}

impl From<OsString> for Output {
    fn from(path: OsString) -> Self {
        Self {
            path: path.into(),
            opened: Arc::default(),
        }
    }
}

impl Output {
    /// As the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is standard output by its short name.
    pub fn is_stdout(&self) -> bool {
        self.path == Path::new("-")
    }

    /// See that it can be written, and that nothing is lost by it. `option` is what named it.
    ///
    /// # Errors
    /// When it is storage, a file of the user's, or cannot be written.
    pub fn prepare(&self, option: &str, force: &Force) -> anyhow::Result<()> {
        if self.is_stdout() || self.opened.get().is_some() {
            return Ok(());
        }
        let opened = self.opened_as(option, force)?;
        let _ = self.opened.set(opened);
        Ok(())
    }

    fn opened_as(&self, option: &str, force: &Force) -> anyhow::Result<Destination> {
        let path = &self.path;
        let found = match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found.with_context(|| self.unwritable())?),
        };
        if let Some(found) = &found {
            refuse_kind(option, path, found)?;
        }
        let is_stream = found.is_some_and(|found| !found.is_file());
        match place_of(path).with_context(|| self.unwritable())? {
            OutputLocation::Descriptor(number) => self.descriptor(option, number),
            OutputLocation::Name { .. } if is_stream => self.stream(option),
            OutputLocation::Name { directory, name } => self.file(option, force, &directory, name),
        }
    }

    /// A descriptor that whoever started us has opened: written where it stands.
    fn descriptor(&self, option: &str, number: u32) -> anyhow::Result<Destination> {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let cloned = match number {
            1 => rustix::io::fcntl_dupfd_cloexec(&stdout, 3).map(File::from),
            2 => rustix::io::fcntl_dupfd_cloexec(&stderr, 3).map(File::from),
            _ if !super::place::is_writable(number) => {
                refuse!(
                    "{option} {} is not open for writing. Name a file",
                    self.path.display()
                );
            }
            _ => return self.stream(option),
        };
        let cloned = cloned.with_context(|| self.unwritable())?;
        Ok(Destination::Stream(cloned))
    }

    fn stream(&self, option: &str) -> anyhow::Result<Destination> {
        // Opened without waiting: a pipe may have no reader, a line no carrier.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::APPEND;
        let opened = File::options()
            .append(true)
            .custom_flags(flags.bits().cast_signed())
            .open(&self.path);
        let file = match opened {
            Err(error) if rustix::io::Errno::from_io_error(&error) == Some(NOBODY) => {
                refuse!(
                    "{option} {} is a pipe without a reader: start the reader first",
                    self.path.display()
                );
            }
            opened => opened.with_context(|| self.unwritable())?,
        };
        // The name may have come to stand for something else.
        refuse_kind(option, &self.path, &file.metadata()?)?;
        let flags = rustix::fs::fcntl_getfl(&file)?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
        Ok(Destination::Stream(file))
    }

    fn file(
        &self,
        option: &str,
        force: &Force,
        directory: &Path,
        name: OsString,
    ) -> anyhow::Result<Destination> {
        let opened = drivers::open_directory(directory).with_context(|| self.unwritable())?;
        let judged = self.judged(option, force, &opened, &name)?;
        // A file that is dropped at once shows whether one can be made here.
        let tried = opened
            .try_clone()
            .and_then(|it| NewFile::create(it, FILE_MODE));
        tried.with_context(|| self.unwritable())?;
        Ok(Destination::File {
            directory: opened,
            name,
            judged,
        })
    }

    /// The file that has the name, if it may be replaced.
    fn judged(
        &self,
        option: &str,
        force: &Force,
        directory: &File,
        name: &OsStr,
    ) -> anyhow::Result<Option<Box<ReplaceableFile>>> {
        let mut flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if force.force {
            // What it holds does not matter, so it need not be readable.
            flags |= OFlags::PATH;
        }
        let file = match openat(directory, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            opened => File::from(opened.with_context(|| self.unwritable())?),
        };
        let found = file.metadata().with_context(|| self.unwritable())?;
        refuse_kind(option, &self.path, &found)?;
        if !found.is_file() {
            refuse!(
                "{option} {} is not a file. Name a file",
                self.path.display()
            );
        }
        let content = match () {
            () if force.force => None,
            () if found.len() == 0 => Some(hex(&Sha256::digest([]))),
            () => match unchanged(&file) {
                Some(content) => Some(content),
                None => return Err(foreign(option, &self.path).into()),
            },
        };
        Ok(Some(Box::new(ReplaceableFile {
            file,
            found,
            content,
        })))
    }

    /// Write it, once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, content: &OutputContent) -> anyhow::Result<()> {
        let bytes = match content {
            // Other programs read what the form says, byte by byte.
            OutputContent::Text(text)
                if self.is_stdout() && !io::IsTerminal::is_terminal(&io::stdout()) =>
            {
                return super::print_bytes(format!("{}\n", text.trim_end()).as_bytes());
            }
            OutputContent::Text(text) if self.is_stdout() => {
                return super::print(text.trim_end()).map(drop);
            }
            OutputContent::Text(text) => text.as_bytes(),
            OutputContent::Bytes(bytes) if self.is_stdout() => return super::print_bytes(bytes),
            OutputContent::Bytes(bytes) => bytes,
        };
        let mut filling = self.begin()?;
        let _wait = Wait::begin();
        let written = filling.write_all(bytes);
        written.with_context(|| self.unwritable())?;
        filling.finish()
    }

    /// Begin to write it piece by piece; a file has its name when it is finished, and not before.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&self) -> anyhow::Result<Filling> {
        self.prepare("the output", &Force::default())?;
        let new = match self.opened.get() {
            Some(Destination::File { directory, .. }) => {
                let new = directory.try_clone();
                let new = new.and_then(|it| NewFile::create(it, FILE_MODE));
                Some(new.with_context(|| self.unwritable())?)
            }
            _ => None,
        };
        Ok(Filling {
            output: self.clone(),
            new,
            hash: Sha256::new(),
        })
    }

    fn name(
        &self,
        mut new: NewFile,
        name: &OsStr,
        judged: Option<&ReplaceableFile>,
    ) -> anyhow::Result<()> {
        let named = match judged {
            None => new.publish(name),
            Some(judged) => new.replace(name, &judged.file, &|| judged.is_unchanged()),
        };
        named.or_else(|error| {
            let why = match error.kind() {
                ErrorKind::AlreadyExists => "it was created or changed in the meantime".to_owned(),
                _ => error.to_string(),
            };
            let kept = self.keep_beside(&mut new, name)?;
            anyhow::bail!(
                "{} was not replaced ({why}). Its new content is in {}",
                self.path.display(),
                kept.display()
            )
        })
    }

    /// Under a name with a number nothing is lost.
    fn keep_beside(&self, new: &mut NewFile, name: &OsStr) -> anyhow::Result<PathBuf> {
        let mut kept = Err(ErrorKind::AlreadyExists.into());
        for number in 1..=NUMBER_MAX {
            let mut beside = name.to_owned();
            beside.push(format!(".{number}"));
            kept = new
                .publish(&beside)
                .map(|()| self.path.with_file_name(beside));
            if !matches!(&kept, Err(error) if error.kind() == ErrorKind::AlreadyExists) {
                break;
            }
        }
        kept.with_context(|| self.unwritable())
    }

    fn unwritable(&self) -> String {
        format!("{} cannot be written", self.path.display())
    }
}

/// What opening a pipe says that has no reader.
const NOBODY: rustix::io::Errno = rustix::io::Errno::NXIO;
/// Outputs are made for others to read, so the umask decides, as for any program's output.
const FILE_MODE: u32 = 0o666;

impl ReplaceableFile {
    fn is_unchanged(&self) -> bool {
        let Some(content) = &self.content else {
            return true;
        };
        digest(&self.file).is_ok_and(|found| found == *content)
    }
}

/// An output while it is written.
#[derive(Debug)]
pub struct Filling {
    output: Output,
    /// The file, which has no name yet; none where somebody reads what is written.
    new: Option<NewFile>,
    hash: Sha256,
}

impl io::Write for Filling {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(new) = &self.new else {
            return match self.output.opened.get() {
                Some(Destination::Stream(stream)) => (&*stream).write(bytes),
                _ => Err(ErrorKind::NotConnected.into()),
            };
        };
        let count = new.file().write(bytes)?;
        self.hash.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Filling {
    /// Whose content it is.
    pub const fn output(&self) -> &Output {
        &self.output
    }

    /// It is all there: mark it, force it to the storage, and give it its name.
    ///
    /// # Errors
    /// When it cannot be written, or does not get its name.
    pub fn finish(self) -> anyhow::Result<()> {
        let output = self.output;
        let (Some(new), Some(Destination::File { name, judged, .. })) =
            (self.new, output.opened.get())
        else {
            return Ok(());
        };
        let _wait = Wait::begin();
        let judged = judged.as_deref();
        seal(new.file(), &hex(&self.hash.finalize()), judged)
            .with_context(|| output.unwritable())?;
        output.name(new, name, judged)
    }
}

/// Our mark, the owner and permissions of the file before, and everything forced to the storage.
fn seal(file: &File, digest: &str, judged: Option<&ReplaceableFile>) -> io::Result<()> {
    // Without the mark it is replaced only with --force, and that is all.
    let _ = fsetxattr(file, ATTRIBUTE, digest.as_bytes(), XattrFlags::empty());
    if let Some(judged) = judged {
        let (uid, gid) = (judged.found.uid(), judged.found.gid());
        // Only root may give files away; the user's own are theirs already.
        let _ = fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        fchmod(file, Mode::from_raw_mode(judged.found.mode() & 0o777))?;
    }
    file.sync_all()
}

fn foreign(option: &str, path: &Path) -> UsageError {
    UsageError(format!(
        "{option} {} exists, and is not an unchanged file written by Seekstone. Name another \
         file, or replace it with --force",
        path.display()
    ))
}

/// The digest of a file that we wrote and nobody changed.
fn unchanged(file: &File) -> Option<String> {
    let mut mark = [0; 64];
    let length = rustix::fs::fgetxattr(file, ATTRIBUTE, &mut mark).ok()?;
    let content = digest(file).ok()?;
    (mark.get(..length)? == content.as_bytes()).then_some(content)
}

/// SHA-256 of what a file holds, wherever it was read to.
fn digest(file: &File) -> io::Result<String> {
    use std::os::unix::fs::FileExt as _;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    let mut offset = 0;
    loop {
        match file.read_at(&mut chunk, offset)? {
            0 => return Ok(hex(&hash.finalize())),
            count => {
                hash.update(&chunk[..count]);
                offset += count as u64;
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is no place for a text, with `--force` neither: storage, what the system uses as storage,
/// and devices that do something when they are written.
fn refuse_kind(option: &str, path: &Path, found: &Metadata) -> anyhow::Result<()> {
    let kind = found.file_type();
    let what = match () {
        () if kind.is_block_device() => "a block device",
        () if kind.is_dir() => "a directory",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() && !takes_text(found.rdev()) => "a device",
        () if kind.is_file() => {
            return match drivers::refuse_if_file_used(found, path) {
                // Where the system does not tell, nothing speaks against it.
                Ok(()) | Err(TargetError::Io { .. }) => Ok(()),
                Err(error) => Err(anyhow::Error::new(error).context(option.to_owned())),
            };
        }
        () => return Ok(()),
    };
    refuse!("{option} {} names {what}. Name a file", path.display())
}

fn takes_text(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    SINKS.contains(&(major, minor)) || TERMINALS.contains(&major)
}
