//! Which part of a mapping lies in huge pages.
//!
//! Source: proc_pid_smaps(5). The kernel joins neighbouring mappings of the same kind, so what is
//! told of ours is the share of the mapping that it became part of.

/// The size of a huge page: of x86-64, and of arm64 with pages of 4 KiB. Where they are larger,
/// none is had in mappings that are aligned to this alone, and the share says so.
pub(crate) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Bytes of the `len` from `address` on that lie in huge pages; `None` where the kernel does not
/// tell.
pub(crate) fn huge_bytes(address: usize, len: usize) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let share = huge_share(&text, address as u64)?;
    Some((share * len as f64) as u64)
}

/// The share, 0 to 1, of the mapping with `address` in it that lies in huge pages.
fn huge_share(smaps: &str, address: u64) -> Option<f64> {
    let mut lines = smaps.lines();
    let start = |line: &str| range(line).is_some_and(|range| range.contains(&address));
    let found = range(lines.find(|line| start(line))?)?;
    let mine = lines.take_while(|line| range(line).is_none());
    let mut huge = mine.filter_map(|line| line.strip_prefix("AnonHugePages:"));
    let kib = huge
        .next()?
        .trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>();
    Some((kib.ok()? * 1024) as f64 / (found.end - found.start) as f64)
}

/// The addresses of a mapping, from its first line.
fn range(line: &str) -> Option<std::ops::Range<u64>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000400000-7f0000800000 rw-p 00000000 00:00 0                          [heap]
Size:               4096 kB
AnonHugePages:         0 kB
7f0000800000-7f0000900000 r-xp 00000000 fd:00 131 /usr/lib/a-b.so
Size:               1024 kB
";

    fn check(address: u64, expected: Option<f64>) {
        assert_eq!(huge_share(SMAPS, address), expected, "{address:x}");
    }

    #[test]
    fn each_mapping_tells_of_itself() {
        check(0x7f00_0000_0000, Some(0.5));
        check(0x7f00_003f_ffff, Some(0.5));
        check(0x7f00_0040_0000, Some(0.0));
        check(0x7f00_0080_0000, None);
        check(0x1000, None);
    }
}
