//! The shim: a few lines of C that give an MPI library without the standard ABI its calls. It is
//! compiled on site by that library's own `mpicc`, and stored in the user's cache.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::abi::Abi;
use crate::library::MpiError;

/// Prefix of the shim's calls.
pub const PREFIX: &str = "seekstone_";
const SOURCE: &str = include_str!("shim.c");
/// Incremented when the source changes: shims with another number are not opened.
const SHIM_VERSION: u32 = 1;
/// Permissions that others must not have on what is opened as code.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A built shim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub path: PathBuf,
    /// Version text of its library.
    pub version: String,
}

/// Directory of shims: `$XDG_CACHE_HOME/seekstone`, or `.cache/seekstone` in the home directory.
/// `variable` looks up the environment.
pub fn cache_directory(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let named = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
    Some(cache.join("seekstone"))
}

/// Compiles the shim with `mpicc`, opens it, and stores it in `directory` under its library's name.
///
/// # Errors
/// If the compiler does not exist or fails, or the shim cannot be stored.
pub fn build(mpicc: &OsStr, directory: &Path) -> Result<Built, MpiError> {
    let in_context = |operation, path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| MpiError::Cache {
            operation,
            path,
            reason: error.to_string(),
        }
    };
    let mut maker = fs::DirBuilder::new();
    maker.recursive(true).mode(0o700);
    let made = maker.create(directory);
    made.map_err(in_context("make", directory))?;
    check_owner(directory)?;
    let source = directory.join(format!("mpi-shim-{}.c", std::process::id()));
    let object = source.with_extension("so");
    fs::write(&source, SOURCE).map_err(in_context("write", &source))?;
    let compiled = compile(mpicc, &source, &object);
    let removed = fs::remove_file(&source).map_err(in_context("remove", &source));
    let version = compiled.and_then(|()| version_of(&object));
    let kept = version.and_then(|version| {
        let path = directory.join(file_name(family(&version)));
        let note = path.with_extension("version");
        fs::write(&note, &version).map_err(in_context("write", &note))?;
        fs::rename(&object, &path).map_err(in_context("write", &path))?;
        Ok(Built { path, version })
    });
    if kept.is_err() {
        let _ = fs::remove_file(&object);
    }
    removed?;
    kept
}

fn compile(mpicc: &OsStr, source: &Path, object: &Path) -> Result<(), MpiError> {
    let compiler = mpicc.to_string_lossy().into_owned();
    let ran = Command::new(mpicc)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([object, source])
        .output();
    let output = match ran {
        Ok(output) => output,
        Err(error) => {
            let reason = error.to_string();
            return Err(MpiError::NoCompiler { compiler, reason });
        }
    };
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stderr);
    let reason = output
        .lines()
        .find(|line| line.contains("error"))
        .unwrap_or("no reason given");
    let reason = reason.trim().to_owned();
    Err(MpiError::NoCompiler { compiler, reason })
}

/// Version text of the library behind a shim.
fn version_of(path: &Path) -> Result<String, MpiError> {
    let open = |reason: String| MpiError::Broken {
        path: path.to_owned(),
        reason,
    };
    let abi = Abi::open(path, PREFIX).map_err(|error| open(error.to_string()))?;
    abi.version().map_err(open)
}

/// Name of a library without its version: everything before the first digit.
fn family(version: &str) -> &str {
    let end = version.find(|it: char| it.is_ascii_digit());
    let name = version[..end.unwrap_or(version.len())].trim_end_matches([' ', 'v']);
    name.split([':', ',', '(']).next().unwrap_or(name).trim()
}

