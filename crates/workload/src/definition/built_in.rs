//! The seven standard workloads, as texts.

/// The names of the built-in workloads in the order of the document, which numbers them from 1.
pub const BUILT_IN_WORKLOADS: [&str; 7] = [
    "transaction",
    "multiuser",
    "database",
    "batch",
    "video",
    "archive",
    "scientific",
];

const TEXTS: [&str; 7] = [
    include_str!("../../workloads/transaction.toml"),
    include_str!("../../workloads/multiuser.toml"),
    include_str!("../../workloads/database.toml"),
    include_str!("../../workloads/batch.toml"),
    include_str!("../../workloads/video.toml"),
    include_str!("../../workloads/archive.toml"),
    include_str!("../../workloads/scientific.toml"),
];

/// Name and text of the workload of that name or number.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let is_meant = |(number, known): (usize, &&str)| {
        known.eq_ignore_ascii_case(name) || (number + 1).to_string() == name
    };
    let index = BUILT_IN_WORKLOADS.iter().enumerate().position(is_meant)?;
    Some((BUILT_IN_WORKLOADS[index], TEXTS[index]))
}
