//! A small S3 server in memory, for tests: it checks signatures, and does wrong what a test wants.
//!
//! It knows one bucket, `bkt`, one key, `test`, and what this program asks for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use rusty_s3::Method;
use rusty_s3::signing::sign;

/// The secret that goes with the key `test`.
pub const SECRET: &str = "a secret";
pub const TOKEN: &str = "a token";

/// What a server does wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Every n-th request for an object is answered with 503, or with 500.
    pub throttled: Option<u64>,
    pub broken: Option<u64>,
    /// Objects come back with one byte changed.
    pub damages: bool,
    /// Puts are denied.
    pub denies: bool,
    /// It says that this machine's clock is off, by the date that it gives.
    pub is_skewed: bool,
    pub keeps_versions: bool,
    /// Requests must have the session token.
    pub wants_token: bool,
    /// The bucket is of another region.
    pub is_elsewhere: bool,
}

/// What it holds, and how often it was asked.
#[derive(Default)]
pub struct Held {
    pub objects: BTreeMap<String, Vec<u8>>,
    pub uploads: BTreeMap<String, (String, BTreeMap<u32, Vec<u8>>)>,
    /// By method, and what is asked for.
    pub asked: BTreeMap<String, u64>,
    requests: u64,
}

#[derive(Clone)]
pub struct S3Server {
    pub address: SocketAddr,
    held: Arc<Mutex<Held>>,
    faults: Faults,
}

