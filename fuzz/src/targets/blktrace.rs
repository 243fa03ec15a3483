//! Files of blktrace, one or two: what is accepted keeps the promises of a record, and is summed up
//! and fitted.

pub fn read(bytes: &[u8]) {
    super::super::kit::trace(trace::Format::Blktrace, &[bytes.to_vec()]);
    let (one, other) = bytes.split_at(bytes.len() / 96 * 48);
    super::super::kit::trace(trace::Format::Blktrace, &[one.to_vec(), other.to_vec()]);
}
