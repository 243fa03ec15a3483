//! A record of the data file: its number, the document's text, a mark of its writer, and a line
//! end.

pub const RECORD_BYTES: usize = 4096;
/// Records in 1048576 bytes.
pub const RECORDS_PER_MEGABYTE: u64 = 256;

/// Text after the number.
const NAME: &[u8] = b" Random disk test";
/// Filler.
const FILLER: &[u8] = b" - this is data";

/// Fills `block` with whole records starting with number `first`, counted from one; each ends with
/// `mark`.
pub fn fill_records(block: &mut [u8], first: u64, mark: &str) {
    for (number, record) in (first..).zip(block.chunks_exact_mut(RECORD_BYTES)) {
        let text = number.to_string();
        let known = text.bytes().chain(NAME.iter().copied());
        let content = known.chain(FILLER.iter().copied().cycle());
        for (to, byte) in record.iter_mut().zip(content) {
            *to = byte;
        }
        // The document's program reads lines of text.
        record[RECORD_BYTES - 1] = b'\n';
        let end = RECORD_BYTES - 1;
        let start = end.saturating_sub(mark.len());
        record[start..end].copy_from_slice(&mark.as_bytes()[..end - start]);
    }
}

/// Whether `bytes` are the record with that number.
pub fn is_record(bytes: &[u8], number: u64, mark: &str) -> bool {
    bytes.len() == RECORD_BYTES && is_beginning_of_record(bytes, number, mark)
}

/// Whether `bytes` are the start of that record, as a killed program leaves it.
pub fn is_beginning_of_record(bytes: &[u8], number: u64, mark: &str) -> bool {
    let mut record = [0; RECORD_BYTES];
    fill_records(&mut record, number, mark);
    record.starts_with(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = " [a mark]";

    fn record(number: u64) -> Vec<u8> {
        let mut bytes = vec![0; RECORD_BYTES];
        fill_records(&mut bytes, number, MARK);
        bytes
    }

    #[test]
    fn a_record_holds_what_the_document_says() {
        let bytes = record(17);
        let text = std::str::from_utf8(&bytes).expect("text");
        assert!(text.starts_with("17 Random disk test - this is data - this is data - "));
        assert_eq!(text.lines().count(), 1);
        assert!(text.ends_with(" [a mark]\n"));
        assert_eq!(RECORDS_PER_MEGABYTE * RECORD_BYTES as u64, 1 << 20);
    }

    #[test]
    fn records_follow_each_other_in_a_block() {
        let mut block = vec![0; 3 * RECORD_BYTES];
        fill_records(&mut block, 9, MARK);
        for (place, bytes) in block.chunks(RECORD_BYTES).enumerate() {
            assert!(is_record(bytes, 9 + place as u64, MARK), "{place}");
        }
    }

    #[test]
    fn other_contents_are_no_records() {
        assert!(is_record(&record(1), 1, MARK));
        assert!(!is_record(&record(1), 2, MARK), "another number");
        assert!(!is_record(&record(1), 1, " [A mark]"), "of somebody else");
        assert!(!is_record(&record(1)[..4095], 1, MARK), "too short");
        assert!(!is_record(&[0; RECORD_BYTES], 1, MARK), "zeros");
        for place in [0, 2, 100, RECORD_BYTES - 1] {
            let mut bytes = record(1);
            bytes[place] ^= 1;
            assert!(!is_record(&bytes, 1, MARK), "byte {place}");
        }
        assert!(is_beginning_of_record(&record(5)[..70], 5, MARK));
        assert!(!is_beginning_of_record(&record(5)[..70], 6, MARK));
        assert!(!is_beginning_of_record(&[0; RECORD_BYTES + 1], 1, MARK));
    }
}
