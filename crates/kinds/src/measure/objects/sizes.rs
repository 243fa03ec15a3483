//! How large objects are.

use random::{LogNormal, Stream};
use units::Bytes;

use super::OBJECT_MAX;

const SIGMA: &str = "1";

/// The law of sizes.
#[derive(Clone, Debug)]
pub(super) enum SizeLaw {
    /// Evenly between both, in bytes.
    Between(u32, u32),
    /// One of them, with weights.
    OneOf(Vec<(u32, f64)>),
    LogNormal(LogNormal),
}

impl SizeLaw {
    /// Read one.
    ///
    /// # Errors
    /// What is wrong with it.
    // not fuzzed: parts are split at signs, and each is read by units
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix("lognormal:") {
            let (median, sigma) = rest.split_once(':').unwrap_or((rest, SIGMA));
            let sigma = sigma
                .parse()
                .ok()
                .filter(|it: &f64| (0.0..=10.0).contains(it));
            let sigma = sigma.ok_or("SIGMA is a number from 0 to 10")?;
            let law = LogNormal::new(f64::from(size(median)?), sigma);
            return law.map(Self::LogNormal).map_err(|error| error.to_string());
        }
        if let Some((low, high)) = text.split_once('-') {
            let (low, high) = (size(low)?, size(high)?);
            return match low <= high {
                true => Ok(Self::Between(low, high)),
                false => Err("the smaller size comes first".into()),
            };
        }
        let parts = weighted(text)?.into_iter();
        let parts = parts.map(|(text, weight)| Ok((size(text)?, weight)));
        parts.collect::<Result<_, String>>().map(Self::OneOf)
    }

    /// The size of an object, in bytes.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Between(low, high) => low + stream.below(u64::from(high - low) + 1) as u32,
            Self::OneOf(sizes) => *drawn(sizes, stream),
            Self::LogNormal(law) => law.sample(stream).ceil().clamp(1.0, OBJECT_MAX as f64) as u32,
        }
    }
}

fn size(text: &str) -> Result<u32, String> {
    let found: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let is_within = (1..=OBJECT_MAX).contains(&found.0);
    let found = is_within.then_some(found.0 as u32);
    found.ok_or_else(|| format!("{text} is not from 1 B to {}", Bytes(OBJECT_MAX)))
}

/// Words with shares, as in `get/45:put/55`; a word without one has the share 1.
///
/// # Errors
/// What is wrong with them.
pub(super) fn weighted(text: &str) -> Result<Vec<(&str, f64)>, String> {
    let part = |part: &'_ str| -> Result<(usize, f64), String> {
        let Some((word, share)) = part.split_once('/') else {
            return Ok((part.len(), 1.0));
        };
        let share = share.trim_end_matches('%').parse().ok();
        let share = share.filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let share = share.ok_or_else(|| format!("{part}: the share is a number"))?;
        Ok((word.len(), share))
    };
    let parts = text
        .split(':')
        .map(|it| part(it).map(|(len, share)| (&it[..len], share)));
    let parts: Vec<(&str, f64)> = parts.collect::<Result<_, String>>()?;
    match parts.iter().any(|(_, share)| *share > 0.0) {
        true => Ok(parts),
        false => Err("one share at least is above zero".into()),
    }
}

/// One of the values, by their weights.
pub(super) fn drawn<'a, T>(values: &'a [(T, f64)], stream: &mut Stream) -> &'a T {
    let sum: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mut left = stream.unit() * sum;
    for (value, weight) in values {
        left -= weight;
        if left < 0.0 {
            return value;
        }
    }
    &values.last().expect("one value at least").0
}

#[cfg(test)]
mod tests {
    use random::Purpose;

    use super::*;

    fn mean(text: &str) -> f64 {
        let law = SizeLaw::parse(text).expect(text);
        let mut stream = Stream::new(1, 0, Purpose::Size);
        let sizes = (0..20_000).map(|_| f64::from(law.draw(&mut stream)));
        sizes.sum::<f64>() / 20_000.0
    }

    #[test]
    fn sizes_have_the_means_of_their_laws() {
        let near = |text: &str, expected: f64| {
            let found = mean(text);
            assert!((found / expected - 1.0).abs() < 0.03, "{text}: {found}");
        };
        near("4KiB", 4096.0);
        near("1000-3000", 2000.0);
        near("1KiB/3:5KiB/1", 2048.0);
        near("1000:3000", 2000.0);
        // The mean is the median times exp(sigma^2 / 2).
        near("lognormal:10000:0.5", 11_331.5);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| SizeLaw::parse(text).map(drop).expect_err(text);
        assert!(why("3KiB-1KiB").contains("smaller size comes first"));
        assert!(why("0").contains("not from 1 B"));
        assert!(why("8GiB").contains("not from 1 B"));
        assert!(why("4KiB/x").contains("share is a number"));
        assert!(why("4KiB/0").contains("above zero"));
        assert!(why("lognormal:1KiB:-1").contains("SIGMA"));
        assert!(!why("large").is_empty());
    }
}
