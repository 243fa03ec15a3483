//! Names of tables, metrics and levels as words.

/// A name in kebab case as words: `latency-p99` is `latency p99`, `iops` is `IOPS`.
pub(crate) fn words(name: &str) -> String {
    let word = |word: &str| match word {
        "iops" | "tps" | "cpu" => word.to_uppercase(),
        "cpus" => "CPUs".to_owned(),
        "rabmark" => "RABmark".to_owned(),
        "io" => "I/O".to_owned(),
        "mib" => "MiB".to_owned(),
        word => word.to_owned(),
    };
    let words: Vec<String> = name.split('-').map(word).collect();
    words.join(" ")
}

/// A metric as it is spoken of: every latency says which.
pub(crate) fn metric_words(name: &str) -> String {
    match name.rsplit_once('-') {
        _ if name == "latency" => "mean latency".to_owned(),
        Some(("latency", which)) => format!("{which} latency"),
        _ => words(name),
    }
}

/// The same beginning with a capital letter.
pub(crate) fn capitalised(text: &str) -> String {
    // The name of a target stays as it is.
    let first = text.split(' ').next().unwrap_or_default();
    if first.contains([':', '/']) && !first.ends_with(':') {
        return text.to_owned();
    }
    units::capitalised(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        let check = |name: &str, expected: &str| assert_eq!(words(name), expected);
        check("iops", "IOPS");
        check("latency-p99.9", "latency p99.9");
        check("cpu-per-io", "CPU per I/O");
        assert_eq!(metric_words("latency"), "mean latency");
        assert_eq!(metric_words("latency-p99.9"), "p99.9 latency");
        assert_eq!(metric_words("service-latency"), "service latency");
    }
}
