//! A bucket of an S3 server as a store: `s3:https://HOST/BUCKET`, or `s3://HOST:PORT/BUCKET` in
//! clear.
//!
//! `rusty-s3` signs requests for one hour each (AWS signature version 4, in the address) and reads
//! listings. Our own client sends them, and never tries again by itself: a failure is a failure.

use std::collections::BTreeSet;
use std::env;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use network::Endpoint;
use network::http::{Body, HttpServer};
use network::patience::Patience;
use network::url::{Protocol, Url};
use rusty_s3::actions::ListObjectsV2;
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};

use super::place::MeasureError;
use super::store::{S3_PREFIX, Store};

const FORM: &str = "Write s3:https://HOST/BUCKET, or s3://HOST:PORT/BUCKET for a server in clear";
const NO_KEYS: &str = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
const REGION: &str = "AWS_REGION";
const REGION_DEFAULT: &str = "us-east-1";
/// How long a signed request may be used.
const SIGNED_FOR: Duration = Duration::from_secs(3600);
const TIMEOUT: Duration = Duration::from_secs(60);
/// What is repeated of a server's complaint.
const REASON_BYTES: usize = 300;

/// Objects of ours in a bucket, all beneath a name of this run's own.
struct S3Store {
    /// As the user wrote it.
    named: String,
    bucket: Bucket,
    credentials: Credentials,
    server: HttpServer,
    prefix: String,
    names: Mutex<BTreeSet<String>>,
}

/// The bucket that `named` means; it is asked for what it holds beneath our name. An encrypted
/// server is checked against the authorities in `ca`, or the system's.
///
/// # Errors
/// When the address is none, the keys are missing, or the server refuses.
pub fn open_bucket(
    named: &str,
    ca: Option<&Path>,
    seed: u64,
) -> Result<Box<dyn Store>, MeasureError> {
    let wrong = |why: &str| MeasureError::Usage(format!("store = {named:?}: {why}"));
    let (url, name) = read_address(named).map_err(|why| wrong(&why))?;
    let endpoint = Endpoint::of(&url, ca).map_err(|error| wrong(&error.to_string()))?;
    let base = url.to_string().parse();
    let base = base.map_err(|error| wrong(&format!("{error}. {FORM}")))?;
    let region = env::var(REGION).unwrap_or_else(|_| REGION_DEFAULT.into());
    let bucket = Bucket::new(base, UrlStyle::Path, name, region);
    let store = S3Store {
        named: named.to_owned(),
        bucket: bucket.map_err(|error| wrong(&error.to_string()))?,
        credentials: Credentials::from_env().ok_or_else(|| wrong(NO_KEYS))?,
        server: HttpServer::new(endpoint, &url),
        prefix: format!("seekstone-{}-{seed:016x}/", std::process::id()),
        names: Mutex::default(),
    };
    match store.list()?.is_empty() {
        true => Ok(Box::new(store)),
        false => Err(wrong(
            "it holds objects of this very name: use another seed",
        )),
    }
}

/// The server and the name of the bucket.
fn read_address(named: &str) -> Result<(Url, String), String> {
    let rest = named.strip_prefix(S3_PREFIX).unwrap_or(named);
    let clear = if rest.starts_with("//") { "http:" } else { "" };
    let url = Url::parse(&format!("{clear}{rest}"));
    let url = url.map_err(|error| format!("{error}. {FORM}"))?;
    let bucket = url.path.trim_matches('/').to_owned();
    if url.protocol == Protocol::Ftp || bucket.is_empty() || bucket.contains('/') {
        return Err(FORM.to_owned());
    }
    let server = Url {
        // As it is signed.
        host: url.host.to_ascii_lowercase(),
        ..url.with_path("/")
    };
    Ok((server, bucket))
}

impl S3Store {
    fn names(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of an object of ours.
    fn object(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Ask, and expect a good status.
    fn ask<'a, A: S3Action<'a>>(
        &self,
        action: &A,
        body: Option<Body<'_>>,
        sink: &mut dyn Write,
    ) -> Result<(), MeasureError> {
        let method = A::METHOD.to_str();
        let failed =
            |cause: String| MeasureError::Failed(format!("{}: {method}: {cause}", self.named));
        let signed = action.sign(SIGNED_FOR);
        let path = format!("{}?{}", signed.path(), signed.query().unwrap_or_default());
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
        let asked = self.server.ask(method, &path, body, &patience, &mut keep);
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
        let object = self.object(name);
        let action = self.bucket.delete_object(Some(&self.credentials), &object);
        self.ask(&action, None, &mut std::io::sink())
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
        let object = self.object(name);
        let action = self.bucket.put_object(Some(&self.credentials), &object);
        let body = Some(Body { len, content });
        self.ask(&action, body, &mut std::io::sink())
    }

    fn get(&self, name: &str, sink: &mut dyn Write) -> Result<u64, MeasureError> {
        let mut counted = Counted { sink, bytes: 0 };
        let object = self.object(name);
        let action = self.bucket.get_object(Some(&self.credentials), &object);
        self.ask(&action, None, &mut counted)?;
        Ok(counted.bytes)
    }

    fn list(&self) -> Result<Vec<String>, MeasureError> {
        let mut names = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut action = self.bucket.list_objects_v2(Some(&self.credentials));
            action.with_prefix(self.prefix.as_str());
            if let Some(token) = token {
                action.with_continuation_token(token);
            }
            let mut page = Vec::new();
            self.ask(&action, None, &mut page)?;
            let page = ListObjectsV2::parse_response(&String::from_utf8_lossy(&page));
            let page = page.map_err(|error| {
                MeasureError::Failed(format!("{}: no listing: {error}", self.named))
            })?;
            let keys = page.contents.iter().map(|it| it.key.as_str());
            let own = keys.filter_map(|key| key.strip_prefix(&self.prefix));
            names.extend(own.map(str::to_owned));
            token = page.next_continuation_token;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read() {
        let check = |named: &str, server: &str, bucket: &str| {
            let (url, name) = read_address(named).expect(named);
            assert_eq!((url.to_string().as_str(), name.as_str()), (server, bucket));
        };
        check("s3://host:81/b", "http://host:81/", "b");
        check("s3:http://host/b/", "http://host/", "b");
        check(
            "s3:https://S3.Example.com/b",
            "https://s3.example.com/",
            "b",
        );
    }

    #[test]
    fn an_address_that_is_none_is_told() {
        for named in [
            "s3://",
            "s3://host",
            "s3://host/",
            "s3://host/a/b",
            "s3:///bucket",
            "s3:ftp://host/bucket",
            "s3:host/bucket",
        ] {
            let error = open_bucket(named, None, 1).err().expect(named).to_string();
            assert!(error.contains(named) && error.contains(FORM), "{error}");
        }
    }
}
