//! The memory of a program that uses files.

use crate::buffers::PAGE_BYTES;
use crate::file_content::FileContent;

/// The longest read or write of most scripts: memory grows where one has longer ones.
const MEMORY_BYTES: usize = 64 << 10;

/// What the program holds of the file that it read last.
#[derive(Debug)]
pub(super) struct FileReadBuffer {
    buffer: Vec<u8>,
    pub(super) content: Option<FileContent>,
}

impl FileReadBuffer {
    pub(super) fn new() -> Self {
        Self {
            buffer: vec![0; MEMORY_BYTES + PAGE_BYTES],
            content: None,
        }
    }

    /// Memory for a call that moves so many bytes. It begins with a page, as that of IOR does:
    /// kernels copy to other places at a third of the speed on some processors.
    pub(super) fn part(&mut self, bytes: usize) -> &mut [u8] {
        if self.buffer.len() < bytes + PAGE_BYTES {
            self.buffer = vec![0; bytes + PAGE_BYTES];
        }
        let start = self.buffer.as_ptr().align_offset(PAGE_BYTES);
        &mut self.buffer[start..start + bytes]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_length_begins_with_a_page() {
        let mut memory = FileReadBuffer::new();
        for bytes in [512, MEMORY_BYTES, MEMORY_BYTES + 1, 2 << 20, 3901] {
            let part = memory.part(bytes);
            assert_eq!(part.len(), bytes);
            assert_eq!(part.as_ptr() as usize % PAGE_BYTES, 0, "{bytes}");
        }
    }
}
