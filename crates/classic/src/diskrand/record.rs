//! A record of the data file: its number, the document's text, and a line end.

/// Bytes of a record.
pub const RECORD_BYTES: usize = 4096;
/// Records in 1048576 bytes.
pub const RECORDS_PER_MEGABYTE: u64 = 256;

/// What follows the number.
const NAME: &[u8] = b" Random disk test";
/// What fills the rest.
const FILLER: &[u8] = b" - this is data";

/// Fill `block` with whole records, the first of which has the number `first`, counted from one.
pub fn fill_records(block: &mut [u8], first: u64) {
    for (number, record) in (first..).zip(block.chunks_exact_mut(RECORD_BYTES)) {
        let text = number.to_string();
        let known = text.bytes().chain(NAME.iter().copied());
        let content = known.chain(FILLER.iter().copied().cycle());
        for (to, byte) in record.iter_mut().zip(content) {
            *to = byte;
        }
        // The document's program reads lines of text.
        record[RECORD_BYTES - 1] = b'\n';
    }
}

/// Whether `bytes` are the record of that number.
#[must_use]
pub fn is_record(bytes: &[u8], number: u64) -> bool {
    bytes.len() == RECORD_BYTES && is_beginning_of_record(bytes, number)
}

/// Whether `bytes` begin the record of that number: what a program that was killed left.
#[must_use]
pub fn is_beginning_of_record(bytes: &[u8], number: u64) -> bool {
    let mut record = [0; RECORD_BYTES];
    fill_records(&mut record, number);
    record.starts_with(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(number: u64) -> Vec<u8> {
        let mut bytes = vec![0; RECORD_BYTES];
        fill_records(&mut bytes, number);
        bytes
    }

    #[test]
    fn a_record_holds_what_the_document_says() {
        let bytes = record(17);
        let text = std::str::from_utf8(&bytes).expect("text");
        assert!(text.starts_with("17 Random disk test - this is data - this is data - "));
        assert_eq!(text.lines().count(), 1);
        assert!(text.ends_with('\n'));
        assert_eq!(RECORDS_PER_MEGABYTE * RECORD_BYTES as u64, 1 << 20);
    }

    #[test]
    fn records_follow_each_other_in_a_block() {
        let mut block = vec![0; 3 * RECORD_BYTES];
        fill_records(&mut block, 9);
        for (place, bytes) in block.chunks(RECORD_BYTES).enumerate() {
            assert!(is_record(bytes, 9 + place as u64), "{place}");
        }
    }

    #[test]
    fn other_contents_are_no_records() {
        assert!(is_record(&record(1), 1));
        assert!(!is_record(&record(1), 2), "another number");
        assert!(!is_record(&record(1)[..4095], 1), "too short");
        assert!(!is_record(&[0; RECORD_BYTES], 1), "zeros");
        for place in [0, 2, 100, RECORD_BYTES - 1] {
            let mut bytes = record(1);
            bytes[place] ^= 1;
            assert!(!is_record(&bytes, 1), "byte {place}");
        }
        assert!(is_beginning_of_record(&record(5)[..70], 5));
        assert!(!is_beginning_of_record(&record(5)[..70], 6));
        assert!(!is_beginning_of_record(&[0; RECORD_BYTES + 1], 1));
    }
}
