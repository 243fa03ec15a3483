//! Where a bucket is.

use network::url::{Protocol, Url};
use rusty_s3::UrlStyle;

use super::account::S3Account;
use crate::measure::store::S3_PREFIX;

const FORM: &str = "Write s3:https://HOST/BUCKET, s3://HOST:PORT/BUCKET for a server in clear, or \
                    s3://BUCKET for the server in AWS_ENDPOINT_URL or Amazon's";
/// How the names of Amazon's servers end.
const AMAZON: &str = ".amazonaws.com";

/// A server and a bucket of its.
#[derive(Debug)]
pub struct BucketAddress {
    /// With the path `/`.
    pub server: Url,
    pub bucket: String,
}

impl BucketAddress {
    /// What `named` means; the account knows the server where it names none.
    ///
    /// # Errors
    /// When it is no address, with the forms that there are.
    // not fuzzed: the address itself is read by network::url
    pub fn read(named: &str, account: &S3Account) -> Result<Self, String> {
        let rest = named.strip_prefix(S3_PREFIX).unwrap_or(named);
        let (server, path) = match rest.strip_prefix("//") {
            None => (rest.to_owned(), None),
            Some(clear) => match clear.split_once('/') {
                Some((host, bucket)) if host.contains(':') => {
                    (format!("http://{host}/{bucket}"), None)
                }
                None if clear.contains(':') => return Err(FORM.to_owned()),
                None => (named_server(account), Some(clear)),
                Some((bucket, "")) => (named_server(account), Some(bucket)),
                Some(("", _)) => return Err(FORM.to_owned()),
                Some((first, second)) => {
                    return Err(format!(
                        "{first} may be a bucket or a server. Write s3://{first} for the \
                         bucket, whose prefix is the run's own, or \
                         s3:http://{first}/{second} for the server"
                    ));
                }
            },
        };
        let url = Url::parse(&server).map_err(|_| format!("names no bucket. {FORM}"))?;
        let bucket = path.unwrap_or(&url.path).trim_matches('/').to_owned();
        // A name may have points, but none that walks up.
        let mut parts = bucket.split('.');
        let is_name = !bucket.contains(['/', '?', '#']) && parts.all(|part| !part.is_empty());
        if url.protocol == Protocol::Ftp || !is_name {
            return Err(FORM.to_owned());
        }
        Ok(Self {
            server: Url {
                // As it is signed.
                host: url.host.to_ascii_lowercase(),
                ..url.with_path("/")
            },
            bucket,
        })
    }

    /// The style that fits the server: Amazon's own have the bucket in the host, unless its name
    /// has points, which no certificate matches.
    pub fn style(&self) -> UrlStyle {
        let is_amazon = self.server.host.ends_with(AMAZON);
        match is_amazon && !self.bucket.contains('.') {
            true => UrlStyle::VirtualHost,
            false => UrlStyle::Path,
        }
    }

    /// The server that requests go to: in Amazon's newer style the bucket is a part of its name.
    pub fn asked_at(&self, style: UrlStyle) -> Url {
        let server = self.server.clone();
        match style {
            UrlStyle::Path => server,
            UrlStyle::VirtualHost => Url {
                host: format!("{}.{}", self.bucket, server.host),
                ..server
            },
        }
    }
}

/// The server that an account names, or Amazon's.
fn named_server(account: &S3Account) -> String {
    let amazon = || format!("https://s3.{}{AMAZON}", account.region);
    account.endpoint.clone().unwrap_or_else(amazon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(endpoint: Option<&str>) -> S3Account {
        S3Account {
            credentials: Err(String::new()),
            region: "eu-west-1".into(),
            endpoint: endpoint.map(str::to_owned),
        }
    }

    #[test]
    fn an_address_is_read() {
        let check = |named: &str, endpoint, server: &str, bucket: &str| {
            let found = BucketAddress::read(named, &account(endpoint)).expect(named);
            let style = matches!(found.style(), UrlStyle::VirtualHost);
            assert_eq!(
                (found.server.to_string().as_str(), found.bucket.as_str()),
                (server, bucket)
            );
            assert_eq!(style, server.contains("amazonaws") && bucket == "b");
        };
        check("s3://host:81/b", None, "http://host:81/", "b");
        check("s3:http://host/b/", None, "http://host/", "b");
        check(
            "s3:https://S3.Example.com/b",
            None,
            "https://s3.example.com/",
            "b",
        );
        let amazon = "https://s3.eu-west-1.amazonaws.com/";
        check("s3://b", None, amazon, "b");
        check("s3://my.b/", None, amazon, "my.b");
        check(
            "s3://b",
            Some("http://[::1]:9000"),
            "http://[::1]:9000/",
            "b",
        );
    }

    /// What is connected to must be what is signed.
    #[test]
    fn requests_go_to_the_host_that_is_signed() {
        let address = BucketAddress::read("s3:https://host:81/b", &account(None)).expect("one");
        for style in [UrlStyle::Path, UrlStyle::VirtualHost] {
            let base = address.server.to_string().parse().expect("an address");
            let bucket = rusty_s3::Bucket::new(base, style, "b", "r").expect("a bucket");
            let url = address.asked_at(style);
            assert_eq!(Some(url.host.as_str()), bucket.base_url().host_str());
            assert_eq!(Some(url.port), bucket.base_url().port());
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused_with_the_forms() {
        let why = |named: &str| {
            let read = BucketAddress::read(named, &account(None));
            read.map(drop).expect_err(named)
        };
        for named in [
            "s3://",
            "s3://host:81",
            "s3://host:81/",
            "s3://host:81/a/b",
            "s3:///bucket",
            "s3://host:81/..",
            "s3:http://host/b?acl",
            "s3:ftp://host/bucket",
            "s3:host/bucket",
        ] {
            assert!(why(named).contains(FORM), "{named}: {}", why(named));
        }
        let unclear = why("s3://a/b");
        assert!(unclear.contains("s3://a for") && unclear.contains("s3:http://a/b"));
    }
}
