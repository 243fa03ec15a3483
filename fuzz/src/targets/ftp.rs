//! What an FTP server says, and addresses.

use network::readers::read_reply;
use network::url::Url;

pub fn read(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((reply, taken))) = read_reply(rest) {
        assert!(taken > 0);
        let _ = (reply.is_good(), reply.extended_port(), reply.passive_port());
        rest = &rest[taken..];
    }
    if let Ok(url) = Url::parse(&String::from_utf8_lossy(bytes)) {
        let _ = (url.authority(), url.with_path("/x"));
    }
}