fn file_name(family: &str) -> String {
    let plain = |it: char| {
        if it.is_ascii_alphanumeric() {
            it.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let family: String = family.chars().map(plain).collect();
    format!("mpi-shim-{SHIM_VERSION}-{family}.so")
}

/// The shims of a directory, those of `families` first, in that order.
pub fn kept_in(directory: &Path, families: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let begin = format!("mpi-shim-{SHIM_VERSION}-");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension() == Some(OsStr::new("so")))
        .filter(|path| name_of(path).starts_with(&begin))
        .collect();
    let position = |path: &PathBuf| {
        let names = families.iter().map(|family| file_name(family));
        let stems = names.map(|name| name.trim_end_matches(".so").to_owned());
        let mut stems = stems.enumerate();
        let fits = stems.find(|(_, stem)| name_of(path).starts_with(stem.as_str()));
        fits.map_or(usize::MAX, |(at, _)| at)
    };
    found.sort_by_key(|path| (position(path), path.clone()));
    found
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Opens a shim if its library is still the one it was built for.
pub fn open_kept(path: &Path) -> Result<Abi, MpiError> {
    check_owner(path)?;
    path.parent().map_or(Ok(()), check_owner)?;
    let broken = |reason: String| MpiError::Broken {
        path: path.to_owned(),
        reason,
    };
    let abi = Abi::open(path, PREFIX).map_err(|error| broken(error.to_string()))?;
    let now = abi.version().map_err(broken)?;
    let built = fs::read_to_string(path.with_extension("version")).unwrap_or_default();
    if now == built {
        return Ok(abi);
    }
    Err(MpiError::OtherVersion { now, built })
}

/// Files opened as code must belong to this user or root, and be writable by nobody else.
fn check_owner(path: &Path) -> Result<(), MpiError> {
    let owner = fs::metadata(path).map_err(|error| MpiError::Cache {
        operation: "look at",
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&owner.uid());
    if is_ours && owner.mode() & WRITABLE_BY_OTHERS == 0 {
        return Ok(());
    }
    Err(MpiError::Writable {
        path: path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn libraries_are_known_by_the_beginning_of_what_they_say() {
        let check = |version, expected| assert_eq!(family(version), expected, "{version}");
        check("MPICH Version:\t4.0.2", "MPICH Version");
        check("Open MPI v4.1.4, package: Debian", "Open MPI");
        check("Intel(R) MPI Library 2021.9", "Intel");
        check("none", "none");
        assert_eq!(file_name("Open MPI"), "mpi-shim-1-open-mpi.so");
    }

    #[test]
    fn the_launchers_library_comes_first_and_foreign_files_never() {
        let place = tempfile::tempdir().expect("a directory");
        let names = ["mpi-shim-1-mpich-version.so", "mpi-shim-1-open-mpi.so"];
        let others = [
            "mpi-shim-0-mpich.so",
            "mpi-shim-1-open-mpi.version",
            "notes.so",
        ];
        for name in names.iter().chain(&others) {
            fs::write(place.path().join(name), "").expect("a file");
        }
        let found = |families: &[&str]| -> Vec<String> {
            kept_in(place.path(), families)
                .iter()
                .map(|path| name_of(path))
                .collect()
        };
        assert_eq!(found(&["Open MPI"]), [names[1], names[0]]);
        assert_eq!(found(&["MPICH", "Intel"]), names);
        assert!(kept_in(Path::new("/nonexistent"), &[]).is_empty());
    }

    #[test]
    fn what_others_can_write_is_not_opened() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("mpi-shim-1-mpich.so");
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("permissions");
        let error = open_kept(&path)
            .map(drop)
            .expect_err("anybody can write it");
        assert!(error.to_string().contains("others can write it"), "{error}");
    }

    #[test]
    fn the_cache_is_where_the_user_keeps_caches() {
        let check = |environment: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                let found = environment.iter().find(|(it, _)| *it == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(
                cache_directory(variable).as_deref(),
                expected.map(Path::new)
            );
        };
        check(
            &[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")],
            Some("/c/seekstone"),
        );
        check(
            &[("XDG_CACHE_HOME", "c"), ("HOME", "/h")],
            Some("/h/.cache/seekstone"),
        );
        check(&[], None);
    }
}
