//! Large files written and read in transfers: IOR's two patterns, as used by the IO500 benchmark.
//! Either each client has its own file (easy), or transfers of all clients alternate in one file
//! (hard), whose first record identifies its creator.

use std::iter::once;
use std::ops::Range;

use random::{Permutation, Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::file_op::{FileName, FileOp, FileScript, OpenFor};
use crate::metadata::{DirectoryUse, MetadataClient, MetadataPhase, MetadataSpec};

/// Series of the clients' own files.
const OWN: char = 'b';
/// Series of the shared file.
const SHARED: char = 's';

/// Files and transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandwidthSpec {
    /// Maximum transfers per client.
    pub transfers: u32,
    pub transfer_bytes: u32,
    /// Clients on all hosts.
    pub clients: u32,
    /// Whether clients have their own files or share one.
    pub directories: DirectoryUse,
    /// Consecutive transfers of a client in a shared file, before those of the next client.
    pub in_a_row: u32,
    pub order: TransferOrder,
}

/// Order of a client's transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferOrder {
    /// Ascending.
    #[default]
    Ascending,
    /// Random without repetition, in the same order for writing and reading.
    Random {
        seed: u64,
        /// Number of a client's transfers, whether or not it completes them all.
        among: u32,
    },
}

units::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BandwidthPhase {
        /// Each client writes its transfers in order.
        Write = "write": "open, write in transfers, close",
        /// The transfers are read in the same order.
        Read = "read": "open, read in transfers, close",
    }
}

impl BandwidthSpec {
    /// What one client does first: creates the shared file with its first record.
    pub fn shared_file(&self) -> FileScript {
        if self.directories == DirectoryUse::Own {
            return Box::new(std::iter::empty());
        }
        let bytes = self.transfer_bytes;
        let file = FileName::new(SHARED, 0);
        let create = FileOp::Create {
            file,
            bytes: u64::from(bytes),
        };
        Box::new([create, FileOp::Write { bytes }, FileOp::Close].into_iter())
    }

    /// The calls of a phase for some of the transfers: all existing or planned ones.
    pub fn script_of(
        &self,
        phase: BandwidthPhase,
        client: MetadataClient,
        some: Range<u32>,
    ) -> FileScript {
        let spec = *self;
        let bytes = u64::from(some.len() as u32) * u64::from(self.transfer_bytes);
        let transfers = some.flat_map(move |n| spec.transfer(phase, client, n));
        let begin = self.begin(phase, client, bytes);
        Box::new(begin.chain(transfers).chain(once(FileOp::Close)))
    }

    /// The calls before the first transfer of a file of `bytes`.
    pub fn begin(&self, phase: BandwidthPhase, client: MetadataClient, bytes: u64) -> FileScript {
        let shared = FileName::new(SHARED, 0);
        let reading = OpenFor::Reading;
        match (self.directories, phase) {
            (DirectoryUse::Shared, _) => Box::new(once(FileOp::OpenShared {
                file: shared,
                purpose: match phase {
                    BandwidthPhase::Write => OpenFor::Writing,
                    BandwidthPhase::Read => reading,
                },
            })),
            (DirectoryUse::Own, BandwidthPhase::Write) => {
                let file = FileName::new(OWN, client.number);
                Box::new(once(FileOp::Create { file, bytes }))
            }
            (DirectoryUse::Own, BandwidthPhase::Read) => {
                let maker = client.reads_of;
                let file = FileName::new(OWN, maker);
                let learn = FileOp::Learn { maker, file, bytes };
                let learned = (maker != client.number).then_some(learn);
                let purpose = reading;
                let open = FileOp::Open { file, purpose };
                Box::new(learned.into_iter().chain(once(open)))
            }
        }
    }

    /// The calls of transfer `number` of a client.
    pub fn transfer(
        &self,
        phase: BandwidthPhase,
        client: MetadataClient,
        number: u32,
    ) -> impl Iterator<Item = FileOp> + Send + use<> {
        let bytes = self.transfer_bytes;
        let (of, call) = match phase {
            BandwidthPhase::Write => (client.number, FileOp::Write { bytes }),
            BandwidthPhase::Read => (client.reads_of, FileOp::Read { bytes }),
        };
        let place = u64::from(self.place(number));
        let record = match self.directories {
            DirectoryUse::Own => place,
            DirectoryUse::Shared => {
                let row = u64::from(self.in_a_row.max(1));
                let rows = place / row * u64::from(self.clients) + u64::from(of);
                1 + rows * row + place % row
            }
        };
        let seek = FileOp::Seek {
            at: record * u64::from(bytes),
        };
        let seeks =
            self.directories == DirectoryUse::Shared || self.order != TransferOrder::Ascending;
        seeks.then_some(seek).into_iter().chain(once(call))
    }

    /// Index of the client's transfer that is number `number` in time.
    fn place(&self, number: u32) -> u32 {
        match self.order {
            TransferOrder::Random { seed, among } if number < among => {
                let mut keys = Stream::new(seed, 0, Purpose::Order);
                let order = Permutation::new(among.into(), &mut keys);
                order.expect("there are some").apply(number.into()) as u32
            }
            _ => number,
        }
    }
}

/// What each client creates in a workload where all do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesShape {
    /// A tree of directories and small files.
    Tree(MetadataSpec),
    /// Large files.
    Transfers(BandwidthSpec),
}

impl FilesShape {
    /// Files, or transfers, of each client.
    pub const fn most(&self) -> u32 {
        match self {
            Self::Tree(tree) => tree.files,
            Self::Transfers(spec) => spec.transfers,
        }
    }

    /// Bytes created per client.
    pub fn bytes(&self) -> u64 {
        let each = match self {
            Self::Tree(tree) => tree.file_bytes,
            Self::Transfers(spec) => spec.transfer_bytes,
        };
        u64::from(self.most()) * u64::from(each)
    }

    /// The same with another number.
    #[must_use]
    pub fn with(self, most: u32) -> Self {
        match self {
            Self::Tree(tree) => Self::Tree(MetadataSpec {
                files: most,
                ..tree
            }),
            Self::Transfers(spec) => Self::Transfers(BandwidthSpec {
                transfers: most,
                ..spec
            }),
        }
    }

    /// Items counted in a phase of the metadata workload; zero without a tree.
    pub fn items(&self, phase: MetadataPhase) -> u32 {
        match self {
            Self::Tree(tree) => tree.items(phase),
            Self::Transfers(_) => 0,
        }
    }
}
