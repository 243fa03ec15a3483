//! Parses `sim:...`: a queue model, a device, or a machine, with options that replace its values.

use toml_reader::TomlFaults;
use units::{Bytes, Duration, Instant, TargetName, listed_name, nearest};

use crate::catalogue;
use crate::definition::{self, DeviceDefinition, Load};
use crate::device::Device;
use crate::driver::SimDriver;
use crate::faults::Faults;
use crate::machine::{DeviceSpec, MachineSpec};
use crate::queue::{MODELS, QueueParameters, QueueSpec};
use crate::rt11::{Rt11, Rt11Spec};
use crate::station::{ServiceLaw, Station};

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SimSpec {
    /// As it was typed.
    pub text: String,
    /// The model's name.
    pub model: String,
    /// Size of the target.
    pub size: Bytes,
    /// Processors for the CPU work of transactions.
    pub cpus: usize,
    /// Injected faults.
    pub faults: Faults,
    subject: SimulatedModel,
}

#[derive(Clone, Debug, PartialEq)]
enum SimulatedModel {
    Queue(Box<QueueSpec>),
    Machine(Box<MachineSpec>),
}

/// Why a `sim:` name is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// The name, a parameter or its value is invalid.
    #[error("{0}")]
    Invalid(String),
    /// A definition is invalid.
    #[error(transparent)]
    Definition(#[from] TomlFaults),
    /// Only programs that use files can be simulated on such a machine.
    #[error(
        "sim:{0} is a machine with a file system, for `seekstone files sim:{0}`. Its disk is a \
         target of its own, such as sim:rl02"
    )]
    HasFileSystem(String),
    /// A machine without a file system.
    #[error(
        "sim:{0} has no file system: name it as the disk of a machine that has one, as in \
         'sim:rt11?disk={0}'"
    )]
    NoFileSystem(String),
    /// A link has no storage.
    #[error("sim:{0} is a link: name it in a machine, as in link = \"{0}\"")]
    NoStorage(String),
}

impl SimSpec {
    /// Parses the text after `sim:`, which refers to no file.
    ///
    /// # Errors
    /// If the model or a parameter does not exist, or a value is invalid.
    pub fn parse(text: &str) -> Result<Self, SimError> {
        Self::parse_with(text, &mut |path| {
            Err(format!("{path} is a file, which is not read here"))
        })
    }

    /// Parses the text after `sim:`; `load` reads its files.
    ///
    /// # Errors
    /// If the model or a parameter does not exist, or a value is invalid.
    // fuzzed: sim_spec, device
    pub fn parse_with(text: &str, load: Load<'_>) -> Result<Self, SimError> {
        let bare = listed_name(text);
        let (name, query) = bare.split_once('?').unwrap_or((bare, ""));
        let queue = MODELS.iter().find(|(model, ..)| *model == name);
        let is_device = definition::is_file(name) || catalogue::text(name).is_some();
        let defaults = match queue {
            Some((_, defaults, _)) => *defaults,
            None if is_device => &[],
            None => return Err(unknown(name)),
        };
        let values = QueueParameters::new(name, defaults);
        let mut values = match queue {
            Some(_) => values.of_queue(),
            None => values,
        };
        let mut options = Vec::new();
        for (key, value) in pairs(name, query)? {
            let is_machines = is_device && matches!(key, "size" | "cpus");
            if is_machines || !values.set(key, value) {
                options.push((key.to_owned(), value.to_owned()));
            }
        }
        let faults = values.faults()?;
        let text = TargetName::of_model(bare).to_string();
        if queue.is_none() {
            return machine(text, values, options, faults, load);
        }
        if let Some((key, _)) = options.first() {
            return Err(unknown_parameter(name, key, values.known()));
        }
        Ok(Self {
            text,
            model: name.into(),
            size: values.size("size")?,
            cpus: values.count("cpus")?,
            faults,
            subject: SimulatedModel::Queue(Box::new(QueueSpec::read(&values)?)),
        })
    }

