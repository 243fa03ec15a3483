//! Histograms as they are kept in archives.

use stats::Histogram;

pub fn read(bytes: &[u8]) {
    if let Ok(histogram) = Histogram::from_bytes(bytes) {
        let written = histogram.to_bytes().expect("counts that were read");
        let again = Histogram::from_bytes(&written);
        assert_eq!(again.expect("what was written is read"), histogram);
    }
}
