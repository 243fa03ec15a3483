//! The seven standard workloads, as texts.

/// The names and texts of the built-in workloads in the order of the document, which numbers them
/// from 1.
pub const BUILT_IN_WORKLOADS: [(&str, &str); 7] = units::named_texts![
    "../../workloads/": "transaction" "multiuser" "database" "batch" "video" "archive" "scientific"
];

/// Name and text of the workload with that name or number.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let mut numbered = (1..).zip(BUILT_IN_WORKLOADS);
    let is_meant = |(number, (known, _)): &(u32, (&str, &str))| {
        known.eq_ignore_ascii_case(name) || number.to_string() == name
    };
    numbered.find(is_meant).map(|(_, found)| found)
}
