//! A law of sizes whose logarithms are normal.

use crate::arithmetic::{exp, ln};
use crate::law::{LawError, positive};
use crate::stream::Stream;

/// Sizes e^(mu + sigma Z), with Z of the standard normal law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    mu: f64,
    sigma: f64,
}

impl LogNormal {
    /// Sizes of which half are below `median`, and whose logarithms deviate by `sigma`.
    ///
    /// # Errors
    /// When one of them is not finite and above zero.
    pub fn new(median: f64, sigma: f64) -> Result<Self, LawError> {
        Ok(Self {
            mu: ln(positive("median", median)?),
            sigma: positive("sigma", sigma)?,
        })
    }

    /// A size.
    ///
    /// The normal variate is G. Marsaglia's, by the polar method (1964).
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        loop {
            let [x, y] = [stream.unit(), stream.unit()].map(|unit| 2.0 * unit - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let normal = x * (-2.0 * ln(square) / square).sqrt();
                return exp(self.mu + self.sigma * normal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Purpose;

    #[test]
    fn half_are_below_the_median_and_one_in_six_beyond_a_deviation() {
        let law = LogNormal::new(4096.0, 1.75).expect("a law");
        let mut stream = Stream::new(1, 0, Purpose::Size);
        let drawn: Vec<f64> = (0..100_000).map(|_| law.sample(&mut stream)).collect();
        let below = |size: f64| drawn.iter().filter(|it| **it < size).count() as f64 / 1e5;
        for (deviations, share) in [(-1.0, 0.1587), (0.0, 0.5), (1.0, 0.8413), (2.0, 0.9772)] {
            let found = below(4096.0 * (1.75_f64 * deviations).exp());
            assert!((found - share).abs() < 0.006, "{deviations}: {found}");
        }
        assert!(LogNormal::new(0.0, 1.0).is_err());
    }
}
