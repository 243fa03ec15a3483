//! Clients with one page each, and the objects they load next. Knows nothing about connections.

use std::time::Instant;

/// The document is object 0, followed by its inlined objects.
pub const DOCUMENT: usize = 0;

/// Clients, each with one page in progress.
#[derive(Debug)]
pub struct Clients {
    list: Vec<HttpClient>,
    /// Objects of a page besides the document.
    objects: usize,
}

#[derive(Clone, Debug)]
struct HttpClient {
    begun: Instant,
    /// The next object to request.
    next: usize,
    outstanding: usize,
    has_document: bool,
    is_broken: bool,
}

/// A finished page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnd {
    pub begun: Instant,
    /// Whether a part of it is missing.
    pub is_broken: bool,
}

impl Clients {
    /// `count` clients without a page.
    pub fn new(count: usize, objects: usize, now: Instant) -> Self {
        let client = HttpClient {
            begun: now,
            next: 0,
            outstanding: 0,
            has_document: false,
            is_broken: false,
        };
        Self {
            list: vec![client; count],
            objects,
        }
    }

    /// Starts a page, beginning with its document.
    ///
    /// # Panics
    /// If the client's last page is not finished.
    pub fn begin(&mut self, client: usize, now: Instant) -> usize {
        let client = &mut self.list[client];
        assert_eq!(client.outstanding, 0, "a client loads one page at a time");
        *client = HttpClient {
            begun: now,
            next: DOCUMENT + 1,
            outstanding: 1,
            has_document: false,
            is_broken: false,
        };
        DOCUMENT
    }

    /// The next object to request, which is then outstanding.
    pub fn next_object(&mut self, client: usize) -> Option<usize> {
        let client = &mut self.list[client];
        if !client.has_document || client.next > self.objects {
            return None;
        }
        let object = client.next;
        client.next += 1;
        client.outstanding += 1;
        Some(object)
    }

    /// An object completed or failed. Returns the page if it was the last.
    ///
    /// # Panics
    /// If nothing was outstanding.
    pub fn finish(&mut self, client: usize, object: usize, is_good: bool) -> Option<PageEnd> {
        let client = &mut self.list[client];
        assert!(client.outstanding > 0, "nobody asked for this");
        client.outstanding -= 1;
        client.is_broken |= !is_good;
        if object == DOCUMENT {
            client.has_document = is_good;
        }
        let is_complete = !client.has_document || client.next > self.objects;
        (is_complete && client.outstanding == 0).then_some(PageEnd {
            begun: client.begun,
            is_broken: client.is_broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_comes_first_and_the_last_object_ends_the_page() {
        let now = Instant::now();
        let mut clients = Clients::new(1, 2, now);
        assert_eq!(clients.begin(0, now), DOCUMENT);
        assert_eq!(
            clients.next_object(0),
            None,
            "what is shown is not known yet"
        );
        assert_eq!(clients.finish(0, DOCUMENT, true), None);
        assert_eq!(clients.next_object(0), Some(1));
        assert_eq!(clients.next_object(0), Some(2));
        assert_eq!(clients.next_object(0), None);
        assert_eq!(clients.finish(0, 2, true), None);
        let end = clients.finish(0, 1, true).unwrap();
        assert_eq!((end.begun, end.is_broken), (now, false));
    }

    #[test]
    fn a_page_without_its_document_is_over_and_broken() {
        let now = Instant::now();
        let mut clients = Clients::new(2, 5, now);
        clients.begin(0, now);
        clients.begin(1, now);
        let end = clients.finish(1, DOCUMENT, false).unwrap();
        assert!(end.is_broken);
        assert_eq!(clients.next_object(1), None);
        assert_eq!(
            clients.finish(0, DOCUMENT, true),
            None,
            "the other one goes on"
        );
    }

    #[test]
    fn a_missing_object_breaks_the_page_and_the_rest_is_loaded() {
        let now = Instant::now();
        let mut clients = Clients::new(1, 2, now);
        clients.begin(0, now);
        clients.finish(0, DOCUMENT, true);
        clients.next_object(0);
        assert_eq!(clients.finish(0, 1, false), None);
        assert_eq!(clients.next_object(0), Some(2));
        assert!(clients.finish(0, 2, true).unwrap().is_broken);
    }

    #[test]
    fn a_document_alone_is_a_page() {
        let now = Instant::now();
        let mut clients = Clients::new(1, 0, now);
        clients.begin(0, now);
        assert!(!clients.finish(0, DOCUMENT, true).unwrap().is_broken);
    }
}
