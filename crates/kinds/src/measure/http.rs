//! `http`: a page with what it shows within it, loaded by one client or by many.

use std::path::PathBuf;
use std::time::Duration;

use network::Endpoint;
use network::http::{self, PageOutcome, PagePlan, Reuse, Until, find_inlined};
use network::name_space::run_in;
use network::patience::Patience;
use network::processor::MeasuredProcess;
use network::url::{Protocol, Url};
use results::metric::{
    BYTE_RATE, CLIENT_CPU, CONNECTIONS, FAILED_REQUESTS, PAGE_TIME, PAGE_TIME_P95, REQUEST_RATE,
    REQUEST_TIME, SERVER_CPU, TIME_TO_FIRST_BYTE,
};
use results::{KnownMetric, Reading};
use stats::Histogram;

use super::Stop;
use super::form::{ANY_TIME, TextOrList, ValueForm};
use super::kind::{Kind, Measuring, made, settings};
use super::net::{self, ServerClock, byte_rate};
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::{SettingFault, Settings};
use host::limits::check_budget;

pub const KIND: Kind = Kind {
    name: "http",
    about: "a page of a web server with all that it shows within it",
    settings: settings! {
        /// the page
        url = URL.required(),
        /// loaded after the page: images, scripts, style sheets and frames named in it, nothing, or
        /// these paths of the server
        objects = ValueForm::TextOrList("\"inlined\", \"none\" or LIST").or("inlined"),
        /// clients that load the page at the same time, again and again, without a pause
        clients = ValueForm::Count(1, 4096).or("1"),
        /// connections that one client has at most
        connections = ValueForm::Count(1, 64).or("1"),
        /// a new connection for each request, or connections that stay open
        reuse = ValueForm::Words(&["cold", "kept"]).or("kept"),
        /// pages in one repeat, of all clients together
        pages = ValueForm::Count(1, 1 << 40).optional(),
        /// how long pages are begun, without pages. Pages under way are finished
        time = ANY_TIME.or("1s"),
        /// whether a request that fails ends the study, or is counted
        failures = ValueForm::Words(&["refused", "counted"]).or("refused"),
        ca = net::CA,
        timeout = net::TIMEOUT,
        server = net::SERVER,
        namespace = net::NAMESPACE,
    },
    readings: &[
        PAGE_TIME,
        PAGE_TIME_P95,
        REQUEST_TIME,
        TIME_TO_FIRST_BYTE,
        REQUEST_RATE,
        BYTE_RATE,
        CLIENT_CPU,
        SERVER_CPU,
        CONNECTIONS,
        FAILED_REQUESTS,
    ],
    targets: net::not_used("the server at `url` is measured"),
    in_place: None,
    is_command: false,
    make: |settings| made(Http::from_settings(settings)),
};

const URL: ValueForm = ValueForm::Text("http://HOST/PATH or https://HOST/PATH");

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    page: Url,
    objects: Objects,
    clients: usize,
    connections: usize,
    reuse: Reuse,
    until: Until,
    counts_failures: bool,
    ca: Option<PathBuf>,
    timeout: Duration,
    server: Option<MeasuredProcess>,
    namespace: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Objects {
    Inlined,
    These(Vec<String>),
}

impl Http {
    fn from_settings(settings: &Settings<'_>) -> Result<Self, SettingFault> {
        let page = net::url(settings, &[Protocol::Http, Protocol::Https])?;
        let until = match settings.optional("pages") {
            Some(_) if settings.is_given("time") => {
                let why = "time and pages exclude each other: choose one";
                return Err(SettingFault::at("time", why));
            }
            Some(pages) => Until::Pages(pages),
            None => Until::Span(settings.value::<units::Duration>("time").to_std()),
        };
        Ok(Self {
            objects: objects(settings, &page)?,
            ca: net::ca(settings, &page.to_string())?,
            page,
            clients: settings.value::<u64>("clients") as usize,
            connections: settings.value::<u64>("connections") as usize,
            reuse: settings.choice("reuse", &[("cold", Reuse::Cold), ("kept", Reuse::Kept)]),
            until,
            counts_failures: settings.choice("failures", &[("refused", false), ("counted", true)]),
            timeout: net::timeout(settings),
            server: net::server(settings),
            namespace: settings.optional("namespace"),
        })
    }

    fn measure_here(&self, stop: &Stop) -> Result<Vec<Reading>> {
        let failed = |error: &dyn std::error::Error| MeasureError::Failed(error.to_string());
        let endpoint = Endpoint::of(&self.page, self.ca.as_deref());
        let endpoint = endpoint.map_err(|error| failed(&error))?;
        let is_stopped = || stop.is_raised().is_some();
        let plan = PagePlan {
            page: self.page.clone(),
            objects: self.find_objects(&endpoint, &is_stopped)?,
            clients: self.clients,
            connections: self.connections,
            reuse: self.reuse,
            until: self.until,
            timeout: self.timeout,
        };
        let clock = ServerClock::start(self.server.as_ref())?;
        let outcome = http::measure(&plan, &endpoint, &is_stopped);
        let outcome = outcome.map_err(|error| failed(&error))?;
        let server_cpu = clock.stop()?;
        if outcome.is_stopped {
            return Err(net::stopped(stop));
        }
        self.refuse_faults(&outcome, &endpoint)?;
        Ok(self.readings(&outcome, server_cpu))
    }

