//! A bucket of an S3 server as a store: `s3://HOST:PORT/BUCKET`.
//!
//! Requests are signed for one hour each (AWS signature version 4, in the address) and sent over
//! plain HTTP by our own client, which never tries again by itself: a failure is a failure.

use std::collections::BTreeSet;
use std::env;
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use network::Endpoint;
use network::http::{Body, HttpServer};
use network::patience::Patience;
use network::url::Url;

use super::place::MeasureError;
use super::s3_signature::Signer;
use super::store::Store;

/// How an address of a bucket begins.
pub const S3_PREFIX: &str = "s3://";
const KEY: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const REGION: &str = "AWS_REGION";
const REGION_DEFAULT: &str = "us-east-1";
/// How long a signed request may be used.
const SIGNED_FOR_SECONDS: u32 = 3600;
const TIMEOUT: Duration = Duration::from_secs(60);
/// What is repeated of a server's complaint.
const REASON_BYTES: usize = 300;

/// Objects of ours in a bucket, all beneath a name of this run's own.
pub struct S3Store {
    /// As the user wrote it.
    named: String,
    bucket: String,
    signer: Signer,
    server: HttpServer,
    prefix: String,
    names: Mutex<BTreeSet<String>>,
}

impl S3Store {
    /// The bucket that `named` means; it is asked for what it holds beneath our name.
    ///
    /// # Errors
    /// When the address is none, the keys are missing, or the server refuses.
    pub fn open(named: &str, seed: u64) -> Result<Self, MeasureError> {
        let wrong = |why: &str| MeasureError::Usage(format!("store = {named:?}: {why}"));
        let rest = named.strip_prefix(S3_PREFIX).unwrap_or(named);
        let (server, bucket) = rest
            .split_once('/')
            .map(|(server, bucket)| (server, bucket.trim_end_matches('/')))
            .filter(|(_, bucket)| !bucket.is_empty() && !bucket.contains('/'))
            .ok_or_else(|| wrong("write s3://HOST:PORT/BUCKET"))?;
        let endpoint = format!("http://{server}/");
        let url = Url::parse(&endpoint).map_err(|error| wrong(&error.to_string()))?;
        let variable = |name: &str| {
            let found = env::var(name).ok().filter(|it| !it.is_empty());
            found.ok_or_else(|| wrong(&format!("set {KEY} and {SECRET}; {name} is not set")))
        };
        let store = Self {
            named: named.to_owned(),
            bucket: bucket.to_owned(),
            signer: Signer {
                host: url.authority(),
                region: env::var(REGION).unwrap_or_else(|_| REGION_DEFAULT.into()),
                key: variable(KEY)?,
                secret: variable(SECRET)?,
            },
            server: HttpServer::new(
                Endpoint::of(&url, None).map_err(|error| wrong(&error.to_string()))?,
                &url,
            ),
            prefix: format!("seekstone-{}-{seed:016x}/", std::process::id()),
            names: Mutex::default(),
        };
        match store.list()?.is_empty() {
            true => Ok(store),
            false => Err(wrong(
                "it holds objects of this very name: use another seed",
            )),
        }
    }

