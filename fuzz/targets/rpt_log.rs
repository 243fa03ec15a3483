//! Logs and reports of `rpt` that are imported.
#![no_main]

use vintage::rpt::{Log, imported};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(log) = Log::read(text) else {
        return;
    };
    for one in imported(&log) {
        assert!(!one.name.is_empty());
        let _ = report::curve_table(&one.curve, &report::Style::default());
    }
});
