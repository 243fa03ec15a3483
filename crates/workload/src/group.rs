//! Groups of equal clients, and the enum of all client types.

use crate::address::AddressError;
use crate::client::{Agenda, Client, Event};
use crate::control::{ControlSpec, ControlThread};
use crate::files::{FilesClient, FilesSpec};
use crate::job_flow::JobGates;
use crate::job_spec::JobSpec;
use crate::jobs::JobClient;
use crate::mix::{MixClient, MixSpec};
use crate::op::OpKind;
use crate::own::{OwnCounts, OwnSpec};
use crate::users::{UserClient, UsersSpec};
use serde::{Deserialize, Serialize};

/// Operations by which clients other than users or those with their own units are counted.
const OPERATIONS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Flush];

/// Several workloads; client `n` carries out number `n`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobsSpec {
    /// At least one.
    pub jobs: Vec<JobSpec>,
}

/// What the clients of a trial do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "clients", rename_all = "kebab-case")]
pub enum ClientSpec {
    /// A mix of reads, writes and flushes.
    Mix(MixSpec),
    /// Many small files.
    Files(FilesSpec),
    /// Control threads of several types.
    Control(ControlSpec),
    /// Users who make transactions.
    Users(UsersSpec),
    /// Clients provided by a kind of measurement.
    Own(OwnSpec),
    /// Several workloads, one for each client.
    Jobs(JobsSpec),
}

/// A client of any type.
pub enum AnyClient {
    /// A mix of reads, writes and flushes.
    Mix(Box<MixClient>),
    /// Many small files.
    Files(FilesClient),
    Control(Box<ControlThread>),
    User(Box<UserClient>),
    /// One provided by a kind of measurement.
    Own(Box<dyn Client>),
    /// One of several workloads.
    Job(Box<JobClient>),
}

impl ClientSpec {
    /// Client `client` of `clients`, with its streams drawn from `seed`.
    ///
    /// # Errors
    /// If the client's share of the region would be empty.
    pub fn client(&self, seed: u64, client: u32, clients: u32) -> Result<AnyClient, AddressError> {
        Ok(match self {
            Self::Mix(spec) => {
                AnyClient::Mix(Box::new(MixClient::new(spec, seed, client, clients)?))
            }
            Self::Files(spec) => AnyClient::Files(FilesClient::new(*spec, client, clients)),
            Self::Control(spec) => {
                AnyClient::Control(Box::new(ControlThread::new(spec, seed, client)?))
            }
            Self::Users(spec) => AnyClient::User(Box::new(UserClient::new(spec, seed, client)?)),
            Self::Own(spec) => AnyClient::Own(spec.client(seed, client, clients)?),
            Self::Jobs(spec) => {
                let job = &spec.jobs[client as usize];
                AnyClient::Job(Box::new(JobClient::new(job, seed, client)?))
            }
        })
    }

    /// The kinds of operation whose completion is a unit of work; none where clients report units
    /// of several operations.
    pub fn counted_kinds(&self) -> Vec<OpKind> {
        match self {
            Self::Mix(_) => OPERATIONS.to_vec(),
            Self::Files(spec) => vec![spec.phase.last_kind()],
            Self::Control(_) => vec![OpKind::Read, OpKind::Write],
            Self::Jobs(_) => vec![
                OpKind::Read,
                OpKind::Write,
                OpKind::Trim,
                OpKind::Create,
                OpKind::Stat,
                OpKind::Remove,
            ],
            Self::Users(_) => Vec::new(),
            Self::Own(spec) => match spec.counts {
                OwnCounts::Units | OwnCounts::ScheduledUnits { .. } => Vec::new(),
                OwnCounts::Scheduled { .. } | OwnCounts::Operations => OPERATIONS.to_vec(),
            },
        }
    }

    /// Maximum bytes moved by one operation.
    pub fn len_max(&self) -> u32 {
        match self {
            Self::Mix(spec) => spec.sizes.iter().map(|size| size.len).max().unwrap_or(0),
            Self::Files(spec) => spec.len,
            Self::Control(spec) => {
                let sizes = spec.types.iter().map(|kind| kind.io_size);
                sizes.max().unwrap_or(0)
            }
            Self::Users(spec) => {
                let sizes = spec.profiles().iter().map(|profile| profile.io_size);
                sizes.max().unwrap_or(0)
            }
            Self::Own(spec) => spec.len_max,
            Self::Jobs(spec) => spec.jobs.iter().map(JobSpec::len_max).max().unwrap_or(0),
        }
    }

    /// Whether anything is written, created or removed.
    pub fn changes_storage(&self) -> bool {
        match self {
            Self::Mix(spec) => spec.mix.write > 0 || spec.mix.flush > 0,
            Self::Files(_) => true,
            Self::Control(spec) => spec.types.iter().any(|kind| kind.writes > 0),
            Self::Users(spec) => spec.profiles().iter().any(|profile| profile.writes > 0),
            Self::Own(spec) => spec.writes,
            Self::Jobs(spec) => spec.jobs.iter().any(JobSpec::writes),
        }
    }
}

impl AnyClient {
    /// Connects clients to these gates, through which jobs share flows and a common end.
    pub fn join(&mut self, gates: &JobGates) {
        if let Self::Job(client) = self {
            client.join(gates);
        }
    }
}

impl Client for AnyClient {
    #[inline]
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match self {
            Self::Mix(client) => client.on_event(event, agenda),
            Self::Files(client) => client.on_event(event, agenda),
            Self::Control(client) => client.on_event(event, agenda),
            Self::User(client) => client.on_event(event, agenda),
            Self::Own(client) => client.on_event(event, agenda),
            Self::Job(client) => client.on_event(event, agenda),
        }
    }
}
