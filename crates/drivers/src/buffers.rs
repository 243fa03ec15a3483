//! Page-aligned memory for transfers, filled once with bytes that do not compress.
//!
//! One mapping holds the memory of all requests of a driver, so that io_uring can register it
//! whole. Each request slot owns a stripe of it. Reads always land at the start of the stripe (it
//! stays in the processor's cache); writes walk along the stripe, because a storage that compresses
//! or deduplicates in windows of 64 or 128 KiB would see through a single buffer that is sent again
//! and again.
//!
//! Where a transfer spans pages the memory lies in huge ones, if the system has them. In pages of
//! 4 KiB, 1 MiB are up to 256 pieces for a device that may take fewer at once, and what is measured
//! then is our memory.

use std::ptr::{self, NonNull};
use std::sync::Arc;

use engine::OwnWork;

use crate::huge_pages::{HUGE_PAGE_BYTES, huge_bytes};

/// Alignment of every buffer: no page, sector or DMA rule in use asks for more.
pub const PAGE_BYTES: usize = 4096;
/// Memory that the stripes of all drivers of a trial have together at least, for variety of what is
/// written.
pub const VARIETY_BYTES: usize = 4 << 20;
/// What one stripe has at most for variety alone.
const STRIPE_VARIETY_BYTES: usize = 1 << 20;

/// The pages that memory for transfers lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferPages {
    /// Huge ones for transfers of several pages, as far as the system has them.
    #[default]
    Huge,
    /// Those of the processor alone, as another program's memory does that asks for nothing.
    Small,
}

/// Why memory for transfers could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The system refused the memory.
    #[error("no memory for {count} buffers of {len} bytes: lower the depth or the block size")]
    NoMemory {
        /// How many buffers were wanted.
        count: usize,
        /// The length of each.
        len: usize,
    },
}

impl From<BufferError> for std::io::Error {
    fn from(error: BufferError) -> Self {
        Self::other(error)
    }
}

/// A piece of page-aligned memory of its own.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the buffer owns its mapping; nothing about it is tied to the thread that made it.
unsafe impl Send for AlignedBuffer {}
// SAFETY: a shared buffer only gives out shared slices and a raw pointer, whose use is the
// caller's.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Zeroed memory of `len` bytes (at least one), aligned to [`PAGE_BYTES`].
    ///
    /// # Errors
    /// When the system has no memory for it.
    pub fn zeroed(len: usize) -> Result<Self, BufferError> {
        Self::mapped(len, PAGE_BYTES)
    }

    /// The same, aligned to huge pages and rounded up to them. Whether the system puts it there is
    /// its own decision; see [`AlignedBuffer::huge_bytes`].
    ///
    /// # Errors
    /// When the system has no memory for it.
    pub fn huge(len: usize) -> Result<Self, BufferError> {
        let this = Self::mapped(len, HUGE_PAGE_BYTES)?;
        this.advise(libc::MADV_HUGEPAGE);
        Ok(this)
    }

    /// Memory as of [`AlignedBuffer::zeroed`] that lies in no huge page, also where the system
    /// gives them to who does not ask.
    ///
    /// # Errors
    /// When the system has no memory for it.
    pub fn in_small_pages(len: usize) -> Result<Self, BufferError> {
        let this = Self::mapped(len, PAGE_BYTES)?;
        this.advise(libc::MADV_NOHUGEPAGE);
        Ok(this)
    }

    /// Say which pages are wanted; a system that refuses goes by its own settings.
    fn advise(&self, advice: libc::c_int) {
        // SAFETY: the range is the mapping of `self`, and the advice changes no content.
        unsafe {
            libc::madvise(self.start.as_ptr().cast(), self.len, advice);
        }
    }

    /// Memory of `len` bytes that begins and ends at multiples of `unit`, a power of two.
    fn mapped(len: usize, unit: usize) -> Result<Self, BufferError> {
        let refused = BufferError::NoMemory { count: 1, len };
        let whole = len.max(1).checked_next_multiple_of(unit);
        let whole = whole.ok_or(refused.clone())?;
        let spare = unit - PAGE_BYTES;
        let asked = whole.checked_add(spare).ok_or(refused.clone())?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no
        // existing memory.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                asked,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(refused);
        }
        let before = mapped.align_offset(unit);
        // SAFETY: both pieces lie in the mapping just made, outside of what is kept.
        let start = unsafe {
            let start = mapped.cast::<u8>().add(before);
            for (piece, len) in [
                (mapped.cast::<u8>(), before),
                (start.add(whole), spare - before),
            ] {
                if len > 0 {
                    libc::munmap(piece.cast(), len);
                }
            }
            start
        };
        let start = NonNull::new(start).ok_or(refused)?;
        Ok(Self { start, len: whole })
    }

    /// How many of its bytes lie in huge pages; `None` where the kernel does not tell.
    pub fn huge_bytes(&self) -> Option<u64> {
        huge_bytes(self.start.as_ptr() as usize, self.len)
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes long, initialised by the kernel, and lives as long as
        // `self`; a driver never hands it to the kernel while such a slice exists.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The bytes, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes this the only slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Length in bytes: what was asked for, rounded up to whole pages of its kind.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true: a buffer has at least one page.
    pub fn is_empty(&self) -> bool {
        false
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: `start` and `len` are what is left of the mapping made in `mapped`, unmapped here
        // alone.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.len);
        }
    }
}

