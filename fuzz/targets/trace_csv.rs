//! Traces as CSV, in each format: what is accepted keeps the promises of a record, and is summed up
//! and fitted.
#![no_main]

use trace::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = trace::recognise(bytes);
    let formats = [Format::Msr, Format::Alibaba, Format::Tencent, Format::Spc, Format::Vscsi];
    for format in formats {
        fuzz::trace(format, vec![bytes.to_vec()]);
    }
});