struct Asked {
    method: String,
    host: String,
    path: String,
    query: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl S3Server {
    /// Lives as long as the test program.
    pub fn start(faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            held: Arc::default(),
            faults,
        };
        let own = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let own = own.clone();
                // What a client does to its connection is no failure of the server.
                thread::spawn(move || drop(own.serve(stream.expect("a client"))));
            }
        });
        server
    }

    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("no panic")
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::new(stream);
        while let Some(asked) = read_request(&mut reader)? {
            let is_head = asked.method == "HEAD";
            let Answer {
                status,
                headers,
                body,
            } = self.answer(&asked);
            let len = body.len();
            let mut bytes =
                format!("HTTP/1.1 {status} x\r\n{headers}Content-Length: {len}\r\n\r\n")
                    .into_bytes();
            if !is_head {
                bytes.extend(body);
            }
            writer.write_all(&bytes)?;
        }
        Ok(())
    }

    fn answer(&self, asked: &Asked) -> Answer {
        if let Some(refused) = self.refused(asked) {
            return refused;
        }
        let Some(key) = asked.path.strip_prefix("/bkt/") else {
            return refusal(404, "NoSuchBucket");
        };
        let mut held = self.held();
        let part = asked.query("partNumber").map_or("", |_| " part");
        *held
            .asked
            .entry(format!("{}{part}", asked.method))
            .or_default() += 1;
        if key.is_empty() {
            return self.answer_of_bucket(asked, &held);
        }
        held.requests += 1;
        let is_due = |every: Option<u64>| every.is_some_and(|it| held.requests.is_multiple_of(it));
        let is_marker = key.ends_with(".seekstone-run");
        if is_due(self.faults.throttled) && !is_marker {
            return refusal(503, "SlowDown");
        }
        if is_due(self.faults.broken) && !is_marker && asked.method != "DELETE" {
            return refusal(500, "InternalError");
        }
        match asked.query("uploadId") {
            Some(upload) => answer_of_upload(asked, &mut held, key, upload),
            None => self.answer_of_object(asked, &mut held, key),
        }
    }

    /// What is answered in place of anything else.
    fn refused(&self, asked: &Asked) -> Option<Answer> {
        let faults = self.faults;
        if faults.is_skewed {
            let date = "Date: Mon, 01 Jan 2001 00:00:00 GMT\r\n";
            let refused = refusal(403, "RequestTimeTooSkewed");
            return Some(Answer {
                headers: date.into(),
                ..refused
            });
        }
        if faults.is_elsewhere {
            let refused = refusal(301, "PermanentRedirect");
            return Some(Answer {
                headers: "x-amz-bucket-region: mars-1\r\n".into(),
                ..refused
            });
        }
        let token = asked.query("X-Amz-Security-Token");
        if faults.wants_token && token != Some(TOKEN) {
            return Some(refusal(400, "InvalidToken"));
        }
        let credential = asked.query("X-Amz-Credential").unwrap_or_default();
        if !credential.starts_with("test/") {
            return Some(refusal(403, "InvalidAccessKeyId"));
        }
        if signature(asked, token) != asked.query("X-Amz-Signature").map(str::to_owned) {
            return Some(refusal(403, "SignatureDoesNotMatch"));
        }
        (faults.denies && asked.method == "PUT").then(|| refusal(403, "AccessDenied"))
    }

    fn answer_of_bucket(&self, asked: &Asked, held: &Held) -> Answer {
        let prefix = asked.query("prefix").unwrap_or_default();
        if asked.query("versioning").is_some() {
            let status = if self.faults.keeps_versions {
                "Enabled"
            } else {
                ""
            };
            let text = format!("<V><Status>{status}</Status></V>");
            return good(text.into_bytes());
        }
        if asked.query("uploads").is_some() {
            let uploads = held.uploads.iter();
            let text: String = uploads
                .map(|(id, (key, _))| {
                    format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>")
                })
                .collect();
            return good(format!("<L>{text}</L>").into_bytes());
        }
        good(list(asked, held, prefix).into_bytes())
    }

    fn answer_of_object(&self, asked: &Asked, held: &mut Held, key: &str) -> Answer {
        match asked.method.as_str() {
            "POST" => {
                let id = format!("upload-{}", held.requests);
                held.uploads
                    .insert(id.clone(), (key.into(), BTreeMap::new()));
                let text = format!(
                    "<InitiateMultipartUploadResult xmlns=\"{NS}\"><UploadId>{id}</UploadId>\
                     </InitiateMultipartUploadResult>"
                );
                good(text.into_bytes())
            }
            "PUT" => {
                let is_new_only = asked.headers.contains_key("if-none-match");
                if is_new_only && held.objects.contains_key(key) {
                    return refusal(412, "PreconditionFailed");
                }
                held.objects.insert(key.into(), asked.body.clone());
                good(Vec::new())
            }
            "DELETE" => {
                held.objects.remove(key);
                Answer {
                    status: 204,
                    ..good(Vec::new())
                }
            }
            _ => {
                let Some(object) = held.objects.get(key) else {
                    return refusal(404, "NoSuchKey");
                };
                let mut bytes = object.clone();
                if self.faults.damages && !key.ends_with(".seekstone-run") {
                    bytes[0] ^= 1;
                }
                match asked.range(bytes.len()) {
                    None => good(bytes),
                    Some((first, last)) => Answer {
                        status: 206,
                        ..good(bytes[first..=last].to_vec())
                    },
                }
            }
        }
    }
}

const NS: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

fn answer_of_upload(asked: &Asked, held: &mut Held, key: &str, upload: &str) -> Answer {
    let number = asked.query("partNumber").and_then(|it| it.parse().ok());
    let Some((_, parts)) = held.uploads.get_mut(upload) else {
        return refusal(404, "NoSuchUpload");
    };
    match (asked.method.as_str(), number) {
        ("PUT", Some(number)) => {
            parts.insert(number, asked.body.clone());
            Answer {
                headers: format!("ETag: \"part-{number}\"\r\n"),
                ..good(Vec::new())
            }
        }
        ("POST", _) => {
            let list = String::from_utf8_lossy(&asked.body);
            let all = parts.keys().all(|it| list.contains(&format!("part-{it}")));
            assert!(all, "the list of parts is not whole: {list}");
            let whole = parts.values().flatten().copied().collect();
            held.objects.insert(key.into(), whole);
            held.uploads.remove(upload);
            good(b"<CompleteMultipartUploadResult/>".to_vec())
        }
        _ => {
            held.uploads.remove(upload);
            Answer {
                status: 204,
                ..good(Vec::new())
            }
        }
    }
}

