//! Sizes, times, rates and shares: what is read is printed, and that is read, too.

use units::{Bytes, Duration, Rate};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(size) = text.parse::<Bytes>() {
        assert_eq!(size.to_exact_string().parse(), Ok(size));
        let _ = (size.to_string(), size.decimal());
    }
    if let Ok(span) = text.parse::<Duration>() {
        assert_eq!(span.to_exact_string().parse(), Ok(span));
        let _ = span.to_string();
    }
    if let Ok(rate) = text.parse::<Rate>() {
        assert!(rate.0.is_finite() && rate.0 >= 0.0);
        let _ = rate.to_string();
    }
    if let Ok(share) = units::parse_percent(text) {
        assert!(share.is_finite());
    }
    if let Ok(number) = text.trim().parse::<f64>() {
        let _ = (
            units::format_count(number),
            units::format_duration_ns(number),
        );
        let _ = (
            units::format_rate(number),
            units::format_interval_ns(number, 0.0, -number),
        );
    }
}