    /// A driver on this model, idle at `start`, with all random draws from `seed`.
    pub fn driver(&self, seed: u64, capacity: usize, start: Instant) -> SimDriver {
        self.driver_on(self.device(seed), seed, capacity, start)
    }

    /// A driver for programs of several hosts: the server and `clients` clients. Program `n` runs
    /// on host `n` modulo their number, the server being the first. None if the machine has no
    /// server.
    pub fn driver_of_site(&self, seed: u64, capacity: usize, clients: usize) -> Option<SimDriver> {
        let device = self.machine()?.build_site(seed, clients)?;
        Some(self.driver_on(device, seed, capacity, Instant::START))
    }

    /// Time of a unit of CPU work at the server, if its definition states it.
    pub fn cpu_unit_of_server(&self) -> Option<Duration> {
        let server = self.machine()?.server.as_ref()?;
        server.cpu_unit.map(Duration)
    }

    /// A driver on a used device.
    pub fn driver_on(
        &self,
        device: Box<dyn Device>,
        seed: u64,
        capacity: usize,
        start: Instant,
    ) -> SimDriver {
        let driver = SimDriver::new(device, capacity, start)
            .with_faults(self.faults.clone(), seed)
            .with_processors(self.cpus);
        match &self.subject {
            SimulatedModel::Queue(_) => driver,
            SimulatedModel::Machine(machine) => {
                driver.as_machine(machine.start, self.size.0, machine.has_host())
            }
        }
    }

    /// The idle device.
    pub fn device(&self, seed: u64) -> Box<dyn Device> {
        match &self.subject {
            SimulatedModel::Queue(queue) => {
                let station = Station::new(queue.law, queue.servers, seed).at_pace(queue.pace);
                queue.limits.around(Box::new(station))
            }
            SimulatedModel::Machine(machine) => machine.build(seed),
        }
    }

    /// Whether it keeps state between trials: caches, arm position, credits.
    pub fn keeps_state(&self) -> bool {
        match &self.subject {
            SimulatedModel::Queue(queue) => !queue.limits.is_none(),
            SimulatedModel::Machine(_) => true,
        }
    }

    /// Whether it is read-only.
    pub fn is_read_only(&self) -> bool {
        let machine = self.machine();
        machine.is_some_and(|machine| matches!(machine.device, DeviceSpec::Cd(_)))
    }

    /// The machine; none for a queue.
    pub fn machine(&self) -> Option<&MachineSpec> {
        match &self.subject {
            SimulatedModel::Queue(_) => None,
            SimulatedModel::Machine(machine) => Some(machine),
        }
    }

    /// Time of a unit of the DISKRAND document's CPU work, if its definition states it.
    pub fn cpu_unit(&self) -> Option<Duration> {
        let host = self.machine()?.host.as_ref()?;
        host.cpu_unit.map(Duration)
    }

    /// Size of all caches between a program and the medium, bytes, if any.
    pub fn cache_bytes(&self) -> Option<u64> {
        let bytes = match &self.subject {
            SimulatedModel::Queue(queue) => match queue.law {
                ServiceLaw::Drive(law) => law.cache,
                _ => 0,
            },
            SimulatedModel::Machine(machine) => machine.cache_bytes(),
        };
        (bytes > 0).then_some(bytes)
    }

    /// The queue; none for a machine.
    pub(crate) fn queue(&self) -> Option<&QueueSpec> {
        match &self.subject {
            SimulatedModel::Queue(queue) => Some(queue),
            SimulatedModel::Machine(_) => None,
        }
    }
}

/// A machine with a file system.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSystemSpec {
    /// As it was typed.
    pub text: String,
    /// Title in reports.
    pub title: String,
    machine: MachineSpec,
    system: Rt11Spec,
}

