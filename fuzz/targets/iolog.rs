//! fio's I/O logs: what is accepted keeps the promises of a record, and is summed up and fitted.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::trace(trace::Format::Iolog, vec![bytes.to_vec()]);
});
