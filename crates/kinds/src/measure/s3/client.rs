//! What is asked of a bucket, one request after the other by each thread.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use network::Endpoint;
use network::http::{Body, HttpAnswer, HttpRequest, HttpServer};
use network::patience::{Patience, SLICE};
use network::url::Url;
use rusty_s3::actions::{CreateMultipartUpload, ListObjectsV2};
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};

use super::account::S3Account;
use super::address::BucketAddress;
use super::fault::{S3Fault, element};
use super::prefix::KEYS_BEGIN;
use crate::measure::Stop;
use crate::measure::place::{MeasureError, Result};

/// How long a signed request may be used.
const SIGNED_FOR: Duration = Duration::from_secs(3600);
/// The first pause after an answer that asks for fewer requests, and the longest.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// What is kept of a server's complaint.
const COMPLAINT_BYTES: usize = 2000;
/// Bytes of the body of an answer that is no object.
const BODY_BYTES_MAX: usize = 64 << 20;

/// How a bucket is asked.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// Authorities that an encrypted server is checked against; the system's without it.
    pub ca: Option<PathBuf>,
    /// Whether the bucket stands in the host, or in the path; as fits the server when absent.
    pub is_in_host: Option<bool>,
    /// The longest silence of a server.
    pub timeout: Duration,
    /// What is done when it asks for fewer requests.
    pub backoff: Backoff,
    /// Objects that are larger are put in parts of this size, bytes.
    pub part: u64,
}

/// What is done when a server asks for fewer requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backoff {
    /// That is a failure.
    Never,
    /// The request is sent again after pauses that double, so often at most.
    Tries(u32),
}

/// When an object is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutCondition {
    Always,
    /// Only where no object has the key.
    IfAbsent,
}

/// An object of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    pub key: String,
    pub bytes: u64,
    /// As the server writes it.
    pub modified: Option<String>,
}

/// A bucket of a server, as one account sees it. Several threads may ask at once.
pub struct S3Client {
    /// As the user wrote it.
    pub named: String,
    options: S3Options,
    bucket: Bucket,
    credentials: Credentials,
    endpoint: Endpoint,
    url: Url,
    server: HttpServer,
    stop: Stop,
    throttled: AtomicU64,
    paused_ns: AtomicU64,
}

impl S3Client {
    /// The bucket that `named` means. Nothing is asked yet.
    ///
    /// # Errors
    /// When the address is none, there are no keys, or there is no such server.
    pub fn new(named: &str, options: S3Options, stop: &Stop) -> Result<Self> {
        let wrong = |why: &dyn std::fmt::Display| MeasureError::Usage(format!("{named}: {why}"));
        let account = S3Account::of_process();
        let address = BucketAddress::read(named, &account).map_err(|why| wrong(&why))?;
        let style = match options.is_in_host {
            Some(true) => UrlStyle::VirtualHost,
            Some(false) => UrlStyle::Path,
            None => address.style(),
        };
        let base = address.server.to_string().parse();
        let base = base.map_err(|error| wrong(&error))?;
        let name = address.bucket.clone();
        let bucket = Bucket::new(base, style, name, account.region.clone());
        let bucket = bucket.map_err(|error| wrong(&error))?;
        let url = address.asked_at(style);
        let endpoint = Endpoint::of(&url, options.ca.as_deref()).map_err(|error| wrong(&error))?;
        Ok(Self {
            named: named.to_owned(),
            server: HttpServer::new(endpoint.clone(), &url),
            credentials: account.credentials.map_err(|why| wrong(&why))?,
            options,
            bucket,
            endpoint,
            url,
            stop: stop.clone(),
            throttled: AtomicU64::new(0),
            paused_ns: AtomicU64::new(0),
        })
    }

    /// The same for what must be done after a signal, too, with connections of its own.
    pub fn unstopped(&self) -> Self {
        Self {
            named: self.named.clone(),
            options: S3Options {
                backoff: Backoff::Tries(5),
                ..self.options.clone()
            },
            bucket: self.bucket.clone(),
            credentials: self.credentials.clone(),
            endpoint: self.endpoint.clone(),
            url: self.url.clone(),
            server: HttpServer::new(self.endpoint.clone(), &self.url),
            stop: Stop::never(),
            throttled: AtomicU64::new(0),
            paused_ns: AtomicU64::new(0),
        }
    }

    /// What failed, with the name of the bucket.
    pub fn failed(&self, fault: &S3Fault) -> MeasureError {
        MeasureError::Failed(format!("{}: {fault}", self.named))
    }

    /// Connections that were opened so far.
    pub fn opened(&self) -> u64 {
        self.server.opened()
    }