impl FileSystemSpec {
    /// Parses the text after `sim:`; `load` reads its files.
    ///
    /// # Errors
    /// If it does not exist or has no file system, or a value is invalid.
    pub fn parse_with(text: &str, load: Load<'_>) -> Result<Self, SimError> {
        let bare = listed_name(text);
        let (name, query) = bare.split_once('?').unwrap_or((bare, ""));
        if MODELS.iter().any(|(model, ..)| *model == name) {
            return Err(SimError::NoFileSystem(name.into()));
        }
        if !definition::is_file(name) && catalogue::text(name).is_none() {
            return Err(unknown(name));
        }
        let options: Vec<_> = pairs(name, query)?
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        let DeviceDefinition {
            title,
            machine,
            untaken,
            known,
            ..
        } = definition::read(name, &options, load)?;
        let Some(machine) = machine else {
            return Err(SimError::NoStorage(name.into()));
        };
        let Some(system) = machine.file_system.clone() else {
            return Err(SimError::NoFileSystem(name.into()));
        };
        if let Some(key) = untaken.first() {
            return Err(unknown_parameter(name, key, known));
        }
        Ok(Self {
            text: TargetName::of_model(bare).to_string(),
            title,
            machine,
            system,
        })
    }

    pub const fn machine(&self) -> &MachineSpec {
        &self.machine
    }

    /// The idle system at `start` with a freshly initialised volume; `seed` determines the angle of
    /// platters.
    pub fn build(&self, seed: u64, start: Instant) -> Rt11 {
        let storage = self.machine.build(seed);
        Rt11::new(
            self.system.clone(),
            storage,
            self.machine.start,
            seed,
            start,
        )
    }
}

