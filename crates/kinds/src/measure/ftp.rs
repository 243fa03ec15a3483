//! `ftp`: a file from or to an FTP server, once or several times at once, with the window, buffer
//! and extents of the client.

use std::path::Path;
use std::thread;
use std::time::Duration;

use drivers::{WorkDirectory, free_space};
use network::ftp::{FtpDirection, FtpOutcome, FtpPlan, transfer};
use network::name_space::run_in;
use network::processor::MeasuredProcess;
use network::socket::SocketOptions;
use network::url::{Protocol, Url};
use results::Reading;
use results::metric::{
    CLIENT_CPU_PER_MIB, FTP_ALLOCATIONS, FTP_RATE, FTP_ROUND_TRIP, FTP_TIME, RATE_EACH,
    SERVER_CPU_PER_MIB,
};
use units::Bytes;

use super::Stop;
use super::form::ValueForm;
use super::kind::{Kind, Measuring, flag, made, settings};
use super::net::{self, ServerClock, byte_rate, cpu_per_mib};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::{SettingFault, Settings};
use super::targets::Targets;

pub const KIND: Kind = Kind {
    name: "ftp",
    about: "a file from or to an FTP server",
    settings: settings! {
        /// the file. One that is stored must not be there yet, and is removed afterwards
        url = ValueForm::Text("ftp://HOST/PATH").required(),
        /// which way it goes
        direction = ValueForm::Words(&["retrieve", "store"]).or("retrieve"),
        /// bytes of a file that is stored
        size = net::SIZE.or("16MiB"),
        /// how many go on at once, each over a connection of its own. Several that are stored have
        /// the names PATH-1, PATH-2, ...
        transfers = ValueForm::Count(1, 64).or("1"),
        /// as whom
        user = ValueForm::Text("NAME").or("anonymous"),
        /// sent when the server asks for it
        password = ValueForm::Text("TEXT").or("seekstone@"),
        /// where a retrieved file goes: into the target directory, or nowhere
        local = ValueForm::Words(&["file", "nowhere"]).or("file"),
        /// space for the local file is allocated in pieces of this size. 0 leaves it to the file
        /// system
        extent = ValueForm::Size(Bytes(0), Bytes::from_gib(16)).or("0"),
        /// whether the local file is forced to the storage before the transfer counts as done
        synced = flag(false),
        window = net::WINDOW,
        congestion = net::CONGESTION,
        buffer = net::BUFFER,
        timeout = net::TIMEOUT,
        server = net::SERVER,
        namespace = net::NAMESPACE,
    },
    readings: &[
        FTP_RATE,
        RATE_EACH,
        FTP_TIME,
        FTP_ROUND_TRIP,
        CLIENT_CPU_PER_MIB,
        SERVER_CPU_PER_MIB,
        FTP_ALLOCATIONS,
    ],
    targets: Targets::directories(
        "writes what it retrieves to a file of its own in a directory",
        net::NO_NETWORK,
    ),
    in_place: None,
    is_command: false,
    make: |settings| made(Ftp::from_settings(settings)),
};

/// What is reckoned with for a file whose size only the server knows.
const ROOM_BYTES: u64 = 64 << 20;

/// A file of an FTP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ftp {
    file: Url,
    direction: FtpDirection,
    transfers: u64,
    user: String,
    password: String,
    has_local_file: bool,
    extent: u64,
    is_durable: bool,
    socket: SocketOptions,
    buffer: usize,
    timeout: Duration,
    server: Option<MeasuredProcess>,
    namespace: Option<String>,
}