    /// Answers so far that asked for fewer requests, and the pauses that followed.
    pub fn throttled(&self) -> (u64, Duration) {
        let paused = self.paused_ns.load(Ordering::Relaxed);
        let count = self.throttled.load(Ordering::Relaxed);
        (count, Duration::from_nanos(paused))
    }

    /// Put an object of `len` bytes, in parts if it is large.
    ///
    /// # Errors
    /// When the server refuses, or the content cannot be read. No parts are left then, unless the
    /// server does not answer.
    pub fn put<C: Read + Seek>(
        &self,
        key: &str,
        len: u64,
        content: &mut C,
        condition: PutCondition,
    ) -> Result<(), S3Fault> {
        let headers: &[(&str, &str)] = match condition {
            PutCondition::Always => &[],
            PutCondition::IfAbsent => &[("if-none-match", "*")],
        };
        if len > self.options.part {
            return self.put_parts(key, len, content, headers);
        }
        let action = self.bucket.put_object(Some(&self.credentials), key);
        self.send(&action, headers, (content, 0, len)).map(drop)
    }

    fn put_parts<C: Read + Seek>(
        &self,
        key: &str,
        len: u64,
        content: &mut C,
        headers: &[(&str, &str)],
    ) -> Result<(), S3Fault> {
        let begun = self
            .bucket
            .create_multipart_upload(Some(&self.credentials), key);
        let body = self.ask_for_text(&begun, &[])?;
        let upload = CreateMultipartUpload::parse_response(&body);
        let upload = upload.map_err(|error| S3Fault::other("POST", &error.to_string()))?;
        let upload = upload.upload_id();
        let put = self.put_parts_of(key, upload, len, content, headers);
        if put.is_err() {
            // What it says is no news after the failure itself.
            let _ = self.abort(key, upload);
        }
        put
    }

    fn put_parts_of<C: Read + Seek>(
        &self,
        key: &str,
        upload: &str,
        len: u64,
        content: &mut C,
        headers: &[(&str, &str)],
    ) -> Result<(), S3Fault> {
        let mut tags = Vec::new();
        let starts = (0..len).step_by(usize::try_from(self.options.part).unwrap_or(usize::MAX));
        for (start, number) in starts.zip(1..) {
            let part = self.options.part.min(len - start);
            let credentials = Some(&self.credentials);
            let action = self.bucket.upload_part(credentials, key, number, upload);
            let answer = self.send(&action, &[], (content, start, part))?;
            let tag = answer.header("etag").map(str::to_owned);
            tags.push(tag.ok_or_else(|| S3Fault::other("PUT", "a part without an ETag"))?);
        }
        let tags = tags.iter().map(String::as_str);
        let credentials = Some(&self.credentials);
        let action = self
            .bucket
            .complete_multipart_upload(credentials, key, upload, tags);
        let list = action.clone().body();
        let mut body = Vec::new();
        let content = (&mut io::Cursor::new(&list), 0, list.len() as u64);
        self.ask(&action, headers, Some(content), &mut limited(&mut body))?;
        // The server may begin to answer before it knows.
        let text = String::from_utf8_lossy(&body);
        match element(&text, "Code") {
            None => Ok(()),
            Some(code) => Err(S3Fault::other("POST", &format!("status 200 {code}"))),
        }
    }

