//! Who asks: keys, region and server, from where Amazon's own tools take them.
//!
//! In their order: the environment, `~/.aws/credentials`, `~/.aws/config` with the profile that
//! `AWS_PROFILE` names, and the address that a container is given. Keys are never shown.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::time::Duration;

use network::Endpoint;
use network::http::{HttpRequest, HttpServer};
use network::patience::Patience;
use network::url::Url;
use rusty_s3::Credentials;

const REGION_DEFAULT: &str = "us-east-1";
const PROFILE_DEFAULT: &str = "default";
/// Where containers ask for keys whose address is a path alone (Amazon ECS).
const CONTAINER_SERVER: &str = "http://169.254.170.2";
const CONTAINER_TIMEOUT: Duration = Duration::from_secs(5);
/// What a profile may say instead of keys.
const OTHER_WAYS: [&str; 5] = [
    "sso_session",
    "sso_start_url",
    "credential_process",
    "role_arn",
    "web_identity_token_file",
];

/// What is known of who asks.
pub struct S3Account {
    pub credentials: Result<Credentials, String>,
    pub region: String,
    /// The server, where one is named.
    pub endpoint: Option<String>,
}

/// The environment and the files of a user.
pub(super) struct AccountSources<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub file: &'a dyn Fn(PathBuf) -> Option<String>,
}

impl S3Account {
    /// That of this process.
    pub fn of_process() -> Self {
        Self::of(&AccountSources {
            variable: &|name| env::var(name).ok(),
            file: &|path| std::fs::read_to_string(path).ok(),
        })
    }

    pub(super) fn of(sources: &AccountSources<'_>) -> Self {
        let variable = |name: &str| {
            let value = (sources.variable)(name)?;
            (!value.trim().is_empty()).then_some(value)
        };
        let name = variable("AWS_PROFILE").unwrap_or_else(|| PROFILE_DEFAULT.into());
        let profile = profile_of(&name, sources);
        let of_profile = |key: &str| profile.get(key).cloned();
        let region = ["AWS_REGION", "AWS_DEFAULT_REGION"];
        let region = region.into_iter().find_map(variable);
        let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];
        let endpoint = endpoint.into_iter().find_map(variable);
        let keys = |key: Option<String>, secret: Option<String>, token: Option<String>| {
            let (key, secret) = (key?, secret?);
            Some(match token {
                Some(token) => Credentials::new_with_token(key, secret, token),
                None => Credentials::new(key, secret),
            })
        };
        let typed = keys(
            variable("AWS_ACCESS_KEY_ID"),
            variable("AWS_SECRET_ACCESS_KEY"),
            variable("AWS_SESSION_TOKEN"),
        );
        let kept = || {
            keys(
                of_profile("aws_access_key_id"),
                of_profile("aws_secret_access_key"),
                of_profile("aws_session_token"),
            )
        };
        let found = typed.or_else(kept).map(Ok);
        let found = found.or_else(|| of_container(&variable, sources));
        Self {
            credentials: found.unwrap_or_else(|| Err(no_keys(&name, &profile))),
            region: region
                .or_else(|| of_profile("region"))
                .unwrap_or_else(|| REGION_DEFAULT.into()),
            endpoint: endpoint.or_else(|| of_profile("endpoint_url")),
        }
    }
}

fn no_keys(name: &str, profile: &BTreeMap<String, String>) -> String {
    let other = OTHER_WAYS.into_iter().find(|it| profile.contains_key(*it));
    match other {
        Some(way) => format!(
            "the profile {name} has {way} and no keys: run `eval \"$(aws configure \
             export-credentials --profile {name} --format env)\"` first"
        ),
        None => format!(
            "no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of \
             ~/.aws/credentials in AWS_PROFILE (it is {name:?})"
        ),
    }
}

/// The keys of a profile, those of the file of credentials first.
fn profile_of(name: &str, sources: &AccountSources<'_>) -> BTreeMap<String, String> {
    let home = (sources.variable)("HOME").map(PathBuf::from);
    let text = |variable: &str, usual: &str| {
        let named = (sources.variable)(variable).map(PathBuf::from);
        let path = named.or_else(|| Some(home.as_ref()?.join(".aws").join(usual)))?;
        (sources.file)(path)
    };
    let mut found = BTreeMap::new();
    let config = text("AWS_CONFIG_FILE", "config");
    let credentials = text("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    for text in [config, credentials].into_iter().flatten() {
        found.extend(section(&text, name));
    }
    found
}

/// The keys and values of a profile in the text of one of Amazon's files. Lines that are indented
/// belong to the key before them, and are passed over.
// not fuzzed: lines are split, and whatever they hold is taken
fn section<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (String, String)> + use<'a> {
    let mut is_within = false;
    text.lines().filter_map(move |line| {
        if let Some(title) = line.trim().strip_prefix('[') {
            let title = title.split(']').next().unwrap_or_default().trim();
            let title = title.strip_prefix("profile ").unwrap_or(title).trim();
            is_within = title == name;
            return None;
        }
        let is_nested = line.starts_with([' ', '\t']);
        let is_remark = line.starts_with(['#', ';']);
        if !is_within || is_nested || is_remark {
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_owned());
        (!value.is_empty()).then_some((key, value))
    })
}

