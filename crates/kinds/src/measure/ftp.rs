//! `ftp`: one file from or to an FTP server, with the window, buffer and extents of the client.

use std::path::Path;
use std::time::Duration;

use drivers::free_space;
use network::ftp::{Direction, FtpOutcome, FtpPlan, transfer};
use network::name_space::run_in;
use network::processor::Server;
use network::socket::SocketOptions;
use network::url::{Protocol, Url};
use results::{Better, Reading, Unit};
use units::Bytes;

use super::Stop;
use super::kind::{Kind, Measuring, Setting, made};
use super::net::{self, ServerClock, byte_rate, cpu_per_mib, seconds};
use super::place::{MeasureError, Place};
use super::settings::{SettingFault, Settings};

/// The kind.
pub const KIND: Kind = Kind {
    name: "ftp",
    about: "one file from or to an FTP server",
    settings: &[
        Setting::required(
            "url",
            "ftp://HOST/PATH",
            "the file; one that is stored must not be there yet, and is removed afterwards",
        ),
        Setting::or(
            "direction",
            "\"retrieve\" or \"store\"",
            "retrieve",
            "which way it goes",
        ),
        Setting::or("size", "SIZE", "16MiB", "bytes of a file that is stored"),
        Setting::or("user", "NAME", "anonymous", "as whom"),
        Setting::or(
            "password",
            "TEXT",
            "seekstone@",
            "sent when the server asks for it",
        ),
        Setting::or(
            "local",
            "\"file\" or \"nowhere\"",
            "file",
            "where a retrieved file goes: into the target directory, or nowhere",
        ),
        Setting::or(
            "extent",
            "SIZE",
            "0",
            "space for the local file is allocated in pieces of this size; 0 leaves it to the \
             file system",
        ),
        Setting::or(
            "synced",
            "true or false",
            "false",
            "whether the local file is forced to the storage before the transfer counts as done",
        ),
        net::WINDOW,
        net::CONGESTION,
        net::BUFFER,
        net::TIMEOUT,
        net::SERVER,
        net::NAMESPACE,
    ],
    readings: &[
        (
            "rate",
            "bytes per second, from asking for the file to its end",
        ),
        ("time", "from connecting to the end of everything"),
        (
            "round trip",
            "that of connecting, of small packets while the link is idle",
        ),
        ("client CPU", "processor time of this program for a MiB"),
        (
            "server CPU",
            "processor time of the server for a MiB, when server is given",
        ),
        (
            "allocations",
            "how often space was allocated for the local file, when extent is given",
        ),
    ],
    in_place: None,
    is_command: false,
    make: |settings| made(Ftp::from_settings(settings)),
};

const EXTENT_MAX: Bytes = Bytes::from_gib(16);
/// The local file.
const LOCAL: &str = "file";
/// What is reckoned with for a file whose size only the server knows.
const ROOM_BYTES: u64 = 64 << 20;

/// A file of an FTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ftp {
    file: Url,
    direction: Direction,
    user: String,
    password: String,
    has_local_file: bool,
    extent: u64,
    is_durable: bool,
    socket: SocketOptions,
    buffer: usize,
    timeout: Duration,
    server: Option<Server>,
    namespace: Option<String>,
}

