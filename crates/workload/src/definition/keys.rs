//! Keys of a definition, with their meanings and examples in one place.

/// A key of a definition.
pub(super) struct WorkloadKey {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    /// A value in TOML.
    pub(super) example: &'static str,
}

/// Declares keys, a line of `NAME = key("name", "meaning", "example");` each.
macro_rules! keys {
    ($($name:ident = $key:expr;)*) => {
        $(pub(super) const $name: WorkloadKey = $key;)*
    };
}
pub(super) use keys;

pub(super) const fn key(
    name: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> WorkloadKey {
    WorkloadKey {
        name,
        meaning,
        example,
    }
}

keys! {
    NAME = key("name", "what it is called", "\"orders\"");
    TITLE = key("title", "what reports show", "\"Order entry\"");
    GROUP = key("group",
        "\"transaction\" (threads are added) or \"batch\" (their number is fixed)",
        "\"transaction\"");
    THREADS_FIXED = key("threads-fixed",
        "a whole number up to 100000: the threads of a batch workload, or 0 when threads are added",
        "5");
    ACCESS = key("access", "\"contiguous\", \"interleaved\" or \"contentious\"", "\"contiguous\"");
    BLOCK = key("block", "the size of a block of the file", "\"64KiB\"");
    SHARES = key("shares", "a whole number from 1, the parts into which the file is divided", "50");
    THREADS = key("threads",
        "a table that begins with [[threads]]. A fixed number is written threads-fixed = 5", "");
    COUNT = key("count", "a whole number of threads", "3");
    IO = key("io", "the size of an I/O", "\"4KiB\"");
    PLACE = key("place",
        "\"packed\", or a distance from the beginning of the block such as \"4KiB\"", "\"packed\"");
    MIX = key("mix", "reads:writes, such as \"2:1\"", "\"2:1\"");
    SPACE = key("space",
        "\"sequential\", \"sequential:STEP\", \"uniform\", \"hyperbolic:ALPHA\", \
         \"exponential:MEAN\" or \"zipf:THETA\"", "\"hyperbolic:0.5\"");
    TIME = key("time",
        "\"constant\" (no waiting), \"uniform:RATE\", \"exponential:RATE\" or \"regular:RATE\", \
         with a rate such as 20/s", "\"exponential:20/s\"");
    IOS_PER_MESSAGE = key("ios-per-message",
        "a whole number of I/Os that are summed up at a time", "100");
    CONTENT = key("content", "a table that begins with [content]: what writes hold", "");
    FILL = key("fill",
        "\"noise\", \"drawn\" (new for each write), \"repeated\", \"zeroes\", or \"pattern:\" and \
         up to 1024 hexadecimal digits", "\"pattern:deadface\"");
    COMPRESSIBLE = key("compressible",
        "a whole number from 0 to 100: percent of each chunk that compresses", "50");
    CHUNK = key("chunk", "the size of the pieces that each compress by that share", "\"4KiB\"");
    DUPLICATES = key("duplicates",
        "a whole number from 0 to 100: percent of writes that repeat another", "20");
}

/// A part of a definition with its keys.
pub(super) struct WorkloadSection {
    pub(super) place: &'static str,
    /// Text to say that a key belongs here.
    pub(super) belongs: &'static str,
    pub(super) keys: &'static [WorkloadKey],
}

pub(super) const TOP: WorkloadSection = WorkloadSection {
    place: "a workload",
    belongs: "above the first [[threads]]",
    keys: &[
        NAME,
        TITLE,
        GROUP,
        THREADS_FIXED,
        ACCESS,
        BLOCK,
        SHARES,
        CONTENT,
        THREADS,
    ],
};

pub(super) const TYPE: WorkloadSection = WorkloadSection {
    place: "[[threads]]",
    belongs: "below [[threads]]",
    keys: &[NAME, COUNT, IO, PLACE, MIX, SPACE, TIME, IOS_PER_MESSAGE],
};

pub(super) const CONTENT_KEYS: WorkloadSection = WorkloadSection {
    place: "[content]",
    belongs: "below [content]",
    keys: &[FILL, COMPRESSIBLE, CHUNK, DUPLICATES],
};

impl WorkloadSection {
    pub(super) fn find(&self, name: &str) -> Option<&'static str> {
        let known = self.keys.iter().find(|key| key.name == name);
        known.map(|key| key.name)
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }
}
