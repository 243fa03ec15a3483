//! The proof that a file is ours: a secret that stands in it.
//!
//! Every run draws a random number that nobody else knows. It stands in the marker of each work
//! directory and data file, and in what is written: blocks begin with a stamp that carries it (see
//! [`crate::Payload`]), or with a header of `verify`, whose ledger has the same number; records of
//! text end with it. A file is ours if what stands where its data begin, where they end, and at
//! places between that follow from the number, carries the number of its marker; whoever reads that
//! does so through the very descriptor that is written or removed afterwards. A name, an inode
//! number, a length or the form of the content prove nothing: a user's file can have them all.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::str::FromStr;
use std::sync::OnceLock;

use rustix::fs::{SeekFrom, XattrFlags};
use rustix::rand::GetRandomFlags;
use verify::{SECTOR_BYTES, Sector, read_sector};

use super::identity::FileLinks;
use crate::buffers::{AlignedBuffer, mix};
use crate::payload::stamps_in;

/// What stands before the number in a record of text.
const TEXT: &str = "seekstone-seal:";
/// Digits of the number in a record of text.
const DIGITS: usize = 16;
/// Bytes between two stamps, at most; what is read is whole blocks of this, as direct I/O asks for.
const BLOCK: u64 = 4096;
/// Bytes that are read at once where the first content is looked for.
const SCAN: u64 = 1 << 20;
/// A stamp that begins this far before an odd end is whole.
const STAMP: u64 = 32;
/// Places between beginning and end that are looked at. Nobody else knows where they are.
const SAMPLES: u64 = 8;
/// The extended attribute that files of ours carry whose content is a copy of somebody's.
const ATTRIBUTE: &str = "user.seekstone.seal";

/// The number of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seal(u64);

static OF_THIS_RUN: OnceLock<Seal> = OnceLock::new();

/// What the content of a file says about its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The seal stands in it.
    Sealed,
    /// Nothing was ever written into it.
    Blank,
    /// Something else stands in it: it is the user's.
    Foreign,
}

impl Proof {
    /// Whether nothing of anybody else's is lost with the file.
    pub const fn is_ours(self) -> bool {
        matches!(self, Self::Sealed | Self::Blank)
    }
}

impl Seal {
    /// The seal of this run: drawn when it is asked for first, or that of another process of the
    /// run (see [`Seal::adopt`]).
    ///
    /// # Panics
    /// When the system has no random numbers; without a secret nothing may be written.
    pub fn of_this_run() -> Self {
        *OF_THIS_RUN.get_or_init(|| Self::fresh().expect("the system's random numbers"))
    }

    /// Make the seal that another process of this run drew that of this process, before anything is
    /// written; whether it is now.
    pub fn adopt(number: u64) -> bool {
        *OF_THIS_RUN.get_or_init(|| Self(number)) == Self(number)
    }

