//! FTP replies: a three-digit code and text, on one line or several.

/// Maximum length of a reply.
const REPLY_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Such as 226.
    pub code: u16,
    /// Text of its last line, after the code.
    pub text: String,
}

/// An invalid reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("answer not understood: no FTP reply")]
pub struct NoReply;

impl Reply {
    /// Whether the command succeeded or is in progress.
    pub fn is_good(&self) -> bool {
        self.code < 400
    }

    /// The port after `EPSV`: `229 Entering ... (|||6446|)` (RFC 2428).
    pub fn extended_port(&self) -> Option<u16> {
        let inner = self.text.split_once('(')?.1.split_once(')')?.0;
        let mark = inner.chars().next()?;
        let mut fields = inner.split(mark);
        let port = fields.nth(3)?;
        (fields.next() == Some("")).then(|| port.parse().ok())?
    }

    /// The port after `PASV`: `227 Entering ... (h1,h2,h3,h4,p1,p2)`. The address in it is ignored:
    /// the server is at the other end of the control connection.
    pub fn passive_port(&self) -> Option<u16> {
        let start = self.text.find(|it: char| it.is_ascii_digit())?;
        let digits = |it: char| it.is_ascii_digit() || it == ',';
        let numbers = self.text[start..].split(|it: char| !digits(it)).next()?;
        let numbers: Vec<u8> = numbers
            .split(',')
            .map(|it| it.parse().ok())
            .collect::<Option<_>>()?;
        match numbers[..] {
            [_, _, _, _, high, low] => Some(u16::from_be_bytes([high, low])),
            _ => None,
        }
    }
}

/// The reply at the start of `bytes` and how long it is, when it is whole.
///
/// # Errors
/// When it is none.
// fuzzed: ftp
pub fn read_reply(bytes: &[u8]) -> Result<Option<(Reply, usize)>, NoReply> {
    let mut code = None;
    let mut at = 0;
    while let Some(end) = bytes[at..].iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(bytes[at..at + end].trim_ascii_end());
        at += end + 1;
        let found = code_of(&line);
        match (code, found) {
            (None, Some((code, ' '))) => return Ok(Some((reply(code, &line), at))),
            (None, Some((first, _))) => code = Some(first),
            (None, None) => return Err(NoReply),
            (Some(first), Some((last, ' '))) if first == last => {
                return Ok(Some((reply(first, &line), at)));
            }
            (Some(_), _) => {}
        }
    }
    if bytes.len() > REPLY_BYTES_MAX {
        return Err(NoReply);
    }
    Ok(None)
}

fn reply(code: u16, line: &str) -> Reply {
    Reply {
        code,
        text: line.get(4..).unwrap_or_default().into(),
    }
}

/// `226 text` ends a reply, `226-text` continues it; `226` alone also ends one.
fn code_of(line: &str) -> Option<(u16, char)> {
    let digits = line.get(..3)?;
    let is_code = digits.bytes().all(|byte| byte.is_ascii_digit());
    let code = digits.parse().ok().filter(|_| is_code)?;
    match line[3..].chars().next() {
        None | Some(' ') => Some((code, ' ')),
        Some('-') => Some((code, '-')),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, code: u16, text: &str) {
        let whole = read_reply(bytes.as_bytes()).unwrap();
        let (reply, length) = whole.expect("a whole reply");
        assert_eq!((reply.code, reply.text.as_str()), (code, text));
        assert_eq!(length, bytes.len());
        for cut in 0..bytes.len() {
            assert_eq!(
                read_reply(&bytes.as_bytes()[..cut]),
                Ok(None),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn replies_on_one_line_and_on_many() {
        check("220 ready\r\n", 220, "ready");
        check("230\r\n", 230, "");
        check("211-Features:\r\n EPSV\r\n211 not\r\n", 211, "not");
        check(
            "220-one\n221 other\n 220 three\n220-two\n220 end\n",
            220,
            "end",
        );
    }

    #[test]
    fn what_is_no_reply() {
        for text in ["hello\r\n", "22 x\r\n", "2200 x\r\n", "\r\n", "+20 x\r\n"] {
            assert_eq!(read_reply(text.as_bytes()), Err(NoReply), "{text}");
        }
        let endless = vec![b'2'; REPLY_BYTES_MAX + 1];
        assert_eq!(read_reply(&endless), Err(NoReply));
    }

    #[test]
    fn ports_of_data_connections() {
        let reply = |text: &str| Reply {
            code: 227,
            text: text.into(),
        };
        let extended = |text: &str| reply(text).extended_port();
        assert_eq!(
            extended("Entering Extended Passive Mode (|||6446|)"),
            Some(6446)
        );
        assert_eq!(extended("Entering (!!!21!)"), Some(21));
        for text in ["", "(|||6446)", "(||6446|)", "(|||64460000|)", "(|||x|)"] {
            assert_eq!(extended(text), None, "{text}");
        }
        let passive = |text: &str| reply(text).passive_port();
        assert_eq!(
            passive("Entering Passive Mode (10,77,0,1,39,170)."),
            Some(10154)
        );
        assert_eq!(passive("Entering Passive Mode 10,77,0,1,0,21"), Some(21));
        for text in [
            "",
            "(10,77,0,1,39)",
            "(10,77,0,1,39,999)",
            "(1,2,3,4,5,6,7)",
        ] {
            assert_eq!(passive(text), None, "{text}");
        }
    }
}
