//! fio's I/O logs: what is accepted keeps the promises of a record, and is summed up and fitted.

pub fn read(bytes: &[u8]) {
    super::super::kit::trace(trace::Format::Iolog, &[bytes.to_vec()]);
}