fn list(asked: &Asked, held: &Held, prefix: &str) -> String {
    let most = asked.query("max-keys").and_then(|it| it.parse().ok());
    let after = asked.query("continuation-token").unwrap_or_default();
    let is_folded = asked.query("delimiter").is_some();
    let keys = held.objects.keys().filter(|key| key.starts_with(prefix));
    let mut text = format!("<ListBucketResult xmlns=\"{NS}\">");
    if is_folded {
        let names = keys.filter_map(|key| Some(key.split_once('/')?.0));
        let names: std::collections::BTreeSet<&str> = names.collect();
        for name in names {
            let _ = write!(
                text,
                "<CommonPrefixes><Prefix>{name}/</Prefix></CommonPrefixes>"
            );
        }
    } else {
        let mut left = keys.filter(|key| key.as_str() > after).peekable();
        let mut last = String::new();
        for key in left.by_ref().take(most.unwrap_or(1000)) {
            let size = held.objects[key].len();
            let _ = write!(
                text,
                "<Contents><Key>{key}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>\
                 <Size>{size}</Size></Contents>"
            );
            last.clone_from(key);
        }
        if left.peek().is_some() {
            let _ = write!(
                text,
                "<NextContinuationToken>{last}</NextContinuationToken>"
            );
        }
    }
    text + "</ListBucketResult>"
}

fn good(body: Vec<u8>) -> Answer {
    Answer {
        status: 200,
        headers: String::new(),
        body,
    }
}

fn refusal(status: u16, code: &str) -> Answer {
    Answer {
        status,
        headers: String::new(),
        body: format!("<Error><Code>{code}</Code><Message>of the test</Message></Error>").into(),
    }
}

impl Asked {
    fn query(&self, name: &str) -> Option<&str> {
        let mut all = self.query.iter();
        let found = all.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first and the last byte of a range.
    fn range(&self, len: usize) -> Option<(usize, usize)> {
        let text = self.headers.get("range")?.strip_prefix("bytes=")?;
        let (first, last) = text.split_once('-')?;
        let last: usize = last.parse().ok()?;
        Some((first.parse().ok()?, last.min(len - 1)))
    }
}

/// The signature that a request must have.
fn signature(asked: &Asked, token: Option<&str>) -> Option<String> {
    let date = asked.query("X-Amz-Date")?;
    let date = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", date).ok()?;
    let date = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let method = match asked.method.as_str() {
        "GET" => Method::Get,
        "PUT" => Method::Put,
        "POST" => Method::Post,
        "HEAD" => Method::Head,
        _ => Method::Delete,
    };
    let url = format!("http://{}{}", asked.host, asked.path)
        .parse()
        .ok()?;
    let expires = asked.query("X-Amz-Expires")?.parse().ok()?;
    let own = asked.query.iter();
    let own = own.filter(|(name, _)| !name.starts_with("X-Amz-"));
    let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
    let region = "us-east-1";
    let none = std::iter::empty();
    let signed = sign(
        &date, method, url, "test", SECRET, token, region, expires, own, none,
    );
    let query = signed.query()?.to_owned();
    let (_, found) = query.split_once("X-Amz-Signature=")?;
    Some(found.split('&').next()?.to_owned())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Asked>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next());
    let target = target.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let len = headers.get("content-length").and_then(|it| it.parse().ok());
    let mut body = vec![0; len.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let pair = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        (decoded(name), decoded(value))
    };
    Ok(Some(Asked {
        host: headers.get("host").cloned().unwrap_or_default(),
        path: path.to_owned(),
        query: query.split('&').map(pair).collect(),
        method,
        headers,
        body,
    }))
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        let code = u8::from_str_radix(digits, 16).expect("digits");
        all.push(char::from(code));
        all.push_str(rest);
    }
    all
}
