//! Finds the MPI library: one with the standard ABI, or else a shim.

use std::path::{Path, PathBuf};

use fleet::Fleet as _;

use crate::abi::Abi;
use crate::launcher::Launched;
use crate::mpi_fleet::MpiFleet;
use crate::shim::{kept_in, open_kept};

/// Names of a library with the standard ABI.
const STANDARD: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];
/// Major version of the standard ABI that is used.
const STANDARD_MAJOR: i32 = 1;

/// Why there is no fleet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// There is no library with the standard ABI, and no shim.
    #[error(
        "started by {by}, but there is no libmpi_abi.so and no shim in {}. Install MPICH 5 or \
         later. Or install your MPI's development package (libmpich-dev or libopenmpi-dev) and run \
         `seekstone fleet shim`",
        directory.display()
    )]
    NoLibrary {
        /// The launcher.
        by: String,
        /// Directory of the shims.
        directory: PathBuf,
    },
    /// A library or shim cannot be used.
    #[error("{}: the MPI library cannot be used ({reason})", path.display())]
    Broken {
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The MPI library has been replaced since the shim was built.
    #[error(
        "the MPI library is now `{now}`, and the shim was built for `{built}`: run `seekstone \
         fleet shim` again"
    )]
    OtherVersion {
        /// Its current version text.
        now: String,
        /// Its version text at that time.
        built: String,
    },
    /// Other users could have modified it.
    #[error(
        "{} is not opened, since others can write it: remove it, and run `seekstone fleet shim` \
         again",
        path.display()
    )]
    Writable {
        /// The file or directory.
        path: PathBuf,
    },
    /// The shim cannot be stored.
    #[error("cannot {operation} {}: {reason}", path.display())]
    Cache {
        /// The failed action.
        operation: &'static str,
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The shim could not be compiled.
    #[error(
        "{compiler}: the shim was not compiled ({reason}). Install the development package of your \
         MPI (on Debian libmpich-dev or libopenmpi-dev), or name its compiler with --mpicc"
    )]
    NoCompiler {
        /// The compiler's name.
        compiler: String,
        /// The error.
        reason: String,
    },
    /// The library did not start.
    #[error("{library}: MPI did not start ({reason})")]
    NotStarted {
        /// Name of the library.
        library: String,
        /// Its error.
        reason: String,
    },
    /// The launcher started more ranks than the library sees.
    #[error(
        "{by} started {asked} ranks, but {library} sees {found}: the launcher is not that \
         library's, or has ended. Use its own mpirun, or build the shim with the launcher's mpicc \
         (`seekstone fleet shim --mpicc MPICC`)"
    )]
    Lonely {
        /// The launcher.
        by: String,
        /// Number of ranks it started.
        asked: u32,
        /// Name of the library.
        library: String,
        /// Number of ranks that it sees.
        found: u32,
    },
}

/// Starts MPI for the launcher, and checks that all ranks are there. Shims are searched in
/// `directory`.
///
/// # Errors
/// If there is no library, it does not start, or it does not see all ranks.
pub fn open(launched: &Launched, directory: &Path) -> Result<MpiFleet, MpiError> {
    let abi = find(launched, directory)?;
    let named = abi.version().unwrap_or_else(|_| "the MPI library".into());
    let not_started = |reason| MpiError::NotStarted {
        library: named.clone(),
        reason,
    };
    let mut fleet = MpiFleet::start(abi).map_err(not_started)?;
    let found = fleet.size();
    // Without a number from the launcher, the own rank gives a lower bound.
    let least = launched.rank.saturating_add(1);
    let asked = launched.ranks.or((least > found).then_some(least));
    let Some(asked) = asked.filter(|&asked| asked != found) else {
        return Ok(fleet);
    };
    // Launchers treat a rank that ends without finalising as dead.
    let _ = fleet.leave();
    Err(MpiError::Lonely {
        by: launched.by.into(),
        asked,
        library: named,
        found,
    })
}

fn find(launched: &Launched, directory: &Path) -> Result<Abi, MpiError> {
    if let Some(standard) = STANDARD
        .iter()
        .find_map(|name| open_standard(Path::new(name)))
    {
        return standard;
    }
    match kept_in(directory, launched.families).first() {
        Some(path) => open_kept(path),
        None => Err(MpiError::NoLibrary {
            by: launched.by.into(),
            directory: directory.to_owned(),
        }),
    }
}

/// `None` if there is no such library.
fn open_standard(name: &Path) -> Option<Result<Abi, MpiError>> {
    let abi = Abi::open(name, "MPI_").ok()?;
    Some(match abi.standard() {
        Some((STANDARD_MAJOR, _)) => Ok(abi),
        other => Err(MpiError::Broken {
            path: name.to_owned(),
            reason: match other {
                Some((major, minor)) => format!("its ABI is {major}.{minor}, not {STANDARD_MAJOR}"),
                None => "it does not report its ABI version".into(),
            },
        }),
    })
}