    fn find_objects(
        &self,
        endpoint: &Endpoint,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<String>> {
        let paths = match &self.objects {
            Objects::These(paths) => return Ok(paths.clone()),
            Objects::Inlined => {
                let patience = Patience {
                    timeout: self.timeout,
                    is_stopped,
                };
                let document = http::load(&self.page, endpoint, &patience);
                let document = document.map_err(|error| MeasureError::Failed(error.to_string()))?;
                find_inlined(&String::from_utf8_lossy(&document), &self.page)
            }
        };
        match paths {
            (paths, 0) => Ok(paths),
            (_, elsewhere) => Err(MeasureError::Failed(format!(
                "{} of the objects on {} lie on other servers, or have no address. Give objects \
                 as a list of paths",
                elsewhere, self.page.path
            ))),
        }
    }

    fn refuse_faults(&self, outcome: &PageOutcome, endpoint: &Endpoint) -> Result<()> {
        let faults = &outcome.faults;
        let is_nothing = outcome.requests == 0 || outcome.requests_counted == 0;
        if faults.total() == 0 && is_nothing {
            return Err(MeasureError::Failed(format!(
                "{endpoint}: no request was answered within the time. Set a longer one"
            )));
        }
        if faults.total() == 0 || (self.counts_failures && !is_nothing) {
            return Ok(());
        }
        let failed = faults.total();
        let all = failed + outcome.requests;
        Err(MeasureError::Failed(format!(
            "{endpoint}: {failed} of {all} requests failed ({faults})"
        )))
    }

    fn readings(&self, outcome: &PageOutcome, server_cpu: Option<Duration>) -> Vec<Reading> {
        let requests = outcome.requests as f64;
        let per_request =
            |metric: KnownMetric, cpu: Duration| metric.reading(cpu.as_secs_f64() / requests);
        let mut readings = times_of(&outcome.page_times);
        let first_byte = outcome.first_byte_times.mean() / 1e9;
        let rate = outcome.requests_counted as f64 / outcome.counted.as_secs_f64();
        readings.extend([
            REQUEST_TIME.reading(outcome.request_times.mean() / 1e9),
            TIME_TO_FIRST_BYTE.reading(first_byte),
            REQUEST_RATE.reading(rate),
            byte_rate(BYTE_RATE, outcome.bytes_counted, outcome.counted),
            per_request(CLIENT_CPU, outcome.client_cpu),
        ]);
        readings.extend(server_cpu.map(|cpu| per_request(SERVER_CPU, cpu)));
        readings.push(CONNECTIONS.reading(outcome.connects as f64 / requests));
        if self.counts_failures {
            readings.push(FAILED_REQUESTS.reading(outcome.faults.total() as f64));
        }
        readings
    }
}

impl Measuring for Http {
    fn check(&self, _: &ReplicateContext) -> Result<()> {
        let files = self.clients.saturating_mul(self.connections) as u64;
        check_budget(files, 0).map_err(|error| {
            let Self {
                clients,
                connections,
                ..
            } = self;
            MeasureError::Usage(format!(
                "clients = {clients} with connections = {connections}: {error}"
            ))
        })
    }

    fn measure(&self, _: &ReplicateContext, stop: &Stop) -> Result<Vec<Reading>> {
        let inside = run_in(self.namespace.as_deref(), || self.measure_here(stop));
        inside.map_err(|error| net::of_name_space(&error))?
    }
}

/// Nothing when no page came whole; few pages have no percentile.
fn times_of(pages: &Histogram) -> Vec<Reading> {
    let mean = (!pages.is_empty()).then(|| PAGE_TIME.reading(pages.mean() / 1e9));
    let high = pages.quantile(0.95);
    let high = high.map(|high| PAGE_TIME_P95.reading(high as f64 / 1e9));
    mean.into_iter().chain(high).collect()
}

fn objects(settings: &Settings<'_>, page: &Url) -> Result<Objects, SettingFault> {
    let fault = |message: String| SettingFault::at("objects", format!("objects: {message}"));
    match settings.optional("objects") {
        None => Ok(Objects::Inlined),
        Some(TextOrList::Text(text)) => match text.as_str() {
            "inlined" => Ok(Objects::Inlined),
            "none" => Ok(Objects::These(Vec::new())),
            other => Err(fault(format!(
                "{other:?} is neither \"inlined\" nor \"none\" nor a list of paths"
            ))),
        },
        Some(TextOrList::List(paths)) => {
            for path in &paths {
                let beside = format!("http://{}{path}", page.authority());
                let is_path = path.starts_with('/') && Url::parse(&beside).is_ok();
                if !is_path {
                    return Err(fault(format!(
                        "{path:?} is no path of a server: begin with a slash, without blanks"
                    )));
                }
            }
            Ok(Objects::These(paths))
        }
    }
}
