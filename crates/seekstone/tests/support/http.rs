//! Asks a server for a page, as a browser does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// The address in a line such as `serving http://127.0.0.1:1234/ until Ctrl-C`.
pub fn url_in(line: &str) -> String {
    let url = line.split_whitespace().find(|it| it.starts_with("http://"));
    url.expect("an address").to_owned()
}

/// Status and body of the answer.
pub fn get(url: &str, path: &str) -> (u16, String) {
    let mut answer = String::new();
    asked(url, path)
        .read_to_string(&mut answer)
        .expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status");
    (status.parse().expect("a number"), body.to_owned())
}

/// The events of a feed until it ends: names and data.
pub fn events(url: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut name, mut data): (String, Vec<String>) = (String::new(), Vec::new());
    for line in BufReader::new(asked(url, "events")).lines() {
        let line = line.expect("text");
        match line.split_once(": ") {
            Some(("event", told)) => told.clone_into(&mut name),
            Some(("data", told)) => data.push(told.to_owned()),
            _ if line == "data:" => data.push(String::new()),
            _ if line.is_empty() && !data.is_empty() => {
                found.push((std::mem::take(&mut name), data.join("\n")));
                data.clear();
            }
            _ => {}
        }
    }
    found
}

/// A connection that was asked; HTTP/1.0 has answers in one piece that end with it.
pub fn asked(url: &str, path: &str) -> TcpStream {
    let (host, prefix) = parted(url);
    let mut stream = connected(url);
    let request = format!("GET /{prefix}{path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    stream
}

/// A connection that was asked nothing yet.
pub fn connected(url: &str) -> TcpStream {
    TcpStream::connect(parted(url).0).expect("a connection")
}

fn parted(url: &str) -> (&str, &str) {
    let host = url.trim_start_matches("http://");
    host.split_once('/').expect("a path")
}
