//! What a web server sends, in pieces of any size, and the document in it.

use network::http::find_inlined;
use network::readers::Response;
use network::url::Url;

pub fn read(bytes: &[u8]) {
    let Some((&piece, answer)) = bytes.split_first() else {
        return;
    };
    let (mut response, mut body, mut seen) = (Response::default(), Vec::new(), 0);
    for piece in answer.chunks(usize::from(piece).max(1)) {
        let Ok(taken) = response.take(piece, &mut |bytes| body.extend_from_slice(bytes)) else {
            return;
        };
        seen += taken;
        if taken < piece.len() {
            break;
        }
    }
    let _ = response.close();
    assert_eq!(response.bytes, seen as u64);
    assert_eq!(response.body_bytes, body.len() as u64);
    let page = Url::parse("http://127.0.0.1/a/b.html").expect("an address");
    let _ = find_inlined(&String::from_utf8_lossy(&body), &page);
    response.clear();
    assert!(!response.is_done());
}
