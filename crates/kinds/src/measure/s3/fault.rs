//! What a server answers in place of what was asked for, or that it does not answer.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use network::http::{HttpAnswer, NoAnswer};

/// What is repeated of a server's message.
const MESSAGE_BYTES: usize = 200;
/// Answers by which a server asks for fewer requests.
const THROTTLED_STATUS: [u16; 2] = [429, 503];
const RETRY_AFTER_MAX: Duration = Duration::from_secs(20);

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Fault {
    method: &'static str,
    /// 0 where there is no whole answer.
    status: u16,
    /// The server's own name for it, such as `NoSuchBucket`; or what happened on the way.
    code: String,
    message: String,
    /// What to do, where that is known.
    advice: Option<String>,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl S3Fault {
    pub(super) fn no_answer(method: &'static str, error: &NoAnswer) -> Self {
        Self::other(method, &error.cause)
    }

    /// What came was whole, and is not what S3 answers.
    pub(super) fn other(method: &'static str, what: &str) -> Self {
        Self {
            method,
            status: 0,
            code: what.into(),
            message: String::new(),
            advice: None,
            retry_after: None,
        }
    }

    /// An answer whose status is no success, with the beginning of its body.
    // not fuzzed: two elements are looked for by name
    pub(super) fn of_answer(method: &'static str, answer: &HttpAnswer, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let code = element(&text, "Code").unwrap_or_else(|| match answer.status() {
            404 => "NotFound".into(),
            _ => String::new(),
        });
        let message = element(&text, "Message").unwrap_or_default();
        let seconds = answer.header("retry-after").and_then(|it| it.parse().ok());
        Self {
            method,
            status: answer.status(),
            advice: advice(answer, &code),
            retry_after: seconds
                .map(Duration::from_secs)
                .map(|it| it.min(RETRY_AFTER_MAX)),
            message: shortened(&message),
            code,
        }
    }

    /// Whether the server asks for fewer requests.
    pub fn is_throttled(&self) -> bool {
        THROTTLED_STATUS.contains(&self.status) || self.code == "SlowDown"
    }

    /// Whether nothing is there.
    pub const fn is_missing(&self) -> bool {
        self.status == 404
    }

    /// Whether the server has no such request.
    pub const fn is_unsupported(&self) -> bool {
        matches!(self.status, 400 | 405 | 501)
    }

    /// What it is counted as: `PUT: status 503 SlowDown`.
    pub fn class(&self) -> String {
        let Self {
            method,
            status,
            code,
            ..
        } = self;
        match status {
            0 => format!("{method}: {code}"),
            _ => format!("{method}: status {status} {code}")
                .trim_end()
                .into(),
        }
    }
}

impl fmt::Display for S3Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.class())?;
        match (&self.advice, self.message.as_str()) {
            (Some(advice), _) => write!(f, ": {advice}"),
            (None, "") => Ok(()),
            (None, message) => write!(f, ": {message}"),
        }
    }
}

fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MESSAGE_BYTES).collect()
}

/// The text of the first element of that name.
pub(super) fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (found, _) = rest.split_once(&format!("</{name}>"))?;
    Some(found.to_owned())
}

fn advice(answer: &HttpAnswer, code: &str) -> Option<String> {
    if let Some(region) = answer.header("x-amz-bucket-region")
        && matches!(answer.status(), 301 | 307 | 400)
    {
        return Some(format!(
            "the bucket is in {region}. Set AWS_REGION={region}"
        ));
    }
    let advice = match code {
        "NoSuchBucket" => "no such bucket. Create it first: Seekstone creates none",
        "InvalidAccessKeyId" => {
            "the server does not know the access key. Check AWS_ACCESS_KEY_ID or the profile"
        }
        "SignatureDoesNotMatch" => {
            "the secret key is wrong, or a proxy changes the host. Check AWS_SECRET_ACCESS_KEY"
        }
        "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
            "the session token has expired or is none. Get new keys, and set AWS_SESSION_TOKEN"
        }
        "RequestTimeTooSkewed" | "RequestExpired" | "RequestInTheFuture" => {
            return Some(skew(answer.header("date")));
        }
        "AccessDenied" => {
            "access denied. Allow s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject, \
             s3:DeleteObject and s3:AbortMultipartUpload on seekstone-* in it"
        }
        _ if THROTTLED_STATUS.contains(&answer.status()) => {
            "the store asks for fewer requests. Use fewer clients, or a lower rate"
        }
        "PreconditionFailed" => "an object of this key is there already",
        _ => return None,
    };
    Some(advice.into())
}

/// By how much the clocks differ, of which the server has told its own.
fn skew(date: Option<&str>) -> String {
    let theirs = date.and_then(|it| jiff::fmt::rfc2822::parse(it).ok());
    let apart = theirs.map(|it| Timestamp::now().as_second() - it.timestamp().as_second());
    let how = match apart {
        Some(ahead @ 1..) => format!("{ahead} s ahead of"),
        Some(behind @ ..=-1) => format!("{} s behind", -behind),
        _ => "too far from".into(),
    };
    format!("this machine's clock is {how} the server's. Set it")
}