/// The memory of all request slots of one driver.
#[derive(Debug)]
pub struct BufferPool {
    memory: Arc<AlignedBuffer>,
    /// Where its first stripe starts.
    first: usize,
    count: usize,
    len: usize,
    stripe: usize,
    /// Where in its stripe each slot's next write starts.
    cursors: Vec<usize>,
}

impl BufferPool {
    /// `count` buffers of `len` bytes in pages of that kind, `variety` bytes together at least,
    /// filled with bytes that do not compress.
    ///
    /// # Errors
    /// When the system has no memory for them.
    pub fn in_pages(
        pages: BufferPages,
        count: usize,
        len: usize,
        variety: usize,
        seed: u64,
    ) -> Result<Self, BufferError> {
        let refused = BufferError::NoMemory { count, len };
        let count = count.max(1);
        let variety = (variety / count).min(STRIPE_VARIETY_BYTES);
        let stripe = len.max(1).max(variety).checked_next_multiple_of(PAGE_BYTES);
        let stripe = stripe.ok_or(refused.clone())?;
        let total = stripe.checked_mul(count).ok_or(refused.clone())?;
        let memory = match pages {
            BufferPages::Small => AlignedBuffer::in_small_pages(total),
            BufferPages::Huge if len > PAGE_BYTES => AlignedBuffer::huge(total),
            BufferPages::Huge => AlignedBuffer::zeroed(total),
        };
        let mut memory = memory.map_err(|_| refused)?;
        fill_incompressible(memory.as_mut_slice(), seed);
        Ok(Self {
            memory: Arc::new(memory),
            first: 0,
            count,
            len,
            stripe,
            cursors: vec![0; count],
        })
    }

    /// A pool for each of its buffers; they share the memory.
    pub(crate) fn apart(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| Self {
            memory: Arc::clone(&self.memory),
            first: self.first + index * self.stripe,
            count: 1,
            len: self.len,
            stripe: self.stripe,
            cursors: vec![0],
        })
    }

    /// The longest transfer that a buffer can take.
    pub fn buffer_len(&self) -> usize {
        self.len
    }

    /// The memory in pieces of whole stripes, each of `most` bytes at most where a stripe is not
    /// longer; and how many stripes a piece holds.
    pub(crate) fn pieces(&self, most: usize) -> (Vec<&[u8]>, usize) {
        let together = (most / self.stripe).max(1);
        let used = &self.memory.as_slice()[self.first..][..self.count * self.stripe];
        (used.chunks(together * self.stripe).collect(), together)
    }

    /// What a report says of it.
    pub(crate) fn own_work(&self) -> OwnWork {
        OwnWork {
            buffer_bytes: self.memory.len() as u64,
            huge_bytes: self.memory.huge_bytes(),
            ..OwnWork::default()
        }
    }

    /// Where slot `index` reads to.
    #[inline]
    pub(crate) fn read_place(&self, index: usize) -> *mut u8 {
        assert!(index < self.count, "buffer {index} of {}", self.count);
        // SAFETY: stripe `index` lies inside the mapping, which has room for `count` of them.
        unsafe { self.memory.as_ptr().add(self.first + index * self.stripe) }
    }

    /// Where slot `index` writes its next `len` bytes from: another place each time.
    #[inline]
    pub(crate) fn write_place(&mut self, index: usize, len: usize) -> *mut u8 {
        let start = self.read_place(index);
        assert!(
            len <= self.stripe,
            "a write of {len} bytes in a buffer of {}",
            self.stripe
        );
        let mut cursor = self.cursors[index];
        if cursor + len > self.stripe {
            cursor = 0;
        }
        self.cursors[index] = cursor + len.max(1).next_multiple_of(PAGE_BYTES);
        // SAFETY: `cursor + len` was just made to fit the stripe.
        unsafe { start.add(cursor) }
    }
}

/// Fill `bytes` with noise: a counter through the finaliser of splitmix64 (Steele, Lea and Flood,
/// 2014), which has no loop-carried multiplication and so runs at several GB/s.
pub fn fill_incompressible(bytes: &mut [u8], seed: u64) {
    let mut counter = seed;
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word.copy_from_slice(&mix(counter).to_le_bytes());
    }
    let tail = words.into_remainder();
    let last = mix(counter.wrapping_add(1)).to_le_bytes();
    let len = tail.len();
    tail.copy_from_slice(&last[..len]);
}

