//! Incremental parser of a response: finds its end, and whether it is complete.

/// Maximum size of a head (nginx sends at most 8 KiB).
const HEAD_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 128;
/// Maximum length of a chunk size line or a trailer line.
const LINE_BYTES_MAX: usize = 8 << 10;

/// Why a response is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Not HTTP.
    #[error("answer not understood: no HTTP/1 head")]
    Head,
    /// The head is too long.
    #[error("answer not understood: a head of more than 64 KiB")]
    HeadLength,
    /// Invalid content length.
    #[error("answer not understood: its length")]
    Length,
    /// Invalid chunk.
    #[error("answer not understood: a chunk")]
    Chunk,
    /// The connection ended within the response.
    #[error("connection closed in mid-answer")]
    Short,
}

/// A response being received.
#[derive(Debug, Default)]
pub struct Response {
    /// The head so far, or a line of a chunked body.
    held: Vec<u8>,
    stage: ResponseStage,
    /// Status from its first line; 0 before it arrives.
    pub status: u16,
    /// Whether the server accepts another request on this connection.
    pub is_kept: bool,
    /// Body bytes so far.
    pub body_bytes: u64,
    /// Total bytes so far.
    pub bytes: u64,
    /// Headers, if kept.
    pub headers: Vec<(String, String)>,
    keeps_headers: bool,
    /// Whether it is the response to `HEAD`, which has no body whatever its head says.
    is_head_alone: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseStage {
    #[default]
    Head,
    /// Remaining bytes of the body.
    Length(u64),
    /// The chunk size line.
    ChunkSize,
    /// Remaining bytes of the chunk.
    Chunk(u64),
    /// The end of line after a chunk.
    ChunkEnd,
    /// Trailer lines up to an empty one.
    Trailer,
    /// The body ends with the connection.
    UntilClosed,
    Done,
}

impl Response {
    /// A response to that method, with headers kept.
    pub fn keeping_headers(method: &str) -> Self {
        Self {
            keeps_headers: true,
            is_head_alone: method == "HEAD",
            ..Self::default()
        }
    }

    /// The value of a header, by case-insensitive name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        let found = all.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Whether it is complete.
    pub fn is_done(&self) -> bool {
        self.stage == ResponseStage::Done
    }

    /// Starts the next response in the same memory.
    pub fn clear(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        *self = Self {
            held,
            ..Self::default()
        };
    }

    /// Consumes received bytes. Returns how many belong to this response; `body` receives its body.
    ///
    /// # Errors
    /// If it is invalid.
    // fuzzed: http
    pub fn take(&mut self, bytes: &[u8], body: &mut dyn FnMut(&[u8])) -> Result<usize, Broken> {
        let mut taken = 0;
        while taken < bytes.len() && self.stage != ResponseStage::Done {
            taken += self.step(&bytes[taken..], body)?;
        }
        self.bytes += taken as u64;
        Ok(taken)
    }

    /// The connection was closed.
    ///
    /// # Errors
    /// If the response was incomplete.
    pub fn close(&mut self) -> Result<(), Broken> {
        match self.stage {
            ResponseStage::Done => Ok(()),
            ResponseStage::UntilClosed => {
                self.stage = ResponseStage::Done;
                Ok(())
            }
            _ => Err(Broken::Short),
        }
    }

    fn step(&mut self, bytes: &[u8], body: &mut dyn FnMut(&[u8])) -> Result<usize, Broken> {
        match self.stage {
            ResponseStage::Head => self.head(bytes),
            ResponseStage::Length(left) => {
                let part = self.body(bytes, left, body);
                let left = left - part as u64;
                self.stage = if left == 0 {
                    ResponseStage::Done
                } else {
                    ResponseStage::Length(left)
                };
                Ok(part)
            }
            ResponseStage::Chunk(left) => {
                let part = self.body(bytes, left, body);
                let left = left - part as u64;
                self.stage = if left == 0 {
                    ResponseStage::ChunkEnd
                } else {
                    ResponseStage::Chunk(left)
                };
                Ok(part)
            }
            ResponseStage::UntilClosed => Ok(self.body(bytes, u64::MAX, body)),
            ResponseStage::ChunkSize | ResponseStage::ChunkEnd | ResponseStage::Trailer => {
                self.line(bytes)
            }
            ResponseStage::Done => Ok(0),
        }
    }

    fn body(&mut self, bytes: &[u8], left: u64, body: &mut dyn FnMut(&[u8])) -> usize {
        let part = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        body(&bytes[..part]);
        self.body_bytes += part as u64;
        part
    }

