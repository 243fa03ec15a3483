//! fio's I/O engines, and which of ours runs a job.

/// How requests of a job access the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Up to `iodepth` requests at once.
    Asynchronous,
    /// One request at a time, whatever `iodepth` is.
    Synchronous,
    /// Requests complete at once, without storage.
    Null,
    /// No I/O: one call per file.
    Calls(FileCall),
}

impl EngineKind {
    /// Whether nothing is read or written.
    pub(crate) const fn moves_nothing(self) -> bool {
        matches!(self, Self::Null | Self::Calls(_))
    }
}

/// The call made once per file of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCall {
    Create,
    Stat,
    Delete,
}

/// An engine, by fio's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioEngine {
    /// fio's name.
    pub name: &'static str,
    /// Its equivalent here.
    pub kind: EngineKind,
}

impl FioEngine {
    /// Its call per file instead of I/O, if any.
    pub const fn call(self) -> Option<FileCall> {
        match self.kind {
            EngineKind::Calls(call) => Some(call),
            EngineKind::Asynchronous | EngineKind::Synchronous | EngineKind::Null => None,
        }
    }
}

/// fio's default.
pub(crate) const PSYNC: FioEngine = FioEngine {
    name: "psync",
    kind: EngineKind::Synchronous,
};

const DONE: &[(&str, EngineKind)] = &[
    ("sync", EngineKind::Synchronous),
    ("psync", EngineKind::Synchronous),
    ("vsync", EngineKind::Synchronous),
    ("pvsync", EngineKind::Synchronous),
    ("pvsync2", EngineKind::Synchronous),
    ("mmap", EngineKind::Synchronous),
    ("libaio", EngineKind::Asynchronous),
    ("io_uring", EngineKind::Asynchronous),
    ("posixaio", EngineKind::Asynchronous),
    ("linuxaio", EngineKind::Asynchronous),
    ("null", EngineKind::Null),
    ("filecreate", EngineKind::Calls(FileCall::Create)),
    ("filestat", EngineKind::Calls(FileCall::Stat)),
    ("filedelete", EngineKind::Calls(FileCall::Delete)),
];

const REFUSED: &str = "
    solarisaio windowsaio rbd rados splice netsplice cpuio net sg rdma falloc ftruncate
    dircreate dirstat dirdelete exec e4defrag gfapi gfapi_async mtd io_uring_cmd nbd pmemblk
    dev-dax libpmem libhdfs http libiscsi nfs libcufile libhipfile dfs xnvme libblkio external
    spdk spdk_bdev guasi
";

/// The engine of that name.
///
/// # Errors
/// When it is not supported, or not known.
pub(crate) fn engine(text: &str) -> Result<FioEngine, String> {
    if let Some((name, kind)) = DONE.iter().find(|(name, _)| *name == text) {
        return Ok(FioEngine { name, kind: *kind });
    }
    let word = text.split(':').next().unwrap_or(text);
    let is_known = REFUSED.split_whitespace().any(|name| name == word);
    if is_known || word.contains('/') || word.contains("spdk") {
        return Err(format!(
            "the engine {text} is not supported: jobs run on files, directories and block devices \
             of this machine, with {}",
            names()
        ));
    }
    Err(format!("fio has no engine {text:?}. Here are {}", names()))
}

fn names() -> String {
    let names: Vec<&str> = DONE.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