    /// A new one, for something that outlives this run.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn fresh() -> io::Result<Self> {
        Ok(Self(random()?))
    }

    /// The number that stamps carry.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// As it stands in records of text.
    pub fn text(self) -> String {
        format!("{TEXT}{self}")
    }

    /// What the content of an open file says: where its data begin and end, and at some places
    /// between.
    ///
    /// # Errors
    /// When it cannot be read: then nothing is proved.
    pub fn examine(self, file: &File) -> io::Result<Proof> {
        let size = FileLinks::of(file)?.size;
        let Some(begin) = first_content(file, size)? else {
            return Ok(Proof::Blank);
        };
        let first = self.judge(&read_range(file, begin..size.min(begin + BLOCK))?);
        let last_block = (size - 1) / BLOCK * BLOCK;
        let mut last = self.judge(&read_range(file, last_block..size)?);
        if last == Proof::Foreign {
            // Of an odd size there may be no stamp in the last block, but one right before it.
            let tail = size.saturating_sub(BLOCK + STAMP).max(begin);
            last = self.judge(&read_range(file, tail..size)?);
        }
        // Where a program was killed, the end may not have been written yet.
        let is_ours = first == Proof::Sealed
            && last != Proof::Foreign
            && self.is_ours_between(file, begin..last_block)?;
        Ok(if is_ours {
            Proof::Sealed
        } else {
            Proof::Foreign
        })
    }

    /// Whether nothing of anybody else's stands at the places between that follow from the number.
    fn is_ours_between(self, file: &File, range: Range<u64>) -> io::Result<bool> {
        let blocks = range.end.saturating_sub(range.start) / BLOCK;
        for number in 0..SAMPLES.min(blocks) {
            let at = range.start + mix(self.0 ^ number) % blocks * BLOCK;
            // A stamp that the block's end would cut is whole.
            if self.judge(&read_range(file, at..at + BLOCK + STAMP)?) == Proof::Foreign {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a stretch of a file says.
    fn judge(self, bytes: &[u8]) -> Proof {
        if bytes.iter().all(|byte| *byte == 0) {
            return Proof::Blank;
        }
        let text = self.text();
        let has_text = bytes.windows(text.len()).any(|it| it == text.as_bytes());
        let has_header = || bytes.chunks_exact(SECTOR_BYTES).any(|it| self.heads(it));
        if has_text || stamps_in(bytes).any(|run| run == self.0) || has_header() {
            return Proof::Sealed;
        }
        Proof::Foreign
    }

    /// Whether a sector has a header of this run's ledger.
    fn heads(self, sector: &[u8]) -> bool {
        let found = read_sector(sector, Some(self.0), 0, 0);
        matches!(found, Sector::Sound(header) if header.seed == self.0)
    }

    /// Let a new file carry the seal although its content will be somebody else's; whether the file
    /// system can keep that.
    pub fn tag(self, file: &File) -> bool {
        let value = self.to_string();
        rustix::fs::fsetxattr(file, ATTRIBUTE, value.as_bytes(), XattrFlags::CREATE).is_ok()
    }

    /// Whether a file was tagged with this seal.
    pub fn is_tagged(self, file: &File) -> bool {
        let mut value = [0_u8; DIGITS];
        let found = rustix::fs::fgetxattr(file, ATTRIBUTE, &mut value);
        found == Ok(DIGITS) && value == *self.to_string().as_bytes()
    }
}

/// Whose the files of a directory are that a dead run left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker {
    /// The seal of that run; a marker of an older version tells none.
    pub seal: Option<Seal>,
    /// The owner of the directory.
    pub owner: u32,
}

impl Maker {
    /// Whether an open file is one that the run made: its content proves it, or it is empty, and it
    /// is for its owner alone and under one name.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn made(&self, file: &File, found: &FileLinks) -> io::Result<bool> {
        if found.owner != self.owner || found.links != 1 || !found.is_private() {
            return Ok(false);
        }
        let Some(seal) = self.seal else {
            return Ok(found.size == 0);
        };
        Ok(seal.is_tagged(file) || seal.examine(file)?.is_ours())
    }
}

/// Random bits of the system's.
///
/// # Errors
/// When it has none.
pub(crate) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    match rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => Ok(u64::from_ne_bytes(bytes)),
        // A sandbox may forbid the call, and leave the device.
        _ => {
            use std::io::Read as _;
            File::open("/dev/urandom")?.read_exact(&mut bytes)?;
            Ok(u64::from_ne_bytes(bytes))
        }
    }
}

/// The first block of a file that holds anything but zeroes; `None` where there is none.
fn first_content(file: &File, size: u64) -> io::Result<Option<u64>> {
    let mut at = 0;
    while let Some(data) = next_data(file, at, size)? {
        // What was reserved, and is in memory for a reader, is data, too.
        at = data / BLOCK * BLOCK;
        let end = size.min(at + SCAN);
        let bytes = read_range(file, at..end)?;
        let blocks = bytes.chunks(BLOCK as usize);
        let is_used = |block: &[u8]| block.iter().any(|byte| *byte != 0);
        if let Some(place) = blocks.into_iter().position(is_used) {
            return Ok(Some(at + place as u64 * BLOCK));
        }
        at = end;
    }
    Ok(None)
}

