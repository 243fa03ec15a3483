//! What a browser says of itself: path, host and origin, a line each. Nothing but the names of this
//! host is answered, and no page of another site.

use std::net::{IpAddr, SocketAddr};

pub fn read(bytes: &[u8]) {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let path = lines.next().unwrap_or_default();
    let host = lines.next().unwrap_or_default();
    let origin = lines.next().unwrap_or_default();
    let path = String::from_utf8_lossy(path);
    for port in [80, 7000] {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if web::readers::admitted(address, &path, host, origin).is_none() {
            continue;
        }
        let host = String::from_utf8_lossy(host).to_lowercase();
        let name = host.strip_suffix(&format!(":{port}")).unwrap_or(&host);
        let bare = name.trim_matches(['[', ']']).parse::<IpAddr>();
        // A port may have zeroes in front.
        let numbered = host.parse::<SocketAddr>().map(|it| it.ip()).or(bare);
        assert!(
            name == "localhost" || numbered.is_ok_and(|it| it.is_loopback()),
            "{host}"
        );
        let asked_by = String::from_utf8_lossy(origin).to_lowercase();
        assert!(
            asked_by.is_empty() || asked_by == format!("http://{host}"),
            "{asked_by}"
        );
    }
}