impl Ftp {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let size = settings.size("size", Bytes(1)..=net::SIZE_MAX)?;
        let stores = settings.choice("direction", &[("retrieve", false), ("store", true)])?;
        for name in ["local", "extent", "synced"] {
            if stores && settings.is_given(name) {
                let why = format!("{name} is for direction = \"retrieve\" only: leave it out");
                return Err(SettingFault::at(name, why));
            }
        }
        if !stores && settings.is_given("congestion") {
            let why = "congestion is how a sender adapts, and with direction = \"retrieve\" the \
                       server sends: leave it out, and set it where the server runs";
            return Err(SettingFault::at("congestion", why));
        }
        let has_local_file =
            settings.choice("local", &[("file", true), ("nowhere", false)])? && !stores;
        let extent = settings
            .size("extent", Bytes(0)..=EXTENT_MAX)?
            .unwrap_or_default()
            .0;
        let is_durable = settings.flag("synced")?;
        for (name, is_wanted) in [("extent", extent > 0), ("synced", is_durable)] {
            if is_wanted && !has_local_file {
                let why =
                    format!("{name} applies to a local file, and local = \"nowhere\" writes none");
                return Err(SettingFault::at(
                    name,
                    format!("{why}: leave one of them out"),
                ));
            }
        }
        let text = |name: &str| Ok::<_, SettingFault>(settings.text(name)?.unwrap_or_default());
        Ok(Self {
            file: net::url(settings, Protocol::Ftp)?,
            direction: match size {
                Some(size) if stores => Direction::Store(size.0),
                _ => Direction::Retrieve,
            },
            user: text("user")?,
            password: text("password")?,
            has_local_file,
            extent,
            is_durable,
            socket: net::socket(settings)?,
            buffer: net::buffer(settings)?,
            timeout: net::timeout(settings)?,
            server: net::server(settings)?,
            namespace: settings.given("namespace")?,
        })
    }

    fn readings(&self, outcome: &FtpOutcome, server_cpu: Option<Duration>) -> Vec<Reading> {
        let mut readings = vec![
            byte_rate("rate", outcome.bytes, outcome.transfer),
            seconds("time", outcome.elapsed, Better::Lower),
            seconds("round trip", outcome.round_trip, Better::Neither),
            cpu_per_mib("client CPU", outcome.client_cpu, outcome.bytes),
        ];
        readings.extend(server_cpu.map(|cpu| cpu_per_mib("server CPU", cpu, outcome.bytes)));
        if self.extent > 0 {
            let count = outcome.allocations as f64;
            readings.push(Reading::new(
                "allocations",
                Unit::Count,
                count,
                Better::Neither,
            ));
        }
        readings
    }
}

impl Measuring for Ftp {
    fn check(&self, place: &Place) -> Result<(), MeasureError> {
        net::check_socket(&self.socket)?;
        match self.has_local_file {
            true => place.directory(KIND.name).map(drop),
            false => net::refuse_model(KIND.name, place),
        }
    }

    fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        let directory = match self.has_local_file {
            true => Some(place.work_directory(KIND.name, ROOM_BYTES + self.extent)?),
            false => None,
        };
        let plan = FtpPlan {
            file: self.file.clone(),
            user: self.user.clone(),
            password: self.password.clone(),
            direction: self.direction,
            local: match &directory {
                Some(directory) => Some(directory.create_copy(LOCAL)?),
                None => None,
            },
            room: match self.has_local_file {
                true => room(place)?,
                false => 0,
            },
            extent: self.extent,
            is_durable: self.is_durable,
            buffer: self.buffer,
            socket: self.socket.clone(),
            timeout: self.timeout,
        };
        let clock = ServerClock::start(self.server.as_ref())?;
        let is_stopped = || stop.is_raised().is_some();
        let outcome = run_in(self.namespace.as_deref(), || transfer(&plan, &is_stopped));
        let outcome = outcome.map_err(|error| net::of_name_space(&error))?;
        if let Some(directory) = directory {
            directory.remove()?;
        }
        if outcome.is_stopped {
            return Err(net::stopped(stop));
        }
        if let Some(fault) = &outcome.fault {
            let server = self.file.authority();
            let path = &self.file.path;
            return Err(MeasureError::Failed(format!(
                "ftp://{server}{path}: {fault}"
            )));
        }
        Ok(self.readings(&outcome, clock.stop()?))
    }
}

/// Bytes that a local file may take beside the reserve: only the server knows how large it will be.
fn room(place: &Place) -> Result<u64, MeasureError> {
    let space = free_space(Path::new(&place.target))?;
    let reserve = place.reserve.map_or(space.reserve, |it| it.0);
    Ok(space.available.saturating_sub(reserve))
}