/// Where the data of a file go on from `at`; `None` where none are left.
fn next_data(file: &File, at: u64, size: u64) -> io::Result<Option<u64>> {
    if at >= size {
        return Ok(None);
    }
    let before = rustix::fs::tell(file)?;
    let found = rustix::fs::seek(file, SeekFrom::Data(at));
    rustix::fs::seek(file, SeekFrom::Start(before))?;
    match found {
        Ok(data) => Ok(Some(data)),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        // A file system that knows no holes: all of it are data.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => Ok(Some(at)),
        Err(error) => Err(error.into()),
    }
}

/// The bytes of a range, as far as the file goes.
fn read_range(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let start = range.start / BLOCK * BLOCK;
    let len = (range.end.next_multiple_of(BLOCK) - start) as usize;
    let mut buffer =
        AlignedBuffer::zeroed(len).map_err(|error| io::Error::other(error.to_string()))?;
    let mut done = 0;
    while done < len {
        match file.read_at(&mut buffer.as_mut_slice()[done..], start + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Direct I/O reads nothing behind an odd end.
            Err(error) if done > 0 && error.raw_os_error() == Some(libc::EINVAL) => break,
            Err(error) => return Err(error),
        }
    }
    let wanted = (range.start - start) as usize..((range.end - start) as usize).min(done);
    Ok(buffer.as_slice().get(wanted).unwrap_or_default().to_vec())
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A secret is not for logs.
impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal(..)")
    }
}

impl FromStr for Seal {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != DIGITS || !text.bytes().all(is_digit) {
            return Err(());
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| ())
    }
}

#[cfg(test)]
#[allow(clippy::print_stderr)]
mod tests {
    use workload::TargetId;

    use super::*;
    use crate::payload::Payload;

    const OURS: Seal = Seal(0x0123_4567_89ab_cdef);
    const BLOCK: usize = 4096;

    fn stamped(seal: Seal, len: usize, offset: u64) -> Vec<u8> {
        let mut bytes = vec![0xa5; len];
        let payload = Payload {
            run: seal.number(),
            ..Payload::default()
        };
        payload.stamp(&mut bytes, TargetId(0), offset);
        bytes
    }

    fn file_of(size: u64, parts: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(size).expect("a length");
        for (at, bytes) in parts {
            file.write_all_at(bytes, *at).expect("written");
        }
        file
    }

    #[track_caller]
    fn check(size: u64, parts: &[(u64, &[u8])], expected: Proof) {
        let file = file_of(size, parts);
        assert_eq!(OURS.examine(&file).expect("read"), expected, "{size}");
    }

    #[test]
    fn what_we_wrote_is_ours_whole_half_and_not_yet() {
        let size = 40 * BLOCK as u64;
        let whole = stamped(OURS, size as usize, 0);
        check(size, &[], Proof::Blank);
        check(0, &[], Proof::Blank);
        check(size, &[(0, &whole)], Proof::Sealed);
        check(size, &[(0, &whole[..BLOCK])], Proof::Sealed);
        // Killed right before the last block.
        check(size, &[(0, &whole[..size as usize - BLOCK])], Proof::Sealed);
        // Written by several at once, the beginning last; and zeroes that take up room.
        check(
            size,
            &[(size - 4096, &whole[size as usize - BLOCK..])],
            Proof::Sealed,
        );
        check(size, &[(8192, &whole[8192..5 * BLOCK])], Proof::Sealed);
        check(size, &[(0, &vec![0; size as usize])], Proof::Blank);
        for odd in [1, 31, 32, 33, 511, 4095, 4097, 8191, 8193, 12_289] {
            let bytes = stamped(OURS, odd, 0);
            let expected = if odd < 32 {
                Proof::Foreign
            } else {
                Proof::Sealed
            };
            check(odd as u64, &[(0, &bytes)], expected);
        }
    }

