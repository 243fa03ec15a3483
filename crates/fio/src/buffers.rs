//! Content of a job's writes: `buffer_pattern` and related options.

/// Maximum length of a pattern, as in fio 3.42; 3.33 uses the first 512 bytes.
const PATTERN_BYTES_MAX: usize = 16 << 10;

/// Content of a job's writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Whether they are zeroes.
    pub are_zeroes: bool,
    /// The repeated bytes, if there is a pattern.
    pub pattern: Option<Vec<u8>>,
    /// Whether all bytes are drawn for each write.
    pub are_refilled: bool,
    /// Whether every sector of a write differs from the previous write.
    pub are_scrambled: bool,
    /// Compressible percentage.
    pub compress_percent: u32,
    /// Chunk size with that compressible share, bytes; zero for a whole write.
    pub compress_chunk: u32,
    /// Percentage of duplicate writes.
    pub dedupe_percent: u32,
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            are_zeroes: false,
            pattern: None,
            are_refilled: false,
            are_scrambled: true,
            compress_percent: 0,
            compress_chunk: 512,
            dedupe_percent: 0,
        }
    }
}

/// Parses a pattern: a sequence of texts in double quotes, file names in single quotes, which
/// `read` reads, integers and hexadecimal numbers. As in fio, hexadecimal digits are bytes in
/// written order, and an integer has 32 bits, little-endian, without trailing zeroes.
///
/// # Errors
/// A description of the error.
pub fn pattern_bytes(
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, left) = match rest.as_bytes()[0] {
            b'"' => {
                let (inner, left) = quoted(rest, '"')?;
                (inner.as_bytes().to_vec(), left)
            }
            b'\'' => {
                let (path, left) = quoted(rest, '\'')?;
                (read(path)?, left)
            }
            b'%' => return Err("formats in a pattern are not supported: write bytes".into()),
            _ if rest.starts_with("0x") || rest.starts_with("0X") => hexadecimal(rest)?,
            _ => whole(rest)?,
        };
        bytes.extend(piece);
        rest = left;
    }
    match bytes.len() {
        0 => Err("an empty pattern".into()),
        1..=PATTERN_BYTES_MAX => Ok(bytes),
        len => Err(format!(
            "{len} bytes, and a pattern has {PATTERN_BYTES_MAX} at most"
        )),
    }
}

type Piece<'a> = (Vec<u8>, &'a str);

fn quoted(text: &str, quote: char) -> Result<(&str, &str), String> {
    let parts = text[1..].split_once(quote);
    parts.ok_or_else(|| format!("{text} has no closing quote"))
}

fn hexadecimal(text: &str) -> Result<Piece<'_>, String> {
    let digits = &text[2..];
    let end = digits
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at(end);
    if digits.is_empty() {
        return Err(format!("{text} has no digits behind 0x"));
    }
    let even = match digits.len() % 2 {
        0 => digits.to_owned(),
        _ => format!("0{digits}"),
    };
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    let pairs = even.as_bytes().chunks_exact(2);
    let bytes = pairs.map(|pair| value(pair[0]) << 4 | value(pair[1]));
    Ok((bytes.collect(), rest))
}

fn whole(text: &str) -> Result<Piece<'_>, String> {
    let signs = usize::from(text.starts_with('-'));
    let mut digits = text[signs..].bytes().take_while(u8::is_ascii_digit).count();
    // `-120xff` is -12 and 0xff.
    let is_hexadecimal_next = text[signs + digits..].starts_with(['x', 'X']);
    if digits > 1 && is_hexadecimal_next && text[..signs + digits].ends_with('0') {
        digits -= 1;
    }
    let (number, rest) = text.split_at(signs + digits);
    let parsed = number.parse::<i64>().ok();
    let in_range = parsed.filter(|it| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(it));
    let value = in_range.ok_or_else(|| {
        format!("{text:?} is neither \"text\", nor 0x and digits, nor a number of 32 bits")
    })?;
    let mut bytes = (value as u32).to_le_bytes().to_vec();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok((bytes, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected bytes are those that fio 3.33 wrote.
    #[test]
    fn patterns_are_read_as_fio_reads_them() {
        let check = |text: &str, expected: &[u8]| {
            let found = pattern_bytes(text, &mut |path| Ok(path.as_bytes().to_vec()));
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
        };
        check("'name'0xff", b"name\xff");
        check("0xdeadface", &[0xde, 0xad, 0xfa, 0xce]);
        check("0x1", &[1]);
        check("0x123", &[0x01, 0x23]);
        check("-12", &[0xf4, 0xff, 0xff, 0xff]);
        check("300", &[0x2c, 0x01]);
        check("0", &[0]);
        check("\"abcd\"-12", b"abcd\xf4\xff\xff\xff");
        check("\"ab\"0xff1234", b"ab\xff\x12\x34");
        check(
            "\"abcd\"-120xdeadface",
            b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce",
        );
    }

    #[test]
    fn mistakes_are_told() {
        for (text, expected) in [
            ("", "empty"),
            ("\"a", "no closing quote"),
            ("0x", "no digits"),
            ("abc", "neither"),
            ("4294967296", "neither"),
            ("'file'", "not there"),
            ("'file", "no closing quote"),
            ("%o", "not supported"),
        ] {
            let found = pattern_bytes(text, &mut |_| Err("not there".into())).expect_err(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        let found = pattern_bytes("'long'", &mut |_| Ok(vec![0; (16 << 10) + 1]));
        assert!(found.is_err());
    }
}