impl Ftp {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let stores = settings.choice("direction", &[("retrieve", false), ("store", true)]);
        for name in ["local", "extent", "synced"] {
            if stores && settings.is_given(name) {
                let why = format!("{name} is for direction = \"retrieve\" only. Leave it out");
                return Err(SettingFault::at(name, why));
            }
        }
        if !stores && settings.is_given("congestion") {
            let why = "congestion is how a sender adapts, and with direction = \"retrieve\" the \
                       server sends. Leave it out, and set it where the server runs";
            return Err(SettingFault::at("congestion", why));
        }
        let has_local_file =
            settings.choice("local", &[("file", true), ("nowhere", false)]) && !stores;
        let extent = settings.value::<Bytes>("extent").0;
        let is_durable: bool = settings.value("synced");
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
        Ok(Self {
            file: net::url(settings, &[Protocol::Ftp])?,
            direction: match stores {
                true => FtpDirection::Store(settings.value::<Bytes>("size").0),
                false => FtpDirection::Retrieve,
            },
            transfers: settings.value("transfers"),
            user: settings.value("user"),
            password: settings.value("password"),
            has_local_file,
            extent,
            is_durable,
            socket: net::socket(settings),
            buffer: net::buffer(settings),
            timeout: net::timeout(settings),
            server: net::server(settings),
            namespace: settings.optional("namespace"),
        })
    }

    /// Readings of all transfers together. What was moved is divided by the time of the slowest.
    fn readings(&self, outcomes: &[FtpOutcome], server_cpu: Option<Duration>) -> Vec<Reading> {
        let slowest = |time: fn(&FtpOutcome) -> Duration| {
            let times = outcomes.iter().map(time);
            times.max().unwrap_or_default()
        };
        let bytes: u64 = outcomes.iter().map(|it| it.bytes).sum();
        let count = outcomes.len().max(1) as f64;
        let each = outcomes.iter().map(|it| {
            let seconds = it.transfer.as_secs_f64();
            if seconds > 0.0 {
                it.bytes as f64 / seconds
            } else {
                0.0
            }
        });
        let each = each.sum::<f64>() / count;
        let round_trip = outcomes.iter().map(|it| it.round_trip).sum::<Duration>();
        let client_cpu = outcomes.iter().map(|it| it.client_cpu).sum();
        let mut readings = vec![
            byte_rate(FTP_RATE, bytes, slowest(|it| it.transfer)),
            RATE_EACH.reading(each),
            FTP_TIME.reading(slowest(|it| it.elapsed).as_secs_f64()),
            FTP_ROUND_TRIP.reading(round_trip.div_f64(count).as_secs_f64()),
            cpu_per_mib(CLIENT_CPU_PER_MIB, client_cpu, bytes),
        ];
        readings.extend(server_cpu.map(|cpu| cpu_per_mib(SERVER_CPU_PER_MIB, cpu, bytes)));
        if self.extent > 0 {
            let count = outcomes.iter().map(|it| it.allocations).sum::<u64>() as f64;
            readings.push(FTP_ALLOCATIONS.reading(count));
        }
        readings
    }

    /// The files of the transfers: what is stored needs a name of its own.
    fn files(&self) -> Vec<Url> {
        let names_differ = self.transfers > 1 && matches!(self.direction, FtpDirection::Store(_));
        let file = |number: u64| {
            let mut file = self.file.clone();
            if names_differ {
                file.path.push_str(&format!("-{number}"));
            }
            file
        };
        (1..=self.transfers).map(file).collect()
    }

    fn plan(
        &self,
        (number, file): (usize, Url),
        place: &ReplicateContext,
        directory: Option<&WorkDirectory>,
    ) -> Result<FtpPlan> {
        let local = directory.map(|it| it.create_copy(&format!("file{number}")));
        Ok(FtpPlan {
            file,
            user: self.user.clone(),
            password: self.password.clone(),
            direction: self.direction,
            local: local.transpose()?,
            room: match self.has_local_file {
                true => room(place)? / self.transfers,
                false => 0,
            },
            extent: self.extent,
            is_durable: self.is_durable,
            buffer: self.buffer,
            socket: self.socket.clone(),
            timeout: self.timeout,
        })
    }
}

/// Carry plans out at once, each in a thread of its own, which inherits the network namespace.
fn transfer_all(
    plans: &[FtpPlan],
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> std::io::Result<Vec<FtpOutcome>> {
    if let [plan] = plans {
        return Ok(vec![transfer(plan, &is_stopped)]);
    }
    thread::scope(|scope| {
        let start = |plan| {
            let threads = thread::Builder::new();
            threads.spawn_scoped(scope, move || transfer(plan, &is_stopped))
        };
        let running: Vec<_> = plans.iter().map(start).collect::<Result<_, _>>()?;
        let joined = running.into_iter().map(|thread| match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        Ok(joined.collect())
    })
}

impl Measuring for Ftp {
    fn check(&self, _: &ReplicateContext) -> Result<()> {
        net::check_socket(&self.socket)
    }

    fn measure(&self, place: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let directory = match self.has_local_file {
            true => Some(place.work_directory(KIND.name, ROOM_BYTES + self.extent)?),
            false => None,
        };
        let files = self.files().into_iter().enumerate();
        let plans = files.map(|file| self.plan(file, place, directory.as_ref()));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let clock = ServerClock::start(self.server.as_ref())?;
        let is_stopped = || stop.is_raised().is_some();
        let done = run_in(self.namespace.as_deref(), || {
            transfer_all(&plans, &is_stopped)
        });
        let done = done.map_err(|error| net::of_name_space(&error))?;
        let outcomes = done.map_err(|error| {
            MeasureError::Failed(format!(
                "cannot start a thread ({error}): raise the limit on processes (`ulimit -u`)"
            ))
        })?;
        if let Some(directory) = directory {
            directory.remove()?;
        }
        if outcomes.iter().any(|it| it.is_stopped) {
            return Err(net::stopped(stop));
        }
        let faults = plans.iter().zip(&outcomes);
        let mut faults = faults.filter_map(|(plan, it)| Some((plan, it.fault.as_ref()?)));
        if let Some((plan, fault)) = faults.next() {
            let server = self.file.authority();
            let path = &plan.file.path;
            return Err(MeasureError::Failed(format!(
                "ftp://{server}{path}: {fault}"
            )));
        }
        Ok(self.readings(&outcomes, clock.stop()?))
    }
}

/// Bytes that a local file may take beside the reserve: only the server knows how large it will be.
fn room(place: &ReplicateContext) -> Result<u64> {
    let space = free_space(Path::new(&place.target))?;
    let reserve = place.reserve.map_or(space.reserve, |it| it.0);
    Ok(space.available.saturating_sub(reserve))
}
