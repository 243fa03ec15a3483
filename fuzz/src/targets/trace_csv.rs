//! Traces as CSV, in each format: what is accepted keeps the promises of a record, and is summed up
//! and fitted.

use trace::Format;

pub fn read(bytes: &[u8]) {
    let _ = trace::recognise(bytes);
    let formats = [
        Format::Msr,
        Format::Alibaba,
        Format::Tencent,
        Format::Spc,
        Format::Vscsi,
    ];
    for format in formats {
        super::super::kit::trace(format, &[bytes.to_vec()]);
    }
}
