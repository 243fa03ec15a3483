//! Definitions of devices and machines: TOML that a user prints, copies and edits.
//!
//! A value may be given with its source, `rpm = [4500, "document"]`. This module turns texts into
//! specifications and opens no file.

mod devices;
mod disk;
mod file_system;
mod form;
mod limits;
mod parts;

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml_reader::{TomlFaults, place_in};
use units::{Bytes, parse_percent, shortened};

pub use form::Parameter;
pub use parts::ArrayPart;

use form::{Context, DefinitionKey, Form, keys, needed, optional, or};

use crate::catalogue;
use crate::machine::{DeviceSpec, MachineSpec};
use crate::rt11::Rt11Spec;
use crate::ssd::DeviceLimits;

/// Maximum length of a definition.
const BYTES_MAX: usize = 64 << 10;

keys! {
    KIND = needed("kind",
        "what it is: \"disk\", \"flash\", \"cdrom\", \"tape\", \"memory\", \"volume\", \"link\" or \
         \"machine\"");
    TITLE = needed("title", "what reports show, such as \"a disk of 1994\"");
    DISK = needed("disk", "the device it stores on, such as \"fireball\"");
    LINK = optional("link", "the link to its server, such as \"ethernet10\"");
    START = or("start", "0",
        "where on the device the target begins, such as \"100 MiB\" or \"50%\"");
}

const FILE_SYSTEM: &str = "file-system";
/// The section of a controller, and the prefix of its options.
const CONTROLLER: (&str, &str) = ("controller", "controller-");
/// Sections of a machine's file besides its own keys.
const SECTIONS: [&str; 7] = [
    KIND.name,
    TITLE.name,
    "host",
    "server",
    "array",
    CONTROLLER.0,
    FILE_SYSTEM,
];
/// Shares of a device are rounded down to a multiple of this, bytes.
const START_UNIT: u64 = 1 << 20;

/// Reads the text of a user's file, or returns why it cannot.
pub type Load<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

units::words! {
    /// The kind of a definition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DefinitionKind {
        /// A disk drive, or a floppy.
        Disk = "disk",
        /// Flash memory.
        Flash = "flash",
        /// A CD-ROM drive.
        Cdrom = "cdrom",
        /// A tape drive.
        Tape = "tape",
        /// A memory disk.
        Memory = "memory",
        /// A cloud volume.
        Volume = "volume",
        /// A network link, which is not a target itself.
        Link = "link",
        /// A machine made of parts.
        Machine = "machine",
    }
}

/// A parsed definition.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceDefinition {
    pub kind: DefinitionKind,
    /// Title in reports.
    pub title: String,
    /// The machine; none for a link alone.
    pub machine: Option<MachineSpec>,
    /// All values with their sources.
    pub parameters: Vec<Parameter>,
    /// Options that no table used.
    pub untaken: Vec<String>,
    /// All possible options.
    pub known: Vec<String>,
}

/// Parses the definition `name`, with options that replace its values.
///
/// # Errors
/// All mistakes that can be found at once.
pub fn read(
    name: &str,
    options: &[(String, String)],
    load: Load<'_>,
) -> Result<DeviceDefinition, TomlFaults> {
    let options = options.iter().cloned();
    let mut reader = DefinitionReader {
        context: Context {
            options: options.map(|(key, value)| (key, value, false)).collect(),
            ..Context::default()
        },
        load,
    };
    let found = reader.top(name);
    let Context {
        faults,
        parameters,
        options,
        known,
    } = reader.context;
    let untaken = options.into_iter().filter(|(.., taken)| !taken);
    match found {
        Some((kind, title, machine)) if faults.is_empty() => Ok(DeviceDefinition {
            kind,
            title,
            machine,
            parameters,
            untaken: untaken.map(|(key, ..)| key).collect(),
            known,
        }),
        _ => {
            assert!(!faults.is_empty(), "what is not read has a fault");
            Err(TomlFaults { faults })
        }
    }
}

