//! The default path of the archive.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `$SEEKSTONE_ARCHIVE`, else `$XDG_DATA_HOME/seekstone/archive.db`, else
/// `$HOME/.local/share/seekstone/archive.db`; `None` if none of these is set. A home directory that
/// does not exist, such as that of a service account, is ignored and not created.
pub fn default_path() -> Option<PathBuf> {
    path_from(|name| env::var_os(name), Path::is_dir)
}

fn path_from(
    variable: impl Fn(&str) -> Option<OsString>,
    is_directory: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let set = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("SEEKSTONE_ARCHIVE").or_else(|| {
        // The XDG specification says that relative paths are to be ignored.
        let data = set("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| {
                let home = set("HOME").filter(|home| is_directory(home))?;
                Some(home.join(".local/share"))
            })?;
        Some(data.join("seekstone/archive.db"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let path = path_from(value, |path| path != Path::new("/nonexistent"));
        assert_eq!(path, expected.map(PathBuf::from), "{variables:?}");
    }

    #[test]
    fn the_first_variable_that_says_something_wins() {
        let (own, data, home) = (
            ("SEEKSTONE_ARCHIVE", "a.db"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/home/u"),
        );
        check(&[own, data, home], Some("a.db"));
        check(&[data, home], Some("/data/seekstone/archive.db"));
        check(&[home], Some("/home/u/.local/share/seekstone/archive.db"));
        check(
            &[("SEEKSTONE_ARCHIVE", ""), data],
            Some("/data/seekstone/archive.db"),
        );
        check(
            &[("XDG_DATA_HOME", "not/absolute"), home],
            Some("/home/u/.local/share/seekstone/archive.db"),
        );
        check(&[("HOME", "/nonexistent")], None);
        check(&[], None);
    }
}