    /// End an upload, whose parts are removed.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn abort(&self, key: &str, upload: &str) -> Result<(), S3Fault> {
        let credentials = Some(&self.credentials);
        let action = self.bucket.abort_multipart_upload(credentials, key, upload);
        self.ask_for_text(&action, &[]).map(drop)
    }

    /// Get an object, or `range` of its bytes (the first, and how many). Returns when the first
    /// byte of the answer came.
    ///
    /// # Errors
    /// When the server refuses, or the sink fails.
    pub fn get(
        &self,
        key: &str,
        range: Option<(u64, u64)>,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Instant, S3Fault> {
        let action = self.bucket.get_object(Some(&self.credentials), key);
        let range = range.map(|(first, len)| format!("bytes={first}-{}", first + len - 1));
        let headers = range.as_deref().map(|range| ("range", range));
        let answer = self.ask::<_, io::Empty>(&action, headers.as_slice(), None, sink)?;
        if range.is_some() && answer.status() != 206 {
            return Err(S3Fault::other(
                "GET",
                "the whole object in place of a range",
            ));
        }
        Ok(answer.first_byte)
    }

    /// Ask for an object's length.
    ///
    /// # Errors
    /// When the server refuses.
    pub fn head(&self, key: &str) -> Result<Option<u64>, S3Fault> {
        let action = self.bucket.head_object(Some(&self.credentials), key);
        let answer = self.ask::<_, io::Empty>(&action, &[], None, &mut |_| Ok(()))?;
        Ok(answer
            .header("content-length")
            .and_then(|it| it.parse().ok()))
    }

    /// Delete an object of ours.
    ///
    /// # Errors
    /// When the server refuses.
    ///
    /// # Panics
    /// When the key is none of ours: deleting an empty one would delete the bucket.
    pub fn delete(&self, key: &str) -> Result<(), S3Fault> {
        assert!(key.starts_with(KEYS_BEGIN), "{key:?} is no key of ours");
        let action = self.bucket.delete_object(Some(&self.credentials), key);
        self.ask_for_text(&action, &[]).map(drop)
    }

    /// One page of the objects whose keys begin with `prefix`, of at most `most` where that is
    /// given, with the token for the next. `fold` gives what stands before the next slash in place
    /// of keys.
    ///
    /// # Errors
    /// When the server refuses, or answers with something else.
    pub fn list_page(
        &self,
        prefix: &str,
        token: Option<&str>,
        most: Option<u16>,
        fold: bool,
    ) -> Result<(Vec<ListedObject>, Option<String>), S3Fault> {
        let mut action = self.bucket.list_objects_v2(Some(&self.credentials));
        action.with_prefix(prefix);
        if let Some(token) = token {
            action.with_continuation_token(token);
        }
        if let Some(most) = most {
            action.with_max_keys(most.into());
        }
        if fold {
            action.with_delimiter("/");
        }
        let body = self.ask_for_text(&action, &[])?;
        let page = ListObjectsV2::parse_response(&body);
        let page = page.map_err(|error| S3Fault::other("GET", &format!("no list: {error}")))?;
        let folded = page.common_prefixes.into_iter().map(|it| ListedObject {
            key: it.prefix,
            bytes: 0,
            modified: None,
        });
        let objects = page.contents.into_iter().map(|it| ListedObject {
            key: it.key,
            bytes: it.size.unwrap_or(0),
            modified: it.last_modified,
        });
        let all = if fold {
            folded.collect()
        } else {
            objects.collect()
        };
        Ok((all, page.next_continuation_token))
    }

    /// All of them; `each` is given page by page.
    ///
    /// # Errors
    /// Those of [`Self::list_page`], and of `each`.
    pub fn list(
        &self,
        prefix: &str,
        most: Option<u16>,
        fold: bool,
        each: &mut dyn FnMut(Vec<ListedObject>) -> Result<(), S3Fault>,
    ) -> Result<(), S3Fault> {
        let mut token = None;
        loop {
            let (page, next) = self.list_page(prefix, token.as_deref(), most, fold)?;
            each(page)?;
            if next.is_none() || next == token {
                return Ok(());
            }
            token = next;
        }
    }

    /// Uploads in parts that are not finished, of keys that begin with `prefix`: key and number.
    ///
    /// # Errors
    /// When the server refuses.
    // not fuzzed: two elements are looked for by name
    pub fn uploads(&self, prefix: &str) -> Result<Vec<(String, String)>, S3Fault> {
        let query = [("uploads", ""), ("prefix", prefix)];
        let text = self.ask_of_bucket(&query)?;
        let parts = text.split("<Upload>").skip(1);
        let both = parts.filter_map(|it| Some((element(it, "Key")?, element(it, "UploadId")?)));
        Ok(both.filter(|(key, _)| key.starts_with(prefix)).collect())
    }

    /// Whether the bucket keeps what is deleted; `None` where the server does not tell.
    pub fn keeps_versions(&self) -> Option<bool> {
        let text = self.ask_of_bucket(&[("versioning", "")]).ok()?;
        Some(element(&text, "Status").as_deref() == Some("Enabled"))
    }

    fn ask_of_bucket(&self, query: &[(&'static str, &str)]) -> Result<String, S3Fault> {
        // Without a key it is the bucket that is asked.
        let mut action = self.bucket.get_object(Some(&self.credentials), "");
        for (name, value) in query {
            action.query_mut().insert(*name, (*value).to_owned());
        }
        self.ask_for_text(&action, &[])
    }

    fn ask_for_text<'a, A: S3Action<'a>>(
        &self,
        action: &A,
        headers: &[(&str, &str)],
    ) -> Result<String, S3Fault> {
        let mut body = Vec::new();
        self.ask::<_, io::Empty>(action, headers, None, &mut limited(&mut body))?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn send<'a, A: S3Action<'a>, C: Read + Seek>(
        &self,
        action: &A,
        headers: &[(&str, &str)],
        content: (&mut C, u64, u64),
    ) -> Result<HttpAnswer, S3Fault> {
        self.ask(action, headers, Some(content), &mut |_| Ok(()))
    }

    /// Ask, again where the server had closed a kept connection or wants fewer requests, and
    /// expect a good status.
    fn ask<'a, A: S3Action<'a>, C: Read + Seek>(
        &self,
        action: &A,
        headers: &[(&str, &str)],
        mut content: Option<(&mut C, u64, u64)>,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<HttpAnswer, S3Fault> {
        let tries = match self.options.backoff {
            Backoff::Never => 0,
            Backoff::Tries(tries) => tries,
        };
        let mut throttled = 0;
        let mut is_stale = false;
        loop {
            let content = content.as_mut().map(|(it, at, len)| (&mut **it, *at, *len));
            let fault = match self.ask_once(action, headers, content, sink) {
                Ok(answer) => return Ok(answer),
                Err(Refusal::Stale(_)) if !is_stale => {
                    is_stale = true;
                    continue;
                }
                Err(Refusal::Stale(fault) | Refusal::Final(fault)) => fault,
            };
            if !fault.is_throttled() {
                return Err(fault);
            }
            self.throttled.fetch_add(1, Ordering::Relaxed);
            if throttled == tries || !self.pause(throttled, fault.retry_after) {
                return Err(fault);
            }
            throttled += 1;
        }
    }

    /// Leave the server alone; says whether to go on.
    fn pause(&self, before: u32, asked: Option<Duration>) -> bool {
        let doubled = PAUSE.saturating_mul(1 << before.min(16)).min(PAUSE_MAX);
        // Clients that were refused together must not come back together.
        let begun = Instant::now();
        let part = (self.throttled.load(Ordering::Relaxed) * 618 % 1000) as u32;
        let span = asked.unwrap_or(doubled / 2 + doubled / 2 * part / 1000);
        while begun.elapsed() < span && self.stop.is_raised().is_none() {
            std::thread::sleep(SLICE.min(span.saturating_sub(begun.elapsed())));
        }
        let paused = begun.elapsed().as_nanos() as u64;
        self.paused_ns.fetch_add(paused, Ordering::Relaxed);
        self.stop.is_raised().is_none()
    }

    fn ask_once<'a, A: S3Action<'a>, C: Read + Seek>(
        &self,
        action: &A,
        headers: &[(&str, &str)],
        content: Option<(&mut C, u64, u64)>,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<HttpAnswer, Refusal> {
        let method = A::METHOD.to_str();
        let signed = action.sign(SIGNED_FOR);
        let path = format!("{}?{}", signed.path(), signed.query().unwrap_or_default());
        let is_stopped = || self.stop.is_raised().is_some();
        let patience = Patience {
            timeout: self.options.timeout,
            is_stopped: &is_stopped,
        };
        let mut complaint = Vec::new();
        let mut keep = |status: u16, piece: &[u8]| {
            if (200..300).contains(&status) {
                return sink(piece);
            }
            let left = COMPLAINT_BYTES.saturating_sub(complaint.len());
            complaint.extend_from_slice(&piece[..piece.len().min(left)]);
            Ok(())
        };
        let request = HttpRequest {
            method,
            path: &path,
            headers,
        };
        let mut held;
        let body = match content {
            None => None,
            Some((content, start, len)) => {
                let at_start = content.seek(SeekFrom::Start(start));
                at_start.map_err(|error| S3Fault::other(method, &error.to_string()))?;
                held = content;
                Some(Body {
                    len,
                    content: &mut held,
                })
            }
        };
        let answer = self.server.ask(request, body, &patience, &mut keep);
        let answer = answer.map_err(|error| {
            let fault = S3Fault::no_answer(method, &error);
            match error.is_stale {
                true => Refusal::Stale(fault),
                false => Refusal::Final(fault),
            }
        })?;
        match answer.status() {
            200..300 => Ok(answer),
            _ => Err(S3Fault::of_answer(method, &answer, &complaint).into()),
        }
    }
}

/// Why one request failed.
enum Refusal {
    /// The server had closed a kept connection.
    Stale(S3Fault),
    Final(S3Fault),
}

impl From<S3Fault> for Refusal {
    fn from(fault: S3Fault) -> Self {
        Self::Final(fault)
    }
}

/// Keeps the body of an answer that is no object.
fn limited(body: &mut Vec<u8>) -> impl FnMut(&[u8]) -> io::Result<()> {
    |piece| match body.len() + piece.len() > BODY_BYTES_MAX {
        true => Err(io::Error::other("an answer of more than 64 MiB")),
        false => body.write_all(piece),
    }
}
