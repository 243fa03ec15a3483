//! What killed runs left in a bucket.

use std::path::Path;

use jiff::Timestamp;

use super::client::S3Client;
use super::fault::S3Fault;
use super::prefix::{KEYS_BEGIN, MARKER, marker_text, plain_options, remove_prefix};
use crate::measure::Stop;
use crate::measure::place::Result;
use crate::measure::store::LeftPrefix;

/// A marker is no longer than this, bytes.
const MARKER_BYTES_MAX: u64 = 4096;
/// A run of another machine is over after this time, seconds.
const OVER_AFTER_S: i64 = 24 * 3600;
/// Hexadecimal digits of a prefix.
const DIGITS: usize = 32;

/// The prefixes of ours in a bucket.
pub struct BucketLeftovers {
    client: S3Client,
    pub found: Vec<LeftPrefix>,
}

impl BucketLeftovers {
    /// Look into the bucket that `named` means.
    ///
    /// # Errors
    /// When the bucket cannot be asked.
    pub fn look(named: &str, ca: Option<&Path>) -> Result<Self> {
        let client = S3Client::new(named, plain_options(ca), &Stop::never())?;
        let failed = |fault: S3Fault| client.failed(&fault);
        let mut names = Vec::new();
        let listed = client.list(KEYS_BEGIN, None, true, &mut |page| {
            names.extend(page.into_iter().map(|it| it.key));
            Ok(())
        });
        listed.map_err(failed)?;
        let mut found = Vec::new();
        for name in names.into_iter().filter(|name| is_of_ours(name)) {
            found.extend(look_at(&client, &name).map_err(failed)?);
        }
        Ok(Self { client, found })
    }

    /// Remove all beneath one of them.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn remove(&self, left: &LeftPrefix) -> Result<()> {
        let removed = remove_prefix(&self.client, &left.name);
        removed.map_err(|fault| self.client.failed(&fault))
    }
}

/// Whether a prefix has the form of ours.
fn is_of_ours(name: &str) -> bool {
    let digits = name.strip_prefix(KEYS_BEGIN);
    let digits = digits.and_then(|it| it.strip_suffix('/'));
    digits.is_some_and(|it| it.len() == DIGITS && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// What lies beneath it; nothing where no marker says that it is ours.
fn look_at(client: &S3Client, name: &str) -> Result<Option<LeftPrefix>, S3Fault> {
    let mut text = Vec::new();
    let got = client.get(
        &format!("{name}{MARKER}"),
        Some((0, MARKER_BYTES_MAX)),
        &mut |piece| {
            text.extend_from_slice(piece);
            Ok(())
        },
    );
    match got {
        Err(fault) if fault.is_missing() => return Ok(None),
        got => got?,
    };
    let Some((host, pid)) = read_marker(&String::from_utf8_lossy(&text), name) else {
        return Ok(None);
    };
    let mut left = LeftPrefix {
        name: name.to_owned(),
        used_by: None,
        host,
        pid,
        objects: 0,
        bytes: 0,
    };
    let mut begun = None;
    client.list(name, None, false, &mut |page| {
        left.objects += page.len() as u64;
        left.bytes += page.iter().map(|it| it.bytes).sum::<u64>();
        let marker = page.iter().find(|it| it.key.ends_with(MARKER));
        begun = begun.take().or_else(|| marker?.modified.clone());
        Ok(())
    })?;
    left.used_by = user_of(&left, begun.as_deref());
    Ok(Some(left))
}

/// Who may still use a prefix whose marker is of that time.
fn user_of(left: &LeftPrefix, begun: Option<&str>) -> Option<String> {
    let LeftPrefix {
        name, host, pid, ..
    } = left;
    let own = read_marker(&marker_text(name), name);
    if own.is_some_and(|(own, _)| own == *host) {
        let is_alive = Path::new("/proc").join(pid.to_string()).exists();
        return is_alive.then(|| format!("process {pid}"));
    }
    let begun: Option<Timestamp> = begun.and_then(|it| it.parse().ok());
    let age = begun.map(|it| Timestamp::now().as_second() - it.as_second());
    age.is_none_or(|age| age < OVER_AFTER_S)
        .then(|| format!("a run on {host} of less than a day ago"))
}

/// The machine and the process of a marker that stands where it says.
// not fuzzed: four lines of words
fn read_marker(text: &str, name: &str) -> Option<(String, u32)> {
    let mut lines = text.lines();
    let is_ours = lines.next()? == "seekstone 1" && lines.next()?.strip_prefix("prefix ")? == name;
    let host = lines.next()?.strip_prefix("host ")?.to_owned();
    let pid = lines.next()?.strip_prefix("process ")?.parse().ok()?;
    is_ours.then_some((host, pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_ours_by_its_form_and_a_marker_that_names_it() {
        let name = "seekstone-0123456789abcdef0123456789abcdef/";
        assert!(is_of_ours(name));
        for other in [
            "seekstone-data/",
            "seekstone-0123456789abcdef0123456789abcdeg/",
            "seekstone-0123456789abcdef0123456789abcdef",
        ] {
            assert!(!is_of_ours(other), "{other}");
        }
        let text = marker_text(name);
        let (_, pid) = read_marker(&text, name).expect("a marker");
        assert_eq!(pid, std::process::id());
        assert_eq!(read_marker(&text, "seekstone-00/"), None);
        assert_eq!(read_marker("seekstone 2", name), None);
    }
}
