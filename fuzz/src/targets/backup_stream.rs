//! Streams of backups: damaged blocks, and content that is no sequence of entries.

use backup_stream::{Decoder, EntryFault, Unpacker};

/// A stream that asks for more at once than a stream of its length has is none.
fn decode(stream: &[u8]) {
    let Ok(mut decoder) = Decoder::new(stream, stream.len() as u64) else {
        return;
    };
    let (mut at, mut unpacker) = (0, Unpacker::default());
    while decoder.wanted() > 0 {
        let end = at + decoder.wanted();
        let mut blocks = stream[at..end].to_vec();
        let mut sink = |content: &[u8]| unpacker.take::<EntryFault>(content, &mut |_| Ok(()));
        if decoder.take(&mut blocks, &mut sink).is_err() {
            return;
        }
        at = end;
    }
    assert!(decoder.damages().len() as u64 <= decoder.damages_seen());
    let _ = decoder.is_whole();
}

pub fn read(bytes: &[u8]) {
    decode(bytes);
    let mut unpacker = Unpacker::default();
    for piece in bytes.chunks(7) {
        if unpacker.take::<EntryFault>(piece, &mut |_| Ok(())).is_err() {
            return;
        }
    }
}
