//! Failed operations: their errors, and how long they took.

use serde::{Deserialize, Serialize};

/// Classes of errno values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The medium, the device or the path to it failed.
    Io,
    /// No space left, or quota exceeded.
    Space,
    /// A short transfer: fewer bytes moved than requested.
    Short,
    /// The operation timed out.
    Timeout,
    /// The data read differs from the data written, or fails its checksum.
    Verification,
    /// The device or the connection is gone.
    Gone,
    /// The operation is not allowed, or not supported.
    Refused,
    /// Out of memory or another resource.
    Resources,
    /// Anything else.
    #[default]
    Other,
}

/// Classes with their names and Linux errno values.
const CLASSES: [(ErrorClass, &str, &[i32]); 9] = [
    // EIO, EBADE, ENODATA, ENOLINK, EREMOTEIO
    (ErrorClass::Io, "I/O error", &[5, 52, 61, 67, 121]),
    // EFBIG, ENOSPC, EDQUOT
    (ErrorClass::Space, "no space", &[27, 28, 122]),
    (ErrorClass::Short, "short transfer", &[]),
    // ETIME, ETIMEDOUT
    (ErrorClass::Timeout, "timeout", &[62, 110]),
    // EBADMSG, EILSEQ, EUCLEAN
    (ErrorClass::Verification, "wrong data", &[74, 84, 117]),
    // ENXIO, ENODEV, ECONNRESET, ENOTCONN, ESHUTDOWN, ESTALE
    (
        ErrorClass::Gone,
        "device gone",
        &[6, 19, 104, 107, 108, 116],
    ),
    // EPERM, EACCES, EINVAL, EROFS, EOPNOTSUPP
    (ErrorClass::Refused, "refused", &[1, 13, 22, 30, 95]),
    // EAGAIN, ENOMEM, ENFILE, EMFILE, ENOBUFS
    (
        ErrorClass::Resources,
        "no resources",
        &[11, 12, 23, 24, 105],
    ),
    (ErrorClass::Other, "other error", &[]),
];

impl ErrorClass {
    /// The class of an errno value.
    pub fn of(errno: i32) -> Self {
        let found = CLASSES
            .iter()
            .find(|(_, _, numbers)| numbers.contains(&errno));
        found.map_or(Self::Other, |(class, ..)| *class)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        let found = CLASSES.iter().find(|(class, ..)| *class == self);
        found.map_or("other error", |(_, name, _)| name)
    }
}

/// Failed operations of one kind with one errno value. Their times are in no other figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// Kind of operation.
    pub kind: String,
    /// Class of the error.
    #[serde(default)]
    pub class: ErrorClass,
    /// errno value; 0 for a short transfer.
    pub errno: i32,
    /// Name of the error.
    pub name: String,
    pub count: u64,
    /// Mean time from due to completed, nanoseconds.
    #[serde(default, with = "stats::undefined")]
    pub response_mean_ns: f64,
    /// Longest time from due to completed, nanoseconds.
    #[serde(default)]
    pub response_max_ns: u64,
    /// Mean time from issued to completed, nanoseconds.
    #[serde(default, with = "stats::undefined")]
    pub service_mean_ns: f64,
    /// Longest time from issued to completed, nanoseconds.
    #[serde(default)]
    pub service_max_ns: u64,
}

impl ErrorCount {
    /// Whether both count the same error of the same kind of operation.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.kind, self.class, self.errno) == (&other.kind, other.class, other.errno)
    }

    /// Adds the operations of `other`.
    pub fn add(&mut self, other: &Self) {
        let whole = (self.count + other.count).max(1) as f64;
        let mean = |mine: f64, theirs: f64| {
            (mine * self.count as f64 + theirs * other.count as f64) / whole
        };
        self.response_mean_ns = mean(self.response_mean_ns, other.response_mean_ns);
        self.service_mean_ns = mean(self.service_mean_ns, other.service_mean_ns);
        self.response_max_ns = self.response_max_ns.max(other.response_max_ns);
        self.service_max_ns = self.service_max_ns.max(other.service_max_ns);
        self.count += other.count;
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, ErrorClass};

    #[test]
    fn an_error_number_has_one_class_and_a_class_one_entry() {
        for (at, (class, name, numbers)) in CLASSES.iter().enumerate() {
            assert_eq!(*class as usize, at, "{name}");
            assert_eq!(class.name(), *name);
            for number in *numbers {
                assert_eq!(ErrorClass::of(*number), *class, "{number}");
            }
        }
        assert_eq!(ErrorClass::of(9999), ErrorClass::Other);
    }
}
