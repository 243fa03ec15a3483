//! Arguments of `seekstone wire`.

use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Duration};

use super::parse::{parse_share, parse_size, parse_span};

/// `seekstone wire`.
#[derive(Args, Debug)]
#[command(after_help = help!("wire"))]
pub struct WireArgs {
    /// Name of the first network namespace, which must not exist yet.
    pub near: String,
    /// Its address with the prefix length, such as 10.90.0.1/24.
    pub near_address: String,
    /// Name of the second network namespace, which must not exist yet.
    pub far: String,
    /// Its address.
    pub far_address: String,
    /// One-way delay.
    #[arg(long, default_value = "0", value_parser = parse_span)]
    pub delay: Duration,
    /// Line rate in bits per second, each way [default: unlimited].
    #[arg(long = "rate", value_name = "RATE", value_parser = parse_bits)]
    pub bits_per_second: Option<u64>,
    /// Share of packets to lose.
    #[arg(long, default_value = "0%", value_parser = parse_share)]
    pub loss: f64,
    /// Queue size, each way, before packets are dropped.
    #[arg(
        long, value_name = "SIZE", default_value = "128KiB", value_parser = parse_size,
        requires = "bits_per_second"
    )]
    pub queue: Bytes,
    /// Seed of the packet loss.
    #[arg(long, default_value_t = 1, requires = "loss")]
    pub seed: u64,
    /// Write the process ID to this new file while the link is up.
    #[arg(long, value_name = "FILE")]
    pub pid_file: Option<PathBuf>,
    /// Return when the link is up, and keep it running in the background.
    #[arg(long, requires = "pid_file")]
    pub background: bool,
}

/// `10Mbit/s`, `64 kbit/s`, `1Gbit`: powers of 1000, as networks count.
fn parse_bits(text: &str) -> Result<u64, String> {
    let advice = "use bits per second, such as 10Mbit/s, 64kbit/s or 1Gbit/s";
    let bare = text.trim().trim_end_matches("/s");
    let digits = bare.find(|it: char| !it.is_ascii_digit() && it != '.');
    let (number, unit) = bare.split_at(digits.unwrap_or(bare.len()));
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "bit" => 1.0,
        "kbit" => 1e3,
        "mbit" => 1e6,
        "gbit" => 1e9,
        _ => return Err(advice.into()),
    };
    let number: f64 = number.parse().map_err(|_| advice.to_owned())?;
    let bits = number * factor;
    if (1000.0..=1e11).contains(&bits) {
        Ok(bits.round() as u64)
    } else {
        Err("must be between 1kbit/s and 100Gbit/s".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_lines_are_read() {
        for (text, bits) in [
            ("10Mbit/s", 10_000_000),
            ("64 kbit/s", 64_000),
            ("1gbit", 1_000_000_000),
            ("1.5Mbit/s", 1_500_000),
            ("5000bit/s", 5000),
        ] {
            assert_eq!(parse_bits(text), Ok(bits), "{text}");
        }
        for text in [
            "",
            "10",
            "10MB/s",
            "Mbit/s",
            "0Mbit/s",
            "1..2Mbit",
            "999Gbit/s",
            "-1Mbit/s",
        ] {
            assert!(parse_bits(text).is_err(), "{text}");
        }
    }
}
