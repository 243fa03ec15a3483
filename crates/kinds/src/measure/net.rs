//! What the measurements over a network have in common: settings, and the server's processor time.

use std::path::PathBuf;
use std::time::Duration;

use network::TLS_LEFT_OUT;
use network::name_space::NameSpaceError;
use network::processor::MeasuredProcess;
use network::socket::SocketOptions;
use network::url::{Protocol, Url};
use results::{KnownMetric, Reading};
use units::Bytes;

use super::Stop;
use super::form::{ANY_TIME, ValueForm};
use super::kind::settings;
use super::place::{MeasureError, Result, go_on};
use super::settings::{SettingFault, Settings};
use super::targets::{NO_BUCKET, TargetUse, Targets};

settings! {
    /// the network namespace from which it is measured, as `ip netns list` names it. The one that
    /// the program runs in when not given
    pub const NAMESPACE = ValueForm::Text("NAME").optional();
    /// the server's processes on this machine by name, or one by number: their processor time is
    /// counted
    pub const SERVER = ValueForm::Text("NAME or NUMBER").optional();
    /// certificates (PEM) of the authorities that an encrypted server is checked against (default:
    /// the system's)
    pub const CA = ValueForm::Text("FILE").optional();
    /// fail after the other side is silent for this long
    pub const TIMEOUT = ANY_TIME.or("30s");
    /// receive window in bytes. The system's choice when not given
    pub const WINDOW = ValueForm::Size(Bytes::from_kib(2), Bytes::from_mib(512)).optional();
    /// how a sender adapts to the link, such as "reno". The system's default when not given
    pub const CONGESTION = ValueForm::Text("NAME").optional();
    /// bytes handed to the system at once
    pub const BUFFER = ValueForm::Size(Bytes(1), Bytes::from_mib(64)).or("64KiB");
}

/// Bytes that one transfer moves.
pub const SIZE: ValueForm = ValueForm::Size(Bytes(1), Bytes::from_gib(1 << 20));
/// Why no model is measured.
pub(super) const NO_NETWORK: &str = "is measured over a network, and a model has none";
const MIB: f64 = 1_048_576.0;

/// Where the target takes no part, since `what` is measured.
pub(super) const fn not_used(what: &'static str) -> Targets {
    Targets {
        directory: TargetUse::Elsewhere(what),
        named: TargetUse::Elsewhere(what),
        model: TargetUse::Refused(NO_NETWORK),
        on_hosts: false,
        bucket: TargetUse::Refused(NO_BUCKET),
    }
}

/// The address in the setting `url`, in one of the `protocols`.
pub(super) fn url(settings: &Settings<'_>, protocols: &[Protocol]) -> Result<Url, SettingFault> {
    let text: String = settings.value("url");
    let fault = |message: String| SettingFault::at("url", format!("url: {message}"));
    let url = Url::parse(&text).map_err(|error| fault(error.to_string()))?;
    if !protocols.contains(&url.protocol) {
        let names = protocols.iter().map(|it| format!("{}://", it.name()));
        let names = names.collect::<Vec<_>>().join(" or ");
        return Err(fault(format!("`{text}` does not begin with {names}")));
    }
    match TLS_LEFT_OUT {
        Some(missing) if url.protocol == Protocol::Https => Err(fault(missing.to_string())),
        _ => Ok(url),
    }
}

/// The setting `ca`, for a server at `address`.
pub(super) fn ca(settings: &Settings<'_>, address: &str) -> Result<Option<PathBuf>, SettingFault> {
    let file: Option<PathBuf> = settings.optional("ca");
    if file.is_some() && !address.contains("https://") {
        let why = format!("ca checks a server at https://, and this is {address:?}");
        return Err(SettingFault::at("ca", why));
    }
    Ok(file)
}

/// The settings `window` and `congestion`.
pub(super) fn socket(settings: &Settings<'_>) -> SocketOptions {
    let window: Option<Bytes> = settings.optional("window");
    SocketOptions {
        window: window.and_then(|it| u32::try_from(it.0).ok()),
        congestion: settings.optional("congestion"),
    }
}

/// Options of a socket that the system does not take are told before anything is set up.
pub(super) fn check_socket(options: &SocketOptions) -> Result<()> {
    let checked = options.check();
    checked.map_err(|error| MeasureError::Usage(error.to_string()))
}

/// The setting `buffer`.
pub(super) fn buffer(settings: &Settings<'_>) -> usize {
    settings.value::<Bytes>("buffer").0 as usize
}

/// The setting `timeout`.
pub(super) fn timeout(settings: &Settings<'_>) -> Duration {
    settings.value::<units::Duration>("timeout").to_std()
}

/// The setting `server`.
pub(super) fn server(settings: &Settings<'_>) -> Option<MeasuredProcess> {
    let text: Option<String> = settings.optional("server");
    text.map(|text| MeasuredProcess::of(&text))
}

/// Looks at the server's processor time before and after.
pub(super) struct ServerClock<'a> {
    server: Option<&'a MeasuredProcess>,
    before: Option<Duration>,
}

impl<'a> ServerClock<'a> {
    /// Look for the first time.
    pub fn start(server: Option<&'a MeasuredProcess>) -> Result<Self> {
        let before = server.map(used).transpose()?;
        Ok(Self { server, before })
    }

    /// What it has used since.
    pub fn stop(self) -> Result<Option<Duration>> {
        let (Some(server), Some(before)) = (self.server, self.before) else {
            return Ok(None);
        };
        Ok(Some(used(server)?.saturating_sub(before)))
    }
}

fn used(server: &MeasuredProcess) -> Result<Duration> {
    let name = match server {
        MeasuredProcess::Process(pid) => format!("number {pid}"),
        MeasuredProcess::Named(name) => format!("name {name:?}"),
    };
    let missing = || {
        MeasureError::Usage(format!(
            "server: no process of the {name} runs on this machine. Leave server out when it \
             runs elsewhere"
        ))
    };
    server.processor_time().ok_or_else(missing)
}

/// Processor time per MiB moved.
pub(super) fn cpu_per_mib(metric: KnownMetric, cpu: Duration, bytes: u64) -> Reading {
    metric.reading(cpu.as_secs_f64() / (bytes as f64 / MIB))
}

pub(super) fn byte_rate(metric: KnownMetric, bytes: u64, span: Duration) -> Reading {
    metric.reading(bytes as f64 / span.as_secs_f64())
}

/// A namespace that cannot be entered is a mistake of the file's.
pub(super) fn of_name_space(error: &NameSpaceError) -> MeasureError {
    MeasureError::Usage(error.to_string())
}

/// It was stopped, says the client: by whom, says the signal.
pub(super) fn stopped(stop: &Stop) -> MeasureError {
    let by_signal = go_on(stop).err();
    by_signal.unwrap_or_else(|| MeasureError::Failed("stopped".into()))
}