#[inline]
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl BufferPool {
        fn new(count: usize, len: usize, variety: usize, seed: u64) -> Result<Self, BufferError> {
            Self::in_pages(BufferPages::Huge, count, len, variety, seed)
        }

        fn memory(&self) -> &AlignedBuffer {
            &self.memory
        }
    }

    #[test]
    fn buffers_are_aligned_apart_and_noisy() {
        let mut pool = BufferPool::new(5, 6000, VARIETY_BYTES, 1).unwrap();
        let places: Vec<usize> = (0..5).map(|slot| pool.read_place(slot) as usize).collect();
        for (slot, place) in places.iter().enumerate() {
            assert_eq!(place % PAGE_BYTES, 0);
            assert!(slot == 0 || place - places[slot - 1] >= 6000);
        }
        let mut seen: Vec<&[u8]> = pool.memory().as_slice().chunks(16).collect();
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count, "no 16 bytes occur twice");
        let first = pool.write_place(2, 4096) as usize;
        let second = pool.write_place(2, 4096) as usize;
        assert_eq!(first, places[2]);
        assert_eq!(second, places[2] + 4096, "the next write sends other bytes");
    }

    #[test]
    fn a_write_never_leaves_its_stripe() {
        let mut pool = BufferPool::new(64, 1000, VARIETY_BYTES, 1).unwrap();
        for step in 0..10_000_usize {
            let len = step % 1000;
            let start = pool.write_place(7, len) as usize;
            let stripe = pool.read_place(7) as usize;
            assert!(start >= stripe && start + len <= pool.read_place(8) as usize);
        }
    }

    /// Transfers of 1 MiB in pages of 4 KiB were split by the kernel, and a disk of 3.3 GB/s was
    /// said to give 1.0.
    #[test]
    fn transfers_of_many_pages_lie_in_huge_ones() {
        const WANTED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
        let pool = BufferPool::new(4, 1 << 20, 0, 1).unwrap();
        assert_eq!(pool.read_place(0) as usize % HUGE_PAGE_BYTES, 0);
        assert_eq!(pool.memory().len(), 2 * HUGE_PAGE_BYTES);
        let is_never = std::fs::read_to_string(WANTED).map_or(true, |it| it.contains("[never]"));
        match pool.memory().huge_bytes() {
            Some(huge) if !is_never => assert!(huge > 0, "no huge page was given"),
            _ => {}
        }
        let small = BufferPool::new(4, 4096, VARIETY_BYTES, 1).unwrap();
        assert_eq!(
            small.memory().len(),
            4 << 20,
            "not rounded up for single pages"
        );
    }

    #[test]
    fn no_huge_page_is_had_where_small_ones_are_wanted() {
        let pool = BufferPool::in_pages(BufferPages::Small, 4, 1 << 20, 0, 1).unwrap();
        assert_eq!(pool.memory().len(), 4 << 20);
        let huge = pool.memory().huge_bytes();
        assert!(huge.is_none_or(|it| it == 0), "{huge:?}");
    }

    /// Above 1 GiB nothing was registered at all.
    #[test]
    fn memory_is_registered_in_pieces_of_whole_buffers() {
        let pool = BufferPool::new(5, 65_536, 0, 1).unwrap();
        let (pieces, together) = pool.pieces(150_000);
        let lens: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
        assert_eq!((together, &lens[..]), (2, &[131_072, 131_072, 65_536][..]));
        assert_eq!(pieces[1].as_ptr(), pool.read_place(2).cast_const());
        assert_eq!(pool.pieces(1).0.len(), 5);
    }

    #[test]
    fn pools_without_variety_hold_their_buffers_alone() {
        assert_eq!(
            BufferPool::new(32, 4096, 0, 1).unwrap().memory().len(),
            32 * 4096
        );
    }

    #[test]
    fn buffers_apart_are_those_of_the_pool() {
        let pool = BufferPool::new(3, 65_536, 0, 1).unwrap();
        let places = (0..3).map(|slot| pool.read_place(slot) as usize);
        let places: Vec<usize> = places.collect();
        let apart: Vec<BufferPool> = pool.apart().collect();
        let again = apart.iter().map(|one| one.read_place(0) as usize);
        assert_eq!(again.collect::<Vec<_>>(), places);
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        assert!(BufferPool::new(usize::MAX / 2, 1 << 40, 0, 1).is_err());
        assert!(AlignedBuffer::zeroed(usize::MAX - 5).is_err());
        assert!(AlignedBuffer::zeroed(1 << 60).is_err());
    }
}
