//! Stripes of files on Lustre, which its own tool sets on a directory: files that are made in it
//! have them.

use std::path::Path;
use std::process::{Command, Stdio};

use lab::bench::BenchError;
use units::Bytes;

/// Lustre's tool.
const TOOL: &str = "lfs";

/// How files are striped over storage targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LustreStripes {
    /// Storage targets of a file; -1 for all.
    pub count: Option<i32>,
    /// Bytes of each stripe.
    pub bytes: Option<Bytes>,
}

impl LustreStripes {
    fn arguments(&self) -> Vec<String> {
        let count = self.count.map(|it| ["-c".to_owned(), it.to_string()]);
        let bytes = self.bytes.map(|it| ["-S".to_owned(), it.0.to_string()]);
        let given = count.into_iter().chain(bytes).flatten();
        ["setstripe".to_owned()].into_iter().chain(given).collect()
    }

    /// Files made in `directory` from now on have these stripes.
    ///
    /// # Errors
    /// When the tool is not there, or refuses.
    pub(super) fn set(&self, directory: &Path) -> Result<(), BenchError> {
        let arguments = self.arguments();
        let failed = |why: &str| {
            BenchError::Usage(format!(
                "{TOOL} {} {}: {why}. Stripes can be set on Lustre only. Leave --stripe-count and \
                 --stripe-size out",
                arguments.join(" "),
                directory.display()
            ))
        };
        let mut tool = Command::new(TOOL);
        tool.args(&arguments).arg(directory).stdin(Stdio::null());
        let done = tool.output().map_err(|error| failed(&error.to_string()))?;
        match done.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&done.stderr).trim())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_set() {
        let stripes = LustreStripes {
            count: Some(-1),
            bytes: Some(Bytes(1 << 20)),
        };
        assert_eq!(
            stripes.arguments(),
            ["setstripe", "-c", "-1", "-S", "1048576"]
        );
        let count = LustreStripes {
            bytes: None,
            ..stripes
        };
        assert_eq!(count.arguments(), ["setstripe", "-c", "-1"]);
    }
}
