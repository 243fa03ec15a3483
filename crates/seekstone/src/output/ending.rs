//! What the ending of a file's name says of what is in it.

use std::path::Path;

/// Forms, as options and `--form` name them, with the endings that stand for them.
const ENDINGS: [(&str, &[&str]); 7] = [
    ("json", &["json"]),
    ("csv", &["csv"]),
    ("markdown", &["md", "markdown"]),
    ("html", &["html", "htm"]),
    ("svg", &["svg"]),
    ("openmetrics", &["prom", "om"]),
    ("parquet", &["parquet"]),
];

/// Endings of forms that no option writes.
const UNKNOWN: [&str; 7] = ["png", "jpg", "jpeg", "gif", "pdf", "xls", "xlsx"];

/// The form that the name's ending stands for, if it does for one.
#[must_use]
pub fn form_of_ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let mut forms = ENDINGS.iter();
    let found = forms.find(|(_, endings)| endings.contains(&ending.as_str()));
    found.map(|(form, _)| *form)
}

/// Why a form must not go into a file of that name: whoever opens it takes it for another.
#[must_use]
pub fn mismatch(form: &str, path: &Path) -> Option<String> {
    let (_, own) = ENDINGS.iter().find(|(known, _)| *known == form)?;
    let better = path.with_extension(own[0]);
    let (name, better) = (path.display(), better.display());
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match form_of_ending(path) {
        Some(other) if other != form => Some(format!(
            "the ending of {name} means {other}, and this is {form}: name it {better}, or use \
             {other}"
        )),
        None if UNKNOWN.contains(&ending.as_str()) => {
            Some(format!("{name} is written as {form}: name it {better}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_stands_for_a_form() {
        let check = |name: &str, expected| assert_eq!(form_of_ending(Path::new(name)), expected);
        check("a/x.SVG", Some("svg"));
        check("x.md", Some("markdown"));
        check("x", None);
        check("x.txt", None);
        assert_eq!(mismatch("csv", Path::new("x.csv")), None);
        assert_eq!(mismatch("text", Path::new("x.csv")), None);
        let told = mismatch("json", Path::new("x.svg")).expect("a mismatch");
        assert!(told.contains("name it x.json"), "{told}");
        assert_eq!(mismatch("html", Path::new("x.txt")), None);
        let told = mismatch("html", Path::new("x.png")).expect("a mismatch");
        assert!(told.contains("name it x.html"), "{told}");
    }
}
