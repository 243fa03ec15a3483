//! Run, log and report file of a test, written line by line. Results of earlier tests are never
//! lost: a file with the same name gets a number appended.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::run::ClassicError;

/// Maximum number appended to a name.
const NUMBER_MAX: u32 = 9999;

/// The three files, or none of them.
#[derive(Debug, Default)]
pub struct OutputFiles {
    run: Option<(PathBuf, File)>,
    log: Option<(PathBuf, File)>,
    report: Option<(PathBuf, File)>,
    kept: Vec<String>,
}

impl OutputFiles {
    /// No files: the caller gets the entries from the operator.
    pub fn nowhere() -> Self {
        Self::default()
    }

    /// Make the files, named in the order run, log, report.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn create(names: [&str; 3]) -> Result<Self, ClassicError> {
        let mut kept = Vec::new();
        for name in names {
            kept.extend(keep(Path::new(name))?);
        }
        let create = |name| {
            let file = OpenOptions::new().write(true).create_new(true).open(name);
            let file = file.map_err(ClassicError::file("create", name))?;
            Ok::<_, ClassicError>(Some((PathBuf::from(name), file)))
        };
        let [run, log, report] = names;
        Ok(Self {
            run: create(run)?,
            log: create(log)?,
            report: create(report)?,
            kept,
        })
    }

    /// New names of earlier tests' files.
    pub fn kept(&self) -> &[String] {
        &self.kept
    }

    /// Write a line into the run file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn run(&mut self, text: &str) -> Result<(), ClassicError> {
        put(&mut self.run, text)
    }

    /// Write a line into the log file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn log(&mut self, text: &str) -> Result<(), ClassicError> {
        put(&mut self.log, text)
    }

    /// Write a line into the report file.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn report(&mut self, text: &str) -> Result<(), ClassicError> {
        put(&mut self.report, text)
    }
}

/// One call per line, so that no line is cut however the program ends.
fn put(file: &mut Option<(PathBuf, File)>, text: &str) -> Result<(), ClassicError> {
    let Some((path, file)) = file else {
        return Ok(());
    };
    file.write_all(format!("{text}\n").as_bytes())
        .map_err(ClassicError::file("write", path.as_path()))
}

/// Renames an existing file.
fn keep(path: &Path) -> Result<Option<String>, ClassicError> {
    let metadata = match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(ClassicError::file("examine", path))?,
    };
    if !metadata.is_file() {
        return Err(ClassicError::Usage(format!(
            "{} exists and is not a regular file. Choose another ReptFile",
            path.display()
        )));
    }
    for number in 1..=NUMBER_MAX {
        let name = format!("{}.{number}", path.display());
        match rustix::fs::renameat_with(
            rustix::fs::CWD,
            path,
            rustix::fs::CWD,
            &name,
            rustix::fs::RenameFlags::NOREPLACE,
        ) {
            Ok(()) => return Ok(Some(name)),
            Err(rustix::io::Errno::EXIST) => {}
            // Not every file system can rename without replacing.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
                if Path::new(&name).symlink_metadata().is_err() {
                    std::fs::rename(path, &name).map_err(ClassicError::file("rename", path))?;
                    return Ok(Some(name));
                }
            }
            Err(error) => return Err(ClassicError::file("rename", path)(error.into())),
        }
    }
    Err(ClassicError::Usage(format!(
        "{} has {NUMBER_MAX} predecessors: move some of them away",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_results_are_kept_under_numbers() {
        let directory = tempfile::tempdir().expect("a directory");
        let names = ["x.rpe", "x.rpl", "x.rpr"].map(|name| directory.path().join(name));
        let names = [0, 1, 2].map(|place: usize| names[place].to_str().expect("a plain name"));
        for round in ["first", "second", "third"] {
            let mut files = OutputFiles::create(names).expect("files");
            files.log(round).expect("a line");
        }
        let read =
            |name: &str| std::fs::read_to_string(directory.path().join(name)).expect("a file");
        assert_eq!(read("x.rpl.1"), "first\n");
        assert_eq!(read("x.rpl.2"), "second\n");
        assert_eq!(read("x.rpl"), "third\n");
    }
}