    fn names(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path of an object of ours.
    fn object(&self, name: &str) -> String {
        format!("/{}/{}{name}", self.bucket, self.prefix)
    }

    /// Ask, and expect a good status.
    fn ask(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        body: Option<Body<'_>>,
        sink: &mut dyn Write,
    ) -> Result<(), MeasureError> {
        let failed =
            |cause: String| MeasureError::Failed(format!("{}: {method}: {cause}", self.named));
        let now = jiff::Timestamp::now()
            .strftime("%Y%m%dT%H%M%SZ")
            .to_string();
        let signed = self
            .signer
            .sign(method, path, query, &now, SIGNED_FOR_SECONDS);
        let patience = Patience {
            timeout: TIMEOUT,
            is_stopped: &|| false,
        };
        let mut complaint = Vec::new();
        let mut keep = |status: u16, piece: &[u8]| {
            if (200..300).contains(&status) {
                return sink.write_all(piece);
            }
            let room = REASON_BYTES.saturating_sub(complaint.len());
            complaint.extend_from_slice(&piece[..piece.len().min(room)]);
            Ok(())
        };
        let asked = self.server.ask(method, &signed, body, &patience, &mut keep);
        match asked.map_err(failed)? {
            200..300 => Ok(()),
            status => {
                let reason = String::from_utf8_lossy(&complaint);
                let reason: Vec<&str> = reason.split_whitespace().collect();
                Err(failed(format!("status {status}: {}", reason.join(" "))))
            }
        }
    }

    fn delete(&self, name: &str) -> Result<(), MeasureError> {
        let path = self.object(name);
        self.ask("DELETE", &path, &[], None, &mut std::io::sink())
    }

    /// What is put and has not been removed; the first failure.
    fn remove_all(&self) -> Result<(), MeasureError> {
        let names = std::mem::take(&mut *self.names());
        let ends: Vec<_> = names.iter().map(|name| self.delete(name)).collect();
        ends.into_iter().collect()
    }
}

impl Store for S3Store {
    fn put(&self, name: &str, len: u64, content: &mut dyn Read) -> Result<(), MeasureError> {
        self.names().insert(name.to_owned());
        let body = Some(Body { len, content });
        self.ask("PUT", &self.object(name), &[], body, &mut std::io::sink())
    }

    fn get(&self, name: &str, sink: &mut dyn Write) -> Result<u64, MeasureError> {
        let mut counted = Counted { sink, bytes: 0 };
        self.ask("GET", &self.object(name), &[], None, &mut counted)?;
        Ok(counted.bytes)
    }

    fn list(&self) -> Result<Vec<String>, MeasureError> {
        let mut names = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut query = vec![("list-type", "2"), ("prefix", self.prefix.as_str())];
            if let Some(token) = &token {
                query.push(("continuation-token", token));
            }
            let mut page = Vec::new();
            let path = format!("/{}", self.bucket);
            self.ask("GET", &path, &query, None, &mut page)?;
            let page = String::from_utf8_lossy(&page);
            let keys = elements(&page, "Key");
            let own = keys.filter_map(|key| key.split_once('/').map(|(_, name)| name.to_owned()));
            names.extend(own);
            token = elements(&page, "NextContinuationToken")
                .next()
                .map(str::to_owned);
            if token.is_none() {
                names.sort();
                return Ok(names);
            }
        }
    }

    fn remove(&self, name: &str) -> Result<(), MeasureError> {
        self.delete(name)?;
        self.names().remove(name);
        Ok(())
    }

    /// This machine keeps nothing of it; what the server's memory holds is the server's affair.
    fn cool(&self) -> Result<(), MeasureError> {
        Ok(())
    }

    fn close(&self) -> Result<(), MeasureError> {
        self.remove_all()?;
        match self.list()?.first() {
            None => Ok(()),
            Some(name) => Err(MeasureError::Failed(format!(
                "{}: {}{name} is left, and was to be removed",
                self.named, self.prefix
            ))),
        }
    }
}

impl Drop for S3Store {
    fn drop(&mut self) {
        // After a failure; whoever is interested has closed it.
        let _ = self.remove_all();
    }
}

/// Writes on, and counts.
struct Counted<'a> {
    sink: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.sink.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

/// The texts of all elements of that name. Our names need no decoding.
fn elements<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(&open)? + open.len();
        let end = start + rest[start..].find(&close)?;
        let found = &rest[start..end];
        rest = &rest[end..];
        Some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_a_listing() {
        let text = "<A><Key>p/f1</Key><C><Key>p/f2</Key></C></A><NextContinuationToken>t</Ne";
        assert_eq!(elements(text, "Key").collect::<Vec<_>>(), ["p/f1", "p/f2"]);
        assert_eq!(elements(text, "NextContinuationToken").next(), None);
    }

    #[test]
    fn an_address_that_is_none_is_told() {
        for named in [
            "s3://",
            "s3://host",
            "s3://host/",
            "s3://host/a/b",
            "s3:///bucket",
        ] {
            let error = S3Store::open(named, 1).err().expect(named).to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
