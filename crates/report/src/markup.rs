//! Text as HTML: nothing from outside is taken for markup, numbers are set as in print.

use results::Figure;
use stats::Estimate;

use crate::figure::{INDICATIVE, estimated};
use units::printable;

/// Text that cannot be taken for markup, in an element or in a quoted attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Text of several lines, each of them kept.
pub(crate) fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escaped).collect();
    lines.join("\n")
}

/// Text in which what stands between backticks is set as code.
pub(crate) fn with_commands(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let parts = parts.chunks(2).map(|part| match part {
        [text, command] => format!("{}<code>{}</code>", escaped(text), escaped(command)),
        _ => escaped(part[0]),
    });
    parts.collect()
}

/// A number of ours with its unit as in print: `412 µs`, `409 – 415`. It is not markup yet.
pub(crate) fn in_print(text: &str) -> String {
    let mut parts = text.split(" us");
    let mut printed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_unit = printed.ends_with(|it: char| it.is_ascii_digit())
            && !part.starts_with(|it: char| it.is_alphanumeric());
        printed += if is_unit { " µs" } else { " us" };
        printed += part;
    }
    printed.replace(" .. ", " – ")
}

/// The value and the interval of a figure in words.
pub(crate) struct Printed {
    pub value: String,
    pub interval: String,
}

impl Printed {
    pub fn of(figure: &Figure) -> Self {
        let Estimate {
            value, low, high, ..
        } = figure.value;
        let unit = figure.metric.unit;
        if !value.is_finite() && figure.value.low.is_finite() && high.is_finite() {
            let between = format!("{} .. {}", unit.format(low), unit.format(high));
            return Self {
                value: String::new(),
                interval: in_print(&between),
            };
        }
        let (shown, interval) = match low == high {
            true => (unit.format(value), String::new()),
            false => estimated(unit, figure.value),
        };
        let mark = if figure.is_indicative { INDICATIVE } else { "" };
        Self {
            value: in_print(&shown) + mark,
            interval: in_print(&interval),
        }
    }

    /// Both in one line, for a tip.
    pub fn in_line(&self) -> String {
        match (self.value.as_str(), self.interval.as_str()) {
            (value, "") => value.to_owned(),
            ("", interval) => interval.to_owned(),
            (value, interval) => format!("{value} ({interval})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        let check = |text: &str, expected: &str| assert_eq!(escaped(text), expected);
        check("</td><script>", "&lt;/td&gt;&lt;script&gt;");
        check("a\" onload='x' & b", "a&quot; onload=&#39;x&#39; &amp; b");
        check("a\x1b[2J\u{0}b", "a?[2J?b");
        assert_eq!(escaped_lines("a = \"<\"\n\tb"), "a = &quot;&lt;&quot;\n?b");
    }

    #[test]
    fn commands_are_set_as_code() {
        let check = |text: &str, expected: &str| assert_eq!(with_commands(text), expected);
        check(
            "run `a <b>` or `c`.",
            "run <code>a &lt;b&gt;</code> or <code>c</code>.",
        );
        check("plain", "plain");
    }

    #[test]
    fn numbers_are_set_as_in_print() {
        let check = |text: &str, expected: &str| assert_eq!(in_print(text), expected);
        check("412 us", "412 µs");
        check("409 .. 415 us", "409 – 415 µs");
        check("18,400/s", "18,400/s");
        // Bug: words lost their letter, as in "11 µsers".
        check("11 users use 5 us.", "11 users use 5 µs.");
    }
}
