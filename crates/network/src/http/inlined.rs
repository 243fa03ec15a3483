//! Finds objects inlined in a document: images, scripts, style sheets, frames.

use crate::url::Url;

/// Elements loaded by a browser with the page, with the attribute for the address.
const ELEMENTS: [(&str, &str); 6] = [
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("frame", "src"),
    ("body", "background"),
    ("link", "href"),
];

/// Distinct paths of the objects inlined in `document`, in order, and the number of those on other
/// servers, which are not measured.
// fuzzed: http
pub fn find_inlined(document: &str, page: &Url) -> (Vec<String>, usize) {
    let mut paths: Vec<String> = Vec::new();
    let mut elsewhere = 0;
    for element in elements(document) {
        let Some(reference) = reference_of(element) else {
            continue;
        };
        match path_of(&reference, page) {
            Some(path) if !paths.contains(&path) => paths.push(path),
            Some(_) => {}
            None => elsewhere += 1,
        }
    }
    (paths, elsewhere)
}

/// Contents of `<...>`, without comments.
fn elements(document: &str) -> impl Iterator<Item = &str> {
    let mut rest = document;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find('<')?;
            rest = &rest[start + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, after)| after);
                continue;
            }
            let end = end_of_element(rest)?;
            let element = &rest[..end];
            rest = &rest[end + 1..];
            return Some(element);
        }
    })
}

/// The first unquoted closing bracket. An unterminated quote quotes nothing.
fn end_of_element(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, it) in text.char_indices() {
        match quote {
            None if it == '>' => return Some(index),
            None if it == '"' || it == '\'' => quote = Some(it),
            Some(mark) if it == mark => quote = None,
            _ => {}
        }
    }
    text.find('>')
}

fn reference_of(element: &str) -> Option<String> {
    let name_end = element.find(|it: char| it.is_ascii_whitespace() || it == '/')?;
    let (name, attributes) = element.split_at(name_end);
    let is_named = |(it, _): &&(&str, &str)| it.eq_ignore_ascii_case(name);
    let wanted = ELEMENTS.iter().find(is_named)?.1;
    if name.eq_ignore_ascii_case("link") {
        let relation = attribute(attributes, "rel")?;
        if !relation.eq_ignore_ascii_case("stylesheet") {
            return None;
        }
    }
    attribute(attributes, wanted).map(|it| it.replace("&amp;", "&"))
}

/// The value of `name="value"`, `name='value'` or `name=value`.
fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes.trim_start_matches(|it: char| it.is_ascii_whitespace() || it == '/');
    while !rest.is_empty() {
        let end = rest.find(|it: char| it.is_ascii_whitespace() || it == '=');
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('=') {
            Some(value) => split_value(value.trim_start()),
            None => ("", after),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned());
        }
        rest = after.trim_start_matches(|it: char| it.is_ascii_whitespace() || it == '/');
    }
    None
}

fn split_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    let end = text.find(|it: char| it.is_ascii_whitespace());
    text.split_at(end.unwrap_or(text.len()))
}

/// The path on the same server; `None` for another server, or an invalid address.
fn path_of(reference: &str, page: &Url) -> Option<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    if reference.is_empty()
        || reference
            .chars()
            .any(|it| it == ' ' || it.is_ascii_control())
    {
        return None;
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return path_of(&format!("{}://{rest}", page.protocol.name()), page);
    }
    if reference.contains("://") {
        let url = Url::parse(reference).ok()?;
        let is_same = (&url.host, url.port, url.protocol) == (&page.host, page.port, page.protocol);
        return is_same.then_some(url.path);
    }
    let has_scheme = reference
        .split(['/', '?'])
        .next()
        .is_some_and(|it| it.contains(':'));
    if has_scheme {
        return None;
    }
    if reference.starts_with('/') {
        return Some(without_dots(reference));
    }
    let folder = page.path.split('?').next().unwrap_or_default();
    let folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some(without_dots(&format!("{folder}/{reference}")))
}

fn without_dots(path: &str) -> String {
    let (path, query) = path
        .split_once('?')
        .map_or((path, None), |(a, b)| (a, Some(b)));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let query = query.map(|it| format!("?{it}")).unwrap_or_default();
    format!("/{}{query}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &[&str], elsewhere: usize) {
        let page = Url::parse("http://server:8080/www/img/summary.html").unwrap();
        let (paths, others) = find_inlined(document, &page);
        assert_eq!(paths, expected, "{document}");
        assert_eq!(others, elsewhere, "{document}");
    }

    #[test]
    fn images_of_a_page_are_found_in_order_and_once() {
        let document = "<HTML><IMG SRC=\"a.gif\"><img alt='a > no' src=b.gif><p>\n\
            <img\nalt=x src='/c.gif' /><img src=\"a.gif\"><IMG src=\"../d.gif\">";
        let expected = ["/www/img/a.gif", "/www/img/b.gif", "/c.gif", "/www/d.gif"];
        check(document, &expected, 0);
    }

    #[test]
    fn other_elements_count_when_they_are_loaded_with_the_page() {
        check("<script src=x.js></script>", &["/www/img/x.js"], 0);
        check("<link rel=stylesheet href=x.css>", &["/www/img/x.css"], 0);
        check("<link rel=next href=2.html><a href=3.html>", &[], 0);
        check("<body background=/b.gif><img alt=none>", &["/b.gif"], 0);
        check("<!-- <img src=no.gif> --><imgx src=no.gif>", &[], 0);
    }

    #[test]
    fn addresses_are_followed_on_the_same_server_only() {
        let own = "<img src=http://server:8080/a?b&amp;c#d><img src=//server:8080/e>";
        check(own, &["/a?b&c", "/e"], 0);
        let others = "<img src=http://server/a><img src=https://server:8080/b>\
            <img src=data:image/gif;base64,R0><img src=''><img src='a b'>";
        check(others, &[], 5);
    }

    #[test]
    fn torn_documents_end() {
        for document in [
            "<",
            "<img",
            "<img src=",
            "<img src='",
            "<!--",
            "<img src",
            "a > b",
        ] {
            check(document, &[], 0);
        }
    }
}
