//! A bucket as a store of files: `s3:https://HOST/BUCKET`, or `s3://HOST:PORT/BUCKET` in clear. A
//! failure is a failure: nothing is tried again.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::client::{PutCondition, S3Client};
use super::fault::S3Fault;
use super::prefix::{MARKER, RunPrefix, plain_options};
use crate::measure::Stop;
use crate::measure::place::{MeasureError, Result};
use crate::measure::store::{Store, StoreContent};

/// Objects of ours in a bucket.
struct S3Store {
    client: Arc<S3Client>,
    /// None once it is closed.
    prefix: Mutex<Option<RunPrefix>>,
    name: String,
}

/// The bucket that `named` means, with a prefix of our own in it. An encrypted server is checked
/// against the authorities in `ca`, or the system's.
///
/// # Errors
/// When the address is none, the keys are missing, or the server refuses.
pub fn open_bucket(named: &str, ca: Option<&Path>, seed: u64) -> Result<Box<dyn Store>> {
    let client = Arc::new(S3Client::new(named, plain_options(ca), &Stop::never())?);
    let prefix = RunPrefix::claim(Arc::clone(&client), seed)?;
    Ok(Box::new(S3Store {
        name: prefix.name().to_owned(),
        prefix: Mutex::new(Some(prefix)),
        client,
    }))
}

impl S3Store {
    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.name)
    }

    fn failed(&self) -> impl Fn(S3Fault) -> MeasureError {
        |fault| self.client.failed(&fault)
    }
}

impl Store for S3Store {
    fn put(&self, name: &str, len: u64, mut content: &mut dyn StoreContent) -> Result<()> {
        let key = self.key(name);
        let put = self
            .client
            .put(&key, len, &mut content, PutCondition::Always);
        put.map_err(self.failed())
    }

    fn get(&self, name: &str, sink: &mut dyn Write) -> Result<u64> {
        let mut bytes = 0;
        let mut keep = |piece: &[u8]| -> io::Result<()> {
            bytes += piece.len() as u64;
            sink.write_all(piece)
        };
        let got = self.client.get(&self.key(name), None, &mut keep);
        got.map_err(self.failed())?;
        Ok(bytes)
    }

    fn list(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let listed = self.client.list(&self.name, None, false, &mut |page| {
            let keys = page.iter().filter_map(|it| it.key.strip_prefix(&self.name));
            names.extend(keys.filter(|it| *it != MARKER).map(str::to_owned));
            Ok(())
        });
        listed.map_err(self.failed())?;
        names.sort();
        Ok(names)
    }

    /// This machine keeps nothing of it; what the server's memory holds is the server's affair.
    fn cool(&self) -> Result<()> {
        Ok(())
    }

    fn close(&self) -> Result<()> {
        let mut prefix = self.prefix.lock().unwrap_or_else(PoisonError::into_inner);
        prefix.take().map_or(Ok(()), RunPrefix::remove)
    }
}