/// Whether a name refers to a file.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.to_ascii_lowercase().ends_with(".toml")
}

struct DefinitionReader<'l> {
    context: Context,
    load: Load<'l>,
}

/// Name, text and content of a file.
type File<'t> = (&'t str, &'t str, &'t DeTable<'t>);

impl DefinitionReader<'_> {
    fn top(&mut self, name: &str) -> Option<(DefinitionKind, String, Option<MachineSpec>)> {
        let (file, text) = self.text(name, &format!("sim:{name}"))?;
        let table = parse(&mut self.context, &file, &text)?;
        let source = (file.as_str(), text.as_str(), &table);
        let (kind, title) = self.head(source)?;
        let machine = match kind {
            DefinitionKind::Machine => self.machine(source, name),
            DefinitionKind::Link => {
                self.link(source);
                return Some((kind, title, None));
            }
            _ => self.bare(source, kind),
        };
        Some((kind, title, Some(machine?)))
    }

    /// The text of a built-in definition, or of a file.
    fn text(&mut self, name: &str, place: &str) -> Option<(String, String)> {
        if is_file(name) {
            return match (self.load)(name) {
                Ok(text) if text.len() > BYTES_MAX => {
                    let bytes = text.len();
                    let message =
                        format!("the file has {bytes} bytes, and a device has {BYTES_MAX} at most");
                    self.context.note(name, message);
                    None
                }
                Ok(text) => Some((name.to_owned(), text)),
                Err(reason) => {
                    self.context.note(place, reason);
                    None
                }
            };
        }
        if let Some(text) = catalogue::text(name) {
            return Some((format!("devices/{name}.toml"), text.to_owned()));
        }
        let reason = format!(
            "there is no device \"{}\": `seekstone devices list` names them",
            shortened(name)
        );
        self.context.note(place, reason);
        None
    }

    /// The common start of all definitions.
    fn head(&mut self, (file, text, table): File<'_>) -> Option<(DefinitionKind, String)> {
        // These are not values, and no option replaces them.
        let mut context = Context::default();
        let mut form = whole(&mut context, (file, text, table), "");
        let kinds = DefinitionKind::ALL.map(|kind| (kind.name(), kind));
        let kind = form.whole(|form| form.word(&KIND, &kinds));
        let title = form.text(&TITLE);
        self.context.faults.append(&mut context.faults);
        Some((kind?, title?))
    }

    /// A device with its limits.
    fn device(
        &mut self,
        source: File<'_>,
        kind: DefinitionKind,
    ) -> Option<(DeviceSpec, DeviceLimits)> {
        let mut form = whole(&mut self.context, source, kind.name());
        let spec = match kind {
            DefinitionKind::Disk => disk::read(&mut form).map(DeviceSpec::Disk),
            DefinitionKind::Flash => devices::flash(&mut form).map(DeviceSpec::Flash),
            DefinitionKind::Cdrom => devices::cd(&mut form).map(DeviceSpec::Cd),
            DefinitionKind::Tape => devices::tape(&mut form).map(DeviceSpec::Tape),
            DefinitionKind::Memory => devices::memory(&mut form).map(DeviceSpec::Memory),
            DefinitionKind::Volume => devices::volume(&mut form).map(DeviceSpec::Volume),
            DefinitionKind::Link | DefinitionKind::Machine => None,
        };
        let limits = limits::read(&mut form);
        form.finish(&[KIND.name, TITLE.name]);
        Some((spec?, limits?))
    }

    fn link(&mut self, source: File<'_>) -> Option<crate::link::LinkSpec> {
        let mut form = whole(&mut self.context, source, "link");
        let spec = devices::link(&mut form);
        form.finish(&[KIND.name, TITLE.name]);
        spec
    }

    /// A device without a host, or an array of several.
    fn bare(&mut self, source: File<'_>, kind: DefinitionKind) -> Option<MachineSpec> {
        let device = self.device(source, kind);
        let array = self.part(source, None, ("array", ""), parts::array);
        let controller = self.part(source, None, CONTROLLER, parts::controller);
        let start = self.part(source, None, (kind.name(), ""), read_start);
        let (device, limits) = device?;
        Some(placed(
            MachineSpec {
                host: None,
                link: None,
                server: None,
                array: array?,
                controller: controller?,
                device,
                limits,
                start: 0,
                file_system: None,
            },
            start?,
        ))
    }

    fn machine(&mut self, source: File<'_>, name: &str) -> Option<MachineSpec> {
        let mut form = whole(&mut self.context, source, "machine");
        let disk = form.text(&DISK);
        let link = form.text(&LINK);
        let start = read_start(&mut form);
        form.finish(&SECTIONS);
        let host = self.host(source, "host", "");
        let server = self.host(source, "server", "server-");
        let table = self.section(source, "array");
        let array = self.part(source, table, ("array", ""), parts::array);
        let table = self.section(source, CONTROLLER.0);
        let controller = self.part(source, table, CONTROLLER, parts::controller);
        let file_system = self.file_system(source);
        let device = disk.and_then(|disk| self.referred(source, name, &disk, DISK.name));
        let device = device.and_then(|part| match part {
            DefinitionPart::Device(found) => Some(*found),
            DefinitionPart::Link(_) => {
                self.wrong_part(source, DISK.name, "a link stores nothing. Name a device");
                None
            }
        });
        let link = match link {
            None => Some(None),
            Some(link) => match self.referred(source, name, &link, LINK.name) {
                Some(DefinitionPart::Link(link)) => Some(Some(link)),
                Some(DefinitionPart::Device(_)) => {
                    self.wrong_part(source, LINK.name, "a device is no link");
                    None
                }
                None => None,
            },
        };
        let (device, limits) = device?;
        let machine = placed(
            MachineSpec {
                host: host?,
                link: link?,
                server: server?,
                array: array?,
                controller: controller?,
                device,
                limits,
                start: 0,
                file_system: file_system?,
            },
            start?,
        );
        self.has_room_for_files(source, &machine)?;
        Some(machine)
    }

    /// The processors and memory of a machine, if described.
    fn host(
        &mut self,
        source: File<'_>,
        part: &'static str,
        prefix: &'static str,
    ) -> Option<Option<crate::host::HostSpec>> {
        let Some(table) = self.section(source, part) else {
            return Some(None);
        };
        let spec = self.part(source, Some(table), (part, prefix), parts::host);
        spec.map(Some)
    }

    /// What `read` makes of a part of the machine, from its table and from options.
    fn part<T>(
        &mut self,
        (file, text, _): File<'_>,
        table: Option<(&DeTable<'_>, Range<usize>)>,
        (part, prefix): (&str, &'static str),
        read: fn(&mut Form<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        let mut form = Form::new(&mut self.context, (file, text), table, part, prefix);
        let found = read(&mut form);
        form.finish(&[]);
        found
    }

    fn file_system(&mut self, source: File<'_>) -> Option<Option<Rt11Spec>> {
        let Some(table) = self.section(source, FILE_SYSTEM) else {
            return Some(None);
        };
        let names = (FILE_SYSTEM, "");
        let spec = self.part(source, Some(table), names, file_system::read);
        if source.2.contains_key("host") {
            self.wrong_part(
                source,
                "host",
                "[file-system] says what the processor's work takes",
            );
            return None;
        }
        spec.map(Some)
    }

    /// A volume needs blocks after its directory.
    fn has_room_for_files(&mut self, source: File<'_>, machine: &MachineSpec) -> Option<()> {
        let Some(system) = &machine.file_system else {
            return Some(());
        };
        let bytes = machine.size().saturating_sub(machine.start);
        if system.data_blocks(bytes) > 0 {
            return Some(());
        }
        let why = format!(
            "{} leave no block for files behind the directory",
            Bytes(bytes)
        );
        self.wrong_part(source, DISK.name, &why);
        None
    }

    /// A table of a machine.
    fn section<'t>(
        &mut self,
        (file, text, table): File<'t>,
        part: &str,
    ) -> Option<(&'t DeTable<'t>, Range<usize>)> {
        let (name, value) = table.get_key_value(part)?;
        if let DeValue::Table(table) = value.get_ref() {
            return Some((table, name.span()));
        }
        let why = format!("{part} is a table that begins with [{part}]");
        self.context.note(place_in(file, text, &name.span()), why);
        None
    }

    /// Another definition that a machine refers to. Files are relative to the machine's file,
    /// unless the name was an option.
    fn referred(
        &mut self,
        source: File<'_>,
        machine: &str,
        named: &str,
        key: &str,
    ) -> Option<DefinitionPart> {
        let is_option = self.context.options.iter().any(|(name, ..)| name == key);
        let folder = machine.rfind('/').map_or("", |end| &machine[..=end]);
        let is_relative = is_file(named) && !named.starts_with('/') && !is_option;
        let path = if is_relative {
            format!("{folder}{named}")
        } else {
            named.to_owned()
        };
        let place = self.place_of(source, key);
        let (file, text) = self.text(&path, &place)?;
        let table = parse(&mut self.context, &file, &text)?;
        let inner = (file.as_str(), text.as_str(), &table);
        let (kind, _) = self.head(inner)?;
        match kind {
            DefinitionKind::Link => self.link(inner).map(DefinitionPart::Link),
            DefinitionKind::Machine => {
                self.wrong_part(source, key, "a machine stands in no other. Name a device");
                None
            }
            kind => {
                let found = self.device(inner, kind);
                found.map(|found| DefinitionPart::Device(Box::new(found)))
            }
        }
    }

    fn wrong_part(&mut self, source: File<'_>, key: &str, why: &str) {
        let place = self.place_of(source, key);
        self.context.note(place, format!("{key}: {why}"));
    }

    /// Origin of a value: an option as typed, or a line of the file.
    fn place_of(&self, (file, text, table): File<'_>, key: &str) -> String {
        let mut options = self.context.options.iter();
        if let Some((_, value, _)) = options.find(|(name, ..)| name == key) {
            return format!("{key}={}", shortened(value));
        }
        let entry = table.get_key_value(key);
        place_in(file, text, &entry.map_or(0..0, |(name, _)| name.span()))
    }
}

/// Start of a target: a byte, or a share of the storage.
#[derive(Clone, Copy)]
enum TargetStart {
    Byte(u64),
    Share(f64),
}

fn read_start(form: &mut Form<'_, '_>) -> Option<TargetStart> {
    form.read(&START, |text| {
        if text.ends_with('%') {
            let share = parse_percent(text).ok()?;
            return (share < 1.0).then_some(TargetStart::Share(share));
        }
        text.parse().ok().map(|Bytes(byte)| TargetStart::Byte(byte))
    })
}

fn placed(mut machine: MachineSpec, start: TargetStart) -> MachineSpec {
    machine.start = match start {
        TargetStart::Byte(byte) => byte,
        TargetStart::Share(share) => {
            let byte = (machine.size() as f64 * share) as u64;
            byte / START_UNIT * START_UNIT
        }
    };
    machine
}

enum DefinitionPart {
    Device(Box<(DeviceSpec, DeviceLimits)>),
    Link(crate::link::LinkSpec),
}

/// The form of a whole file.
fn whole<'t, 'c>(
    context: &'c mut Context,
    (file, text, table): File<'t>,
    part: &str,
) -> Form<'t, 'c> {
    Form::new(context, (file, text), Some((table, 0..0)), part, "")
}

fn parse<'t>(context: &mut Context, file: &str, text: &'t str) -> Option<DeTable<'t>> {
    // fuzzed: device
    match toml_reader::parse(file, text) {
        Ok(document) => Some(document.into_inner()),
        Err(TomlFaults { faults }) => {
            context.faults.extend(faults);
            None
        }
    }
}
