//! What is shown can be typed again; what is stored loses nothing.

use units::{Bytes, Duration, Rate};

/// Powers of two and ten, their neighbours, and a spread of numbers between them, up to 2^63.
fn numbers() -> Vec<u64> {
    let mut numbers = Vec::new();
    for power in 0..63 {
        numbers.extend([(1_u64 << power) - 1, 1 << power, (1 << power) + 1]);
    }
    for power in 0..19 {
        let ten = 10_u64.pow(power);
        numbers.extend([
            ten - 1,
            ten,
            ten + 1,
            ten / 2 * 3,
            ten.saturating_sub(ten / 300),
        ]);
    }
    let mut spread = 1_u64;
    while spread < 1 << 62 {
        numbers.push(spread);
        spread += spread / 37 + 1;
    }
    numbers
}

#[track_caller]
fn check_close(shown: &str, original: f64, read_back: f64) {
    let error = (read_back - original).abs() / original.max(1.0);
    assert!(
        error <= 0.005 + 1e-12,
        "{original} was shown as {shown} and read as {read_back}"
    );
}

#[test]
fn what_is_shown_can_be_typed() {
    for number in numbers() {
        let original = number as f64;
        let shown = Duration::from_nanos(number).to_string();
        let read_back: Duration = shown.parse().expect(&shown);
        check_close(&shown, original, read_back.as_nanos() as f64);

        let shown = Bytes(number).to_string();
        let read_back: Bytes = shown.parse().expect(&shown);
        check_close(&shown, original, read_back.as_u64() as f64);

        let shown = Bytes(number).decimal();
        let read_back: Bytes = shown.parse().expect(&shown);
        check_close(&shown, original, read_back.as_u64() as f64);

        if original < 1e17 {
            let shown = Rate(original).to_string();
            let read_back: Rate = shown.parse().expect(&shown);
            check_close(&shown, original, read_back.per_second());
        }
    }
}

#[test]
fn exact_strings_lose_nothing() {
    for number in numbers().into_iter().chain([u64::MAX - 1, u64::MAX]) {
        let span = Duration::from_nanos(number);
        assert_eq!(span.to_exact_string().parse(), Ok(span));
        let size = Bytes(number);
        assert_eq!(size.to_exact_string().parse(), Ok(size));
    }
    assert_eq!(Duration::from_secs(90).to_exact_string(), "90s");
    assert_eq!(Duration::from_micros(1_500).to_exact_string(), "1500us");
    assert_eq!(Duration::ZERO.to_exact_string(), "0s");
    assert_eq!(Bytes::from_mib(1_536).to_exact_string(), "1536MiB");
    assert_eq!(Bytes(1_000).to_exact_string(), "1000B");
    assert_eq!(Bytes::ZERO.to_exact_string(), "0B");
}
