//! Finds the MPI library: one with the standard ABI, else a shim.

use std::path::{Path, PathBuf};

use fleet::Fleet as _;

use crate::abi::Abi;
use crate::launcher::Launched;
use crate::mpi_fleet::MpiFleet;
use crate::shim::{kept_in, open_kept};

/// Names of a library with the standard ABI.
const STANDARD: [&str; 2] = ["libmpi_abi.so.1", "libmpi_abi.so"];
/// The major version of the standard ABI whose calls are made.
const STANDARD_MAJOR: i32 = 1;

/// Why there is no fleet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// There is neither a library with the standard ABI nor a shim.
    #[error(
        "started by {by}, but there is no libmpi_abi.so and no shim in {}. Install MPICH 5 or \
         later. Or install your MPI's development package (libmpich-dev or libopenmpi-dev) and run \
         `seekstone fleet shim`",
        directory.display()
    )]
    NoLibrary {
        /// What started this process.
        by: String,
        /// Where shims are kept.
        directory: PathBuf,
    },
    /// A library or shim cannot be used.
    #[error("{}: the MPI library cannot be used ({reason})", path.display())]
    Broken {
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The MPI library was exchanged since the shim was built.
    #[error(
        "the MPI library is now `{now}`, and the shim was built for `{built}`: run `seekstone \
         fleet shim` again"
    )]
    OtherVersion {
        /// What the library says now.
        now: String,
        /// What it said.
        built: String,
    },
    /// Somebody else could have put other code there.
    #[error(
        "{} is not opened, since others can write it: remove it, and run `seekstone fleet shim` \
         again",
        path.display()
    )]
    Writable {
        /// The file or directory.
        path: PathBuf,
    },
    /// The shim cannot be kept.
    #[error("cannot {operation} {}: {reason}", path.display())]
    Cache {
        /// What was tried.
        operation: &'static str,
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The shim was not compiled.
    #[error(
        "{compiler}: the shim was not compiled ({reason}). Install the development package of your \
         MPI (on Debian libmpich-dev or libopenmpi-dev), or name its compiler with --mpicc"
    )]
    NoCompiler {
        /// The compiler's name.
        compiler: String,
        /// What it, or the system, says.
        reason: String,
    },
    /// The library did not start.
    #[error("{library}: MPI did not start ({reason})")]
    NotStarted {
        /// The library, as it names itself.
        library: String,
        /// What it says.
        reason: String,
    },
    /// The launcher started more than the library knows of.
    #[error(
        "{by} started {asked} ranks, but {library} sees {found}: the launcher is not that \
         library's, or has ended. Use its own mpirun, or build the shim with the launcher's mpicc \
         (`seekstone fleet shim --mpicc MPICC`)"
    )]
    Lonely {
        /// What started this process.
        by: String,
        /// How many ranks it started.
        asked: u32,
        /// The library, as it names itself.
        library: String,
        /// How many ranks it sees.
        found: u32,
    },
}

/// Start MPI as the launcher wants it, and check that all ranks are there. Shims are looked for in
/// `directory`.
///
/// # Errors
/// When there is no library, it does not start, or it does not see all ranks.
pub fn open(launched: &Launched, directory: &Path) -> Result<MpiFleet, MpiError> {
    let abi = find(launched, directory)?;
    let named = abi.version().unwrap_or_else(|_| "the MPI library".into());
    let not_started = |reason| MpiError::NotStarted {
        library: named.clone(),
        reason,
    };
    let mut fleet = MpiFleet::start(abi).map_err(not_started)?;
    let found = fleet.size();
    // A launcher that does not say how many it started has at least as many as that rank tells.
    let least = launched.rank.saturating_add(1);
    let asked = launched.ranks.or((least > found).then_some(least));
    let Some(asked) = asked.filter(|&asked| asked != found) else {
        return Ok(fleet);
    };
    // Launchers take a rank for dead that ends without parting.
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

/// `None` where there is no such library.
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
