//! Our own recordings: what is accepted keeps the promises of a record, and is summed up and fitted.

pub fn read(bytes: &[u8]) {
    super::super::kit::trace(trace::Format::Recording, &[bytes.to_vec()]);
}
