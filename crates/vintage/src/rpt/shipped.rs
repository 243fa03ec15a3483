//! The files shipped with `rpt`: the standard test, the quick test, and their parameters.

/// Names and texts of the files.
pub const FILES: [(&str, &str); 4] = [
    ("rpt.rpt", include_str!("shipped/rpt.rpt")),
    ("rptq.rpt", include_str!("shipped/rptq.rpt")),
    ("rpt.rpp", include_str!("shipped/rpt.rpp")),
    ("rpt.rpc", include_str!("shipped/rpt.rpc")),
];

/// The text of a shipped file.
pub fn text_of(name: &str) -> Option<&'static str> {
    FILES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
