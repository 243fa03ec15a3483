//! Large files written and read in transfers: IOR's two patterns, as the IO500 benchmark uses them.
//! Either each client has a file of its own (easy), or the transfers of all clients take turns in
//! one file (hard), whose first record is its maker's.

use std::iter::once;
use std::ops::Range;

use random::{Permutation, Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::file_op::{FileName, FileOp, FileScript, OpenFor};
use crate::metadata::{DirectoryUse, MetadataClient, MetadataPhase, MetadataSpec};

/// Series of files of each client's own.
const OWN: char = 'b';
/// Series of the file of all clients.
const SHARED: char = 's';

/// Files and transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandwidthSpec {
    /// Transfers of each client, at most.
    pub transfers: u32,
    pub transfer_bytes: u32,
    /// Clients on all hosts.
    pub clients: u32,
    /// Whether clients have files of their own, or share one.
    pub directories: DirectoryUse,
    /// Transfers of a client in a row in a file of all, before those of the next client.
    pub in_a_row: u32,
    pub order: TransferOrder,
}

/// In which order a client's transfers come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferOrder {
    /// From the first to the last.
    #[default]
    Ascending,
    /// Each once, at random: the same for writing and reading.
    Random {
        seed: u64,
        /// Transfers of a client, whether or not it gets to all of them.
        among: u32,
    },
}

units::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BandwidthPhase {
        /// Each client writes its transfers, in their order.
        Write = "write": "open, write in transfers, close",
        /// They are read, in the same order.
        Read = "read": "open, read in transfers, close",
    }
}

impl BandwidthSpec {
    /// What one client does before all others: the file that they share, with its first record.
    #[must_use]
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

    /// The calls of a phase for some of the transfers: all that there are, or are to be.
    #[must_use]
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
    #[must_use]
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

    /// Where the transfer lies among those of its client that is number `number` in time.
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

/// What each client makes of a workload in which every client does the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesShape {
    /// A tree of directories and small files.
    Tree(MetadataSpec),
    /// Large files.
    Transfers(BandwidthSpec),
}

impl FilesShape {
    /// Files, or transfers, of each client.
    #[must_use]
    pub const fn most(&self) -> u32 {
        match self {
            Self::Tree(tree) => tree.files,
            Self::Transfers(spec) => spec.transfers,
        }
    }

    /// Bytes of what each client makes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let each = match self {
            Self::Tree(tree) => tree.file_bytes,
            Self::Transfers(spec) => spec.transfer_bytes,
        };
        u64::from(self.most()) * u64::from(each)
    }

    /// The same with other many of them.
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

    /// What a phase of the metadata workload counts; none where there is no tree.
    #[must_use]
    pub fn items(&self, phase: MetadataPhase) -> u32 {
        match self {
            Self::Tree(tree) => tree.items(phase),
            Self::Transfers(_) => 0,
        }
    }
}