/// The keys that a container is given, where there is such an address.
fn of_container(
    variable: &dyn Fn(&str) -> Option<String>,
    sources: &AccountSources<'_>,
) -> Option<Result<Credentials, String>> {
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let address = relative.map(|path| format!("{CONTAINER_SERVER}{path}"));
    let address = address.or_else(|| variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"))?;
    let token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    let token = token.or_else(|| {
        let path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")?;
        (sources.file)(path.into())
    });
    let asked = ask_container(&address, token.as_deref().map(str::trim));
    Some(asked.map_err(|why| format!("no keys from {address}: {why}")))
}

fn ask_container(address: &str, token: Option<&str>) -> Result<Credentials, String> {
    let url = Url::parse(address).map_err(|error| error.to_string())?;
    let endpoint = Endpoint::of(&url, None).map_err(|error| error.to_string())?;
    let headers = token.map(|token| ("Authorization", token));
    let request = HttpRequest {
        method: "GET",
        path: &url.path,
        headers: headers.as_slice(),
    };
    let patience = Patience {
        timeout: CONTAINER_TIMEOUT,
        is_stopped: &|| false,
    };
    let mut body = Vec::new();
    let answer = HttpServer::new(endpoint, &url)
        .ask(request, None, &patience, &mut |_, piece| {
            body.extend_from_slice(piece);
            Ok(())
        })
        .map_err(|error| error.cause)?;
    if answer.status() != 200 {
        return Err(format!("status {}", answer.status()));
    }
    // not fuzzed: three texts out of JSON
    let found: serde_json::Value =
        serde_json::from_slice(&body).map_err(|_| "the answer is no JSON".to_owned())?;
    let text = |key: &str| found[key].as_str().map(str::to_owned);
    match (text("AccessKeyId"), text("SecretAccessKey"), text("Token")) {
        (Some(key), Some(secret), Some(token)) => {
            Ok(Credentials::new_with_token(key, secret, token))
        }
        (Some(key), Some(secret), None) => Ok(Credentials::new(key, secret)),
        _ => Err("the answer has no keys".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    const CREDENTIALS: &str = "\
# a remark
[default]
aws_access_key_id = of default
aws_secret_access_key = secret
[lab]
aws_access_key_id=of lab
aws_secret_access_key=with=sign
aws_session_token = token
";
    const CONFIG: &str = "\
[default]
region = eu-central-1
[profile lab]
region = eu-west-1
endpoint_url = https://lab
s3 =
    region = nested
[profile sso]
sso_session = office
";

    fn account(variables: &[(&str, &str)]) -> S3Account {
        let variable = |name: &str| {
            let mut all = [("HOME", "/home/me")]
                .into_iter()
                .chain(variables.iter().copied());
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_owned())
        };
        S3Account::of(&AccountSources {
            variable: &variable,
            file: &|path| match path.to_str()? {
                "/home/me/.aws/credentials" => Some(CREDENTIALS.into()),
                "/home/me/.aws/config" => Some(CONFIG.into()),
                _ => None,
            },
        })
    }

    #[test]
    fn the_environment_comes_before_files_and_the_profile_chooses_among_these() {
        let check = |variables: &[(&str, &str)], key: &str, region: &str, endpoint| {
            let found = account(variables);
            let credentials = found.credentials.expect("keys");
            assert_eq!(
                (
                    credentials.key(),
                    found.region.as_str(),
                    found.endpoint.as_deref()
                ),
                (key, region, endpoint),
                "{variables:?}"
            );
        };
        check(&[], "of default", "eu-central-1", None);
        check(
            &[("AWS_PROFILE", "lab")],
            "of lab",
            "eu-west-1",
            Some("https://lab"),
        );
        let typed = [
            ("AWS_ACCESS_KEY_ID", "typed"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-west-2"),
            ("AWS_ENDPOINT_URL", "http://here"),
            ("AWS_PROFILE", "lab"),
        ];
        check(&typed, "typed", "us-west-2", Some("http://here"));
        let lab = account(&[("AWS_PROFILE", "lab")])
            .credentials
            .expect("keys");
        assert_eq!((lab.secret(), lab.token()), ("with=sign", Some("token")));
    }

    #[test]
    fn where_there_are_no_keys_it_says_how_to_get_them() {
        let why = |profile: &str| {
            let found = account(&[("AWS_PROFILE", profile)]).credentials;
            found.map(drop).expect_err("no keys")
        };
        assert!(why("none").contains("AWS_ACCESS_KEY_ID"), "{}", why("none"));
        let sso = why("sso");
        assert!(
            sso.contains("sso_session") && sso.contains("--profile sso"),
            "{sso}"
        );
    }

    #[test]
    fn a_container_asks_the_address_that_it_is_given() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut asked = vec![0; 4096];
            let count = stream.read(&mut asked).expect("a request");
            let body = r#"{"AccessKeyId":"k","SecretAccessKey":"s","Token":"t"}"#;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream
                .write_all((head + body).as_bytes())
                .expect("an answer");
            String::from_utf8_lossy(&asked[..count]).into_owned()
        });
        let found = account(&[
            ("AWS_PROFILE", "none"),
            (
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                &format!("http://{address}/keys"),
            ),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pass"),
        ]);
        let credentials = found.credentials.expect("keys");
        assert_eq!((credentials.key(), credentials.token()), ("k", Some("t")));
        let asked = server.join().expect("a server");
        assert!(asked.starts_with("GET /keys ") && asked.contains("Authorization: pass"));
    }
}