/// Parameters with values, each parameter once.
fn pairs<'a>(model: &str, query: &'a str) -> Result<Vec<(&'a str, &'a str)>, SimError> {
    let typed = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (key, value) in typed.map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
        if let Some((_, first)) = pairs.iter().find(|(known, _)| *known == key) {
            return Err(SimError::Invalid(format!(
                "sim:{model}: {key} is given twice, {first} and {value}. Leave one of them out"
            )));
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

fn unknown(name: &str) -> SimError {
    let queues = MODELS.iter().map(|(name, ..)| *name);
    let known = nearest(name, catalogue::names().chain(queues));
    let meant = known.map_or_else(|| ":".into(), |known| format!(", did you mean {known:?}?"));
    SimError::Invalid(format!(
        "there is no simulated device \"{name}\"{meant} `seekstone devices list` lists all, such \
         as sim:nvme, sim:rz28, sim:mm1"
    ))
}

fn unknown_parameter(model: &str, key: &str, mut known: Vec<String>) -> SimError {
    known.sort_unstable();
    known.dedup();
    let known = known.join(", ");
    SimError::Invalid(format!(
        "sim:{model} has no parameter \"{key}\". It takes {known}"
    ))
}

fn machine(
    text: String,
    mut values: QueueParameters,
    mut options: Vec<(String, String)>,
    faults: Faults,
    load: Load<'_>,
) -> Result<SimSpec, SimError> {
    let name = values.model.clone();
    let mut taken = |key: &str| {
        let index = options.iter().position(|(option, _)| option == key)?;
        Some(options.remove(index).1)
    };
    let size = taken("size");
    let DeviceDefinition {
        machine,
        untaken,
        mut known,
        ..
    } = definition::read(&name, &options, load)?;
    let Some(machine) = machine else {
        return Err(SimError::NoStorage(name));
    };
    if machine.file_system.is_some() {
        return Err(SimError::HasFileSystem(name));
    }
    let mut untaken = untaken;
    let mut cpus = machine.host.as_ref().map(|host| host.cpus);
    if cpus.is_none() && untaken.iter().any(|key| key == "cpus") {
        untaken.retain(|key| key != "cpus");
        let typed = options.iter().find(|(key, _)| key == "cpus");
        values.set("cpus", typed.map_or("1", |(_, value)| value));
        cpus = Some(values.count("cpus")?);
    }
    if let Some(key) = untaken.first() {
        known.extend(values.known());
        return Err(unknown_parameter(&name, key, known));
    }
    let size = size_of(&machine, size, &mut values)?;
    Ok(SimSpec {
        text,
        model: name,
        size,
        cpus: cpus.unwrap_or(1),
        faults,
        subject: SimulatedModel::Machine(Box::new(machine)),
    })
}

/// Size of the target: everything from its start on, or as requested.
fn size_of(
    machine: &MachineSpec,
    asked: Option<String>,
    values: &mut QueueParameters,
) -> Result<Bytes, SimError> {
    let whole = machine.size();
    let there = whole.saturating_sub(machine.start);
    let start = Bytes(machine.start);
    let size = match asked {
        None => Bytes(there),
        Some(typed) => {
            values.set("size", &typed);
            values.size("size")?
        }
    };
    let reason = match size.0 {
        0 => format!("the target begins at its end, start={start}"),
        size if size > there => {
            let whole = Bytes(whole);
            format!("it holds {whole}, and the target begins at {start}")
        }
        _ => return Ok(size),
    };
    Err(values.refuse("size", &reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(text: &str) -> QueueSpec {
        match SimSpec::parse(text).expect("a valid name").subject {
            SimulatedModel::Queue(queue) => *queue,
            SimulatedModel::Machine(machine) => panic!("a queue was asked for: {machine:?}"),
        }
    }

    #[test]
    fn defaults_and_overrides() {
        let spec = queue("sim:mmc?servers=8");
        assert_eq!(spec.servers, Some(8));
        assert_eq!(spec.law, ServiceLaw::Exponential { mean_ns: 100_000.0 });
        let spec = queue("sim:cache?hits=95%&miss=5ms");
        let ServiceLaw::Cache {
            hit_share, miss_ns, ..
        } = spec.law
        else {
            panic!("a cache was asked for: {spec:?}")
        };
        assert!((hit_share - 0.95).abs() < 1e-12 && miss_ns == 5e6);
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let error = SimSpec::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("sim:drum", "there is no simulated device \"drum\": ");
        check("sim:nm1", "\"nm1\", did you mean \"mm1\"? ");
        check(
            "sim:mm1?speed=3",
            "no parameter \"speed\". It takes bps, cpus, credits, drift, error, io-size, iops, \
             mean, rbps, riops, short, size, stall, warm-up, wave, wbps, wiops",
        );
        check("sim:mm1?mean=4x", "mean=4x");
        check("sim:mm1?mean=0", "above zero");
        check("sim:drive?cache=2GiB", "at most 1 GiB");
        check("sim:mmc?servers=0", "between 1 and 65536");
        check("sim:cache?hits=120%", "between 0% and 100%");
        check("sim:mm1?error=EWHAT@3", "known errors are");
        check("sim:mm1?stall=5ms", "WHAT@WHEN");
        check(
            "sim:mm1?iops=100..3000",
            "iops=100..3000: say after a colon",
        );
        check("sim:mm1?iops=100&credits=200%", "between 0% and 100%");
        check("sim:mm1?iops=100&io-size=1", "at least 512 B");
        check("sim:nvme?iops=100..3000", "iops = 100..3000");
        check("sim:mm1?stall=5s@every:5s", "shorter than the time");
        check("sim:mm1?stall=5s@every:0s", "above zero");
        check(
            "sim:mm1?error=EIO@every:5s",
            "an operation, a rate or a place",
        );
        check("sim:pareto?shape=1", "above 1");
        check("sim:mm1?short=3", "short=3");
        // Bug: the last one won, and a device's second one was called unknown.
        check(
            "sim:mm1?mean=1ms&mean=2ms",
            "mean is given twice, 1ms and 2ms",
        );
        check(
            "sim:rz28?raid=5&disks=5&disks=7",
            "disks is given twice, 5 and 7",
        );
    }
}
