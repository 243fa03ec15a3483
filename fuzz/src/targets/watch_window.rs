//! Windows of `watch` as they are kept in archives.

use watch::WatchWindow;

pub fn read(bytes: &[u8]) {
    if let Ok(window) = WatchWindow::from_bytes(bytes) {
        let again = WatchWindow::from_bytes(&window.to_bytes());
        assert_eq!(again.as_ref(), Ok(&window));
    }
}
