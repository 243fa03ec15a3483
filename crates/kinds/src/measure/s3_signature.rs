//! Addresses that an S3 server believes: AWS signature version 4, in the query of the address.
//!
//! Source: "Authenticating requests: using query parameters" in Amazon's S3 API reference, whose
//! example is a test here.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Who signs, for which server.
#[derive(Clone)]
pub(super) struct Signer {
    /// The server as requests name it, such as `127.0.0.1:5000`.
    pub host: String,
    /// The server's region, such as `us-east-1`.
    pub region: String,
    /// The public half of the key.
    pub key: String,
    /// The secret half.
    pub secret: String,
}

impl Signer {
    /// `path`, with its `query` and a signature that holds for `seconds` from `now` on, which is
    /// written as in `20130524T000000Z`.
    pub fn sign(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        now: &str,
        seconds: u32,
    ) -> String {
        let day = now.get(..8).unwrap_or(now);
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let credential = format!("{}/{scope}", self.key);
        let expires = seconds.to_string();
        let own = [
            ("X-Amz-Algorithm", ALGORITHM),
            ("X-Amz-Credential", credential.as_str()),
            ("X-Amz-Date", now),
            ("X-Amz-Expires", expires.as_str()),
            ("X-Amz-SignedHeaders", "host"),
        ];
        let mut pairs: Vec<(String, String)> = query
            .iter()
            .chain(&own)
            .map(|(name, value)| (encoded(name, ""), encoded(value, "")))
            .collect();
        pairs.sort();
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let (path, query) = (encoded(path, "/"), pairs.join("&"));
        let host = &self.host;
        let request = format!("{method}\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD");
        let digest = hex(&Sha256::digest(request.as_bytes()));
        let text = format!("{ALGORITHM}\n{now}\n{scope}\n{digest}");
        let first = format!("AWS4{}", self.secret).into_bytes();
        let parts = [day, self.region.as_str(), "s3", "aws4_request"];
        let key = parts
            .iter()
            .fold(first, |key, part| authenticated(&key, part));
        let signature = hex(&authenticated(&key, &text));
        format!("{path}?{query}&X-Amz-Signature={signature}")
    }
}

fn authenticated(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Percent signs for all but letters, digits, `-`, `.`, `_`, `~` and what is `kept`.
fn encoded(text: &str, kept: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| match char::from(byte) {
            it if is_plain(byte) || kept.contains(it) => it.to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_reference_comes_out() {
        let signer = Signer {
            host: "examplebucket.s3.amazonaws.com".into(),
            region: "us-east-1".into(),
            key: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
        };
        let signed = signer.sign("GET", "/test.txt", &[], "20130524T000000Z", 86400);
        let expected = "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
            &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
            &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
            &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
        assert_eq!(signed, expected);
    }

    #[test]
    fn what_would_break_an_address_is_encoded() {
        assert_eq!(encoded("a/b c~\u{e4}", "/"), "a/b%20c~%C3%A4");
        assert_eq!(encoded("a/b", ""), "a%2Fb");
    }
}
