//! What was typed for another tool's option, as the value of ours.

use units::Bytes;

/// The value that was typed for an option: behind `=`, or as the next word.
pub fn value_of<'a>(option: &str, typed: &'a [String]) -> Option<&'a str> {
    let mut words = typed.iter();
    let word = words.find(|it| it.split('=').next() == Some(option))?;
    match word.split_once('=') {
        Some((_, value)) => Some(value),
        None => words.next().map(String::as_str),
    }
    .filter(|it| !it.starts_with('-'))
}

/// What to write here, with the value that was typed there in place of the example's.
pub fn with_value(ours: &str, option: &str, value: &str) -> String {
    let mut words = ours.split(' ');
    let (Some(own), Some(example)) = (words.next(), words.next()) else {
        return ours.to_owned();
    };
    let example = example.trim_end_matches([',', ':', ';']);
    let number = value.parse::<u64>().ok();
    let is_size = || value.parse::<Bytes>().is_ok();
    let meant = match (own, number) {
        ("--clients" | "--seed", Some(number)) => Some(number.to_string()),
        ("--block" | "--size", _) if is_size() => Some(value.to_owned()),
        ("--duration" | "--warm-up", Some(seconds)) => Some(format!("{seconds}s")),
        ("--think", Some(micros)) => Some(format!("{micros}us")),
        ("--rate", Some(rate)) if option == "--rate_iops" => Some(format!("{rate}/s")),
        ("--writes", Some(share)) if option == "--rwmixread" && share <= 100 => {
            Some(format!("{}%", 100 - share))
        }
        ("--writes", Some(share)) if share <= 100 => Some(format!("{share}%")),
        _ => None,
    };
    meant.map_or_else(
        || ours.to_owned(),
        |meant| ours.replacen(example, &meant, 1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_typed_takes_the_place_of_the_example() {
        let check = |option: &str, value: &str, ours: &str, expected: &str| {
            assert_eq!(with_value(ours, option, value), expected);
        };
        check("--bs", "64k", "--block 8KiB", "--block 64k");
        check("--bs", "soon", "--block 8KiB", "--block 8KiB");
        check("--iodepth", "8", "--clients 32: each", "--clients 8: each");
        check(
            "--runtime",
            "30",
            "--duration 60s of trial",
            "--duration 30s of trial",
        );
        check(
            "--rwmixread",
            "60",
            "--writes 30%, the share",
            "--writes 40%, the share",
        );
        check(
            "--rate_iops",
            "100",
            "--rate 2000/s, of",
            "--rate 100/s, of",
        );
        check("--thinktime", "500", "--think 1ms", "--think 500us");
        let typed = ["trial", ".", "--bs=4k", "--iodepth", "8", "--direct", "--x"];
        let typed = typed.map(str::to_owned);
        assert_eq!(value_of("--bs", &typed), Some("4k"));
        assert_eq!(value_of("--iodepth", &typed), Some("8"));
        assert_eq!(value_of("--direct", &typed), None);
    }
}