    /// Usually the whole head arrives at once and is parsed in place.
    fn head(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let before = self.held.len();
        let kept = self.keeps_headers.then_some(&mut self.headers);
        let found = if before == 0 {
            read_head(bytes, kept)?
        } else {
            self.held.extend_from_slice(bytes);
            read_head(&self.held, kept)?
        };
        let Some(head) = found else {
            if before == 0 {
                self.held.extend_from_slice(bytes);
            }
            let is_endless = self.held.len() > HEAD_BYTES_MAX;
            return if is_endless {
                Err(Broken::HeadLength)
            } else {
                Ok(bytes.len())
            };
        };
        self.held.clear();
        // An interim response is followed by the real one.
        if !(100..200).contains(&head.status) {
            self.status = head.status;
            self.is_kept = head.is_kept || self.is_head_alone && head.may_be_kept;
            self.stage = match self.is_head_alone {
                true => ResponseStage::Done,
                false => head.stage,
            };
        }
        Ok(head.bytes - before)
    }

    fn line(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(bytes.len(), |end| end + 1);
        self.held.extend_from_slice(&bytes[..taken]);
        if self.held.len() > LINE_BYTES_MAX {
            return Err(Broken::Chunk);
        }
        if end.is_some() {
            let line = std::mem::take(&mut self.held);
            self.stage = after_line(self.stage, line.trim_ascii())?;
            self.held = line;
            self.held.clear();
        }
        Ok(taken)
    }
}

fn after_line(stage: ResponseStage, line: &[u8]) -> Result<ResponseStage, Broken> {
    match stage {
        ResponseStage::ChunkEnd if line.is_empty() => Ok(ResponseStage::ChunkSize),
        ResponseStage::ChunkSize => {
            let text = std::str::from_utf8(line).map_err(|_| Broken::Chunk)?;
            let digits = text.split(';').next().unwrap_or_default().trim_end();
            match u64::from_str_radix(digits, 16) {
                Ok(0) => Ok(ResponseStage::Trailer),
                Ok(size) if !digits.starts_with('+') => Ok(ResponseStage::Chunk(size)),
                _ => Err(Broken::Chunk),
            }
        }
        ResponseStage::Trailer if line.is_empty() => Ok(ResponseStage::Done),
        ResponseStage::Trailer => Ok(ResponseStage::Trailer),
        _ => Err(Broken::Chunk),
    }
}

struct Head {
    status: u16,
    is_kept: bool,
    /// Whether the connection may be kept, unless the body ends with it.
    may_be_kept: bool,
    stage: ResponseStage,
    bytes: usize,
}

/// Parses the head at the start of `bytes`, if complete. Its headers replace those in `kept`.
fn read_head(
    bytes: &[u8],
    kept: Option<&mut Vec<(String, String)>>,
) -> Result<Option<Head>, Broken> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut headers);
    let end = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Broken::Head),
    };
    let status = parsed.code.ok_or(Broken::Head)?;
    let mut is_kept = parsed.version == Some(1);
    let mut length = None;
    let mut is_chunked = false;
    for header in parsed.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        let value = header.value.trim_ascii();
        if is("content-length") {
            let text = std::str::from_utf8(value).map_err(|_| Broken::Length)?;
            let found: u64 = text.parse().map_err(|_| Broken::Length)?;
            if length.replace(found).is_some_and(|before| before != found) {
                return Err(Broken::Length);
            }
        } else if is("transfer-encoding") {
            is_chunked = value.to_ascii_lowercase().ends_with(b"chunked");
        } else if is("connection") {
            let value = value.to_ascii_lowercase();
            let has = |word: &str| {
                value
                    .split(|it| *it == b',')
                    .any(|it| it.trim_ascii() == word.as_bytes())
            };
            is_kept = !has("close") && (is_kept || has("keep-alive"));
        }
    }
    if let Some(kept) = kept {
        let text = |value: &[u8]| String::from_utf8_lossy(value.trim_ascii()).into_owned();
        let all = parsed.headers.iter();
        *kept = all.map(|it| (it.name.to_owned(), text(it.value))).collect();
    }
    let has_none = (100..200).contains(&status) || status == 204 || status == 304;
    let stage = match (has_none, is_chunked, length) {
        (true, _, _) | (false, false, Some(0)) => ResponseStage::Done,
        (false, true, _) => ResponseStage::ChunkSize,
        (false, false, Some(length)) => ResponseStage::Length(length),
        (false, false, None) => ResponseStage::UntilClosed,
    };
    Ok(Some(Head {
        status,
        is_kept: is_kept && stage != ResponseStage::UntilClosed,
        may_be_kept: is_kept,
        stage,
        bytes: end,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same response, whole and split at every position, must be parsed in the same way, and
    /// leave the same bytes for the next.
    #[track_caller]
    fn check(answer: &[u8], rest: &[u8], status: u16, body: &[u8], is_kept: bool) {
        let all = [answer, rest].concat();
        for cut in 0..=answer.len() {
            let mut response = Response::default();
            let mut found = Vec::new();
            let mut taken = 0;
            for part in [&all[..cut], &all[cut..]] {
                let body = &mut |bytes: &[u8]| found.extend_from_slice(bytes);
                taken += response.take(part, body).unwrap();
            }
            let _ = response.close();
            assert!(response.is_done(), "cut at {cut}");
            assert_eq!(
                (response.status, response.is_kept),
                (status, is_kept),
                "cut at {cut}"
            );
            assert_eq!(
                (found.as_slice(), taken),
                (body, answer.len()),
                "cut at {cut}"
            );
            assert_eq!(response.body_bytes, body.len() as u64);
            assert_eq!(response.bytes, answer.len() as u64);
        }
    }

    #[test]
    fn a_length_ends_an_answer() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        check(answer, b"HTTP/1.1 404", 200, b"hello", true);
        let answer = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\ncontent-length: 0\r\n\r\n";
        check(answer, b"", 404, b"", false);
        let answer = b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx";
        check(answer, b"", 200, b"x", true);
        let answer = b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx";
        check(answer, b"", 200, b"x", false);
    }

    #[test]
    fn the_end_of_the_connection_ends_an_answer_without_length() {
        check(
            b"HTTP/1.0 200 OK\r\n\r\nall the rest",
            b"",
            200,
            b"all the rest",
            false,
        );
        check(b"HTTP/1.1 200 OK\r\n\r\n", b"", 200, b"", false);
    }

    #[test]
    fn an_answer_to_head_has_headers_and_no_body() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"x\"\r\n\r\n";
        for cut in 0..answer.len() {
            let mut response = Response::keeping_headers("HEAD");
            for part in [&answer[..cut], &answer[cut..]] {
                response.take(part, &mut |_| ()).unwrap();
            }
            assert!(response.is_done() && response.is_kept, "cut at {cut}");
            assert_eq!(response.header("etag"), Some("\"x\""));
            assert_eq!(response.headers.len(), 2);
        }
    }

    #[test]
    fn chunks_are_joined() {
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            5;x=y\r\nhello\r\nA\r\n, my world\r\n0\r\nChecked: no\r\n\r\n";
        check(answer, b"HTTP", 200, b"hello, my world", true);
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        check(answer, b"", 200, b"", true);
    }

    #[test]
    fn answers_without_a_body_have_none() {
        check(
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n",
            b"H",
            304,
            b"",
            true,
        );
        let answer = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        check(answer, b"", 200, b"x", true);
    }

    #[track_caller]
    fn check_broken(answer: &[u8], expected: Broken) {
        let mut response = Response::default();
        let ended = response.take(answer, &mut |_| ());
        let ended = ended.and_then(|_| response.close());
        assert_eq!(ended, Err(expected), "{}", String::from_utf8_lossy(answer));
    }

    #[test]
    fn what_is_no_answer_is_named() {
        check_broken(b"220 ftp ready\r\n", Broken::Head);
        check_broken(b"", Broken::Short);
        check_broken(b"HTTP/1.1 200 OK\r\nContent-Le", Broken::Short);
        check_broken(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            Broken::Short,
        );
        check_broken(
            b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
            Broken::Length,
        );
        let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello";
        check_broken(twice, Broken::Length);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (chunk, expected) in [
            ("x\r\n", Broken::Chunk),
            ("+5\r\nhello\r\n", Broken::Chunk),
            ("\r\n", Broken::Chunk),
            ("5\r\nhello!\r\n", Broken::Chunk),
            ("ffffffffffffffffff\r\n", Broken::Chunk),
            ("5\r\nhello\r\n", Broken::Short),
        ] {
            check_broken(format!("{chunked}{chunk}").as_bytes(), expected);
        }
        let endless = [
            b"HTTP/1.1 200 OK\r\nA: ".as_slice(),
            &[b'a'; HEAD_BYTES_MAX],
        ]
        .concat();
        check_broken(&endless, Broken::HeadLength);
    }

    #[test]
    fn one_answer_after_the_other_in_the_same_memory() {
        let mut response = Response::default();
        for _ in 0..3 {
            response.clear();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            assert_eq!(response.take(answer, &mut |_| ()), Ok(answer.len()));
            assert!(response.is_done());
        }
    }
}