    /// A file of the user's under the name, with the length and even with the inode number of ours.
    #[test]
    fn what_anybody_else_wrote_is_not() {
        let size = 40 * BLOCK as u64;
        let ours = stamped(OURS, size as usize, 0);
        let other = stamped(Seal(7), size as usize, 0);
        let precious = vec![b'p'; size as usize];
        check(size, &[(0, &precious)], Proof::Foreign);
        check(size, &[(0, &other)], Proof::Foreign);
        check(size, &[(0, &ours), (0, &precious[..BLOCK])], Proof::Foreign);
        let tail = size - BLOCK as u64;
        check(
            size,
            &[(0, &ours), (tail, &precious[..BLOCK])],
            Proof::Foreign,
        );
        check(
            size,
            &[(10 * BLOCK as u64, &precious[..BLOCK])],
            Proof::Foreign,
        );
    }

    /// The middle was once not looked at: 256 KiB of a user's in a file of 1 MiB were written over.
    #[test]
    fn what_a_user_put_into_the_middle_is_seen() {
        let size = 1 << 20;
        let ours = stamped(OURS, size as usize, 0);
        let precious = vec![b'p'; size as usize / 4];
        let middle = size * 3 / 8;
        check(size, &[(0, &ours), (middle, &precious)], Proof::Foreign);
        // What is not yet written there proves nothing against it.
        let blank = vec![0; size as usize / 4];
        check(size, &[(0, &ours), (middle, &blank)], Proof::Sealed);
    }

    /// What `trial --verify` left when it was killed was not known for ours.
    #[test]
    fn headers_of_verified_writes_carry_it() {
        let header = |seed| verify::SectorHeader {
            seed,
            sequence: 3,
            target: 0,
            offset: 0,
            begin: 0,
            len: 1 << 16,
            time_ns: 5,
        };
        let mut ours = vec![0x5a; 1 << 16];
        verify::seal(&mut ours, header(OURS.number()));
        let size = 4 * ours.len() as u64;
        check(size, &[(0, &ours)], Proof::Sealed);
        check(
            size,
            &[(0, &ours), (size - 4096, &[1; 4096])],
            Proof::Foreign,
        );
        let mut other = ours.clone();
        verify::seal(&mut other, header(7));
        check(size, &[(0, &other)], Proof::Foreign);
        ours.iter_mut()
            .skip(8)
            .step_by(512)
            .for_each(|byte| *byte ^= 1);
        check(size, &[(0, &ours)], Proof::Foreign);
    }

    #[test]
    fn a_record_of_text_carries_it_too() {
        let text = format!("{:>4000} {}\n", "record", OURS.text());
        let three = text.repeat(3);
        check(three.len() as u64, &[(0, three.as_bytes())], Proof::Sealed);
        let other = three.replace("89ab", "89ac");
        check(other.len() as u64, &[(0, other.as_bytes())], Proof::Foreign);
    }

    #[test]
    fn it_is_read_back_from_its_digits_only() {
        assert_eq!(OURS.to_string().parse(), Ok(OURS));
        for text in [
            "",
            "0123456789ABCDEF",
            "0123456789abcde",
            "+123456789abcdef",
            "x",
        ] {
            assert_eq!(text.parse::<Seal>(), Err(()), "{text}");
        }
        assert_eq!(Seal::of_this_run(), Seal::of_this_run());
        assert_eq!(format!("{OURS:?}"), "Seal(..)");
    }

    #[test]
    fn a_tag_is_known_again_where_the_file_system_keeps_it() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        if !OURS.tag(file.as_file()) {
            eprintln!("skipped: this file system keeps no extended attributes");
            return;
        }
        assert!(OURS.is_tagged(file.as_file()) && !Seal(7).is_tagged(file.as_file()));
        let other = tempfile::tempfile().expect("a file");
        assert!(!OURS.is_tagged(&other));
    }
}
