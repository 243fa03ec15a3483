//! What stands on a device or in a file: marks of others, and the seal of ours. The bytes stand at
//! the beginning, at the end, or wherever their first ones say.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;

use drivers::{Proof, Seal, find_signatures};

const SIZE: u64 = 3 << 20;

static FILE: LazyLock<File> = LazyLock::new(|| {
    let path = super::super::kit::scratch("content").join("device");
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true);
    options.open(path).expect("room in memory")
});

pub fn read(bytes: &[u8]) {
    let Some((place, bytes)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let place = u64::from(u32::from_le_bytes(*place)) % SIZE;
    let len = (SIZE - place).min(bytes.len() as u64) as usize;
    FILE.set_len(0).expect("emptied");
    FILE.set_len(SIZE).expect("a length");
    FILE.write_all_at(&bytes[..len], place)
        .expect("room in memory");
    find_signatures(&FILE, SIZE).expect("it can be read");
    let seal: Seal = "5eed5eed5eed5eed".parse().expect("sixteen digits");
    let proof = seal.examine(&FILE).expect("it can be read");
    let has_seal = bytes
        .windows(8)
        .any(|it| it == 0x5eed_5eed_5eed_5eed_u64.to_le_bytes())
        || bytes.windows(16).any(|it| it == b"5eed5eed5eed5eed");
    assert!(proof != Proof::Sealed || has_seal, "sealed without a seal");
}
