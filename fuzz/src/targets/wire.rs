//! What ranks of a fleet send each other: letters, and what is in them.

use fleet::Letter;

pub fn read(bytes: &[u8]) {
    if let Some(letter) = Letter::from_bytes(bytes) {
        assert_eq!(letter.to_bytes(), bytes);
    }
    lab::readers::wire(bytes);
}
