//! Encodes content into blocks.

use crate::block::{BlockHeader, BlockRole, HEADER_BYTES, StreamLayout, crc_in, fold};

/// Encodes a stream. The sink gets whole blocks, one at a time.
#[derive(Debug)]
pub struct Encoder {
    layout: StreamLayout,
    block: Vec<u8>,
    /// Used bytes of `block`'s payload.
    used: usize,
    redundancy: Vec<u8>,
    /// Exclusive or of lengths and CRCs of the group.
    lengths: u32,
    crcs: u32,
    /// Number of blocks in the group so far.
    members: u16,
    number: u64,
    data_blocks: u64,
    content_bytes: u64,
}

impl Encoder {
    /// Starts a stream: the sink gets its first block.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn new<E>(
        layout: StreamLayout,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let len = layout.block as usize;
        let mut this = Self {
            layout,
            block: vec![0; len],
            used: 0,
            redundancy: vec![0; if layout.group > 0 { len } else { 0 }],
            lengths: 0,
            crcs: 0,
            members: 0,
            number: 0,
            data_blocks: 0,
            content_bytes: 0,
        };
        this.push(&layout.describe());
        this.send(BlockRole::First, sink)?;
        Ok(this)
    }

    /// Adds content.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn put<E>(
        &mut self,
        mut content: &[u8],
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.content_bytes += content.len() as u64;
        while !content.is_empty() {
            let taken = self.push(content);
            content = &content[taken..];
            if self.used == self.layout.payload() {
                self.send_data(sink)?;
            }
        }
        Ok(())
    }

    /// Ends the content.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish<E>(mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.used > 0 {
            self.send_data(sink)?;
        }
        if self.members > 0 {
            self.send_redundancy(sink)?;
        }
        let mut totals = [0; 16];
        totals[..8].copy_from_slice(&self.data_blocks.to_le_bytes());
        totals[8..].copy_from_slice(&self.content_bytes.to_le_bytes());
        self.push(&totals);
        self.send(BlockRole::Last, sink)
    }

    /// Copies as much as fits into the block.
    fn push(&mut self, bytes: &[u8]) -> usize {
        let start = HEADER_BYTES + self.used;
        let taken = bytes.len().min(self.layout.block as usize - start);
        self.block[start..start + taken].copy_from_slice(&bytes[..taken]);
        self.used += taken;
        taken
    }

    fn send_data<E>(&mut self, sink: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let length = self.used as u32;
        self.data_blocks += 1;
        self.send(BlockRole::Data, sink)?;
        if self.layout.group == 0 {
            return Ok(());
        }
        fold(
            &mut self.redundancy[HEADER_BYTES..],
            &self.block[HEADER_BYTES..],
        );
        self.lengths ^= length;
        self.crcs ^= crc_in(&self.block);
        self.members += 1;
        if self.members == self.layout.group {
            self.send_redundancy(sink)?;
        }
        Ok(())
    }

    fn send_redundancy<E>(
        &mut self,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let header = BlockHeader {
            role: BlockRole::Redundancy,
            number: self.number,
            length: self.lengths,
            crcs: self.crcs,
        };
        self.layout.seal(&mut self.redundancy, header);
        sink(&self.redundancy)?;
        self.number += 1;
        self.redundancy.fill(0);
        (self.lengths, self.crcs, self.members) = (0, 0, 0);
        Ok(())
    }

    /// Sends the block, with the unused rest of its payload as zeroes.
    fn send<E>(
        &mut self,
        role: BlockRole,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.block[HEADER_BYTES + self.used..].fill(0);
        let header = BlockHeader {
            role,
            number: self.number,
            length: self.used as u32,
            crcs: 0,
        };
        self.layout.seal(&mut self.block, header);
        self.number += 1;
        self.used = 0;
        sink(&self.block)
    }
}
