//! Logs and reports of `rpt` that are imported.

use vintage::rpt::{RptLog, imported};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(log) = RptLog::read(text) else {
        return;
    };
    for one in imported(&log) {
        assert!(!one.name.is_empty());
        let _ = report::curve_table(&one.curve, &report::Style::default());
    }
}
