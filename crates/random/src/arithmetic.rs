//! Logarithm and exponential from the four basic operations only.
//!
//! The standard library calls the platform's math library, whose last digit differs between
//! platforms and versions; one different digit would send a request elsewhere. IEEE 754 defines the
//! results of the operations used here. Accurate to 2e-15, which the tests check.

/// ln 2 in two parts whose sum is exact to more than double precision. The high part ends in zero
/// bits, so that a whole number times it has no rounding error.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1/23, 1/21, ..., 1/3. Tables, because a chain of divisions takes three times as long.
const ARTANH_SERIES: [f64; 11] = {
    let mut factors = [0.0; 11];
    let mut at = 0;
    while at < 11 {
        factors[at] = 1.0 / (23 - 2 * at) as f64;
        at += 1;
    }
    factors
};

/// 1/13!, 1/12!, ..., 1/1!, 1/0!.
const EXP_SERIES: [f64; 14] = {
    let mut factors = [1.0; 14];
    let mut factorial: u64 = 1;
    let mut term = 1;
    while term < 14 {
        factorial *= term as u64;
        factors[13 - term] = 1.0 / factorial as f64;
        term += 1;
    }
    factors
};

/// Natural logarithm of a positive, finite, normal number; minus infinity for zero.
///
/// With x = 2^e m, ln x = e ln 2 + 2 artanh((m - 1) / (m + 1)), summed as a power series; m lies
/// between sqrt(1/2) and sqrt(2), where eleven terms suffice.
pub(crate) fn ln(x: f64) -> f64 {
    if x <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1_023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1_023 << 52));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = ARTANH_SERIES
        .iter()
        .fold(0.0, |sum, factor| (sum + factor) * square);
    let exponent = f64::from(exponent);
    exponent * LN_2_HIGH + (2.0 * ratio + (2.0 * ratio * series + exponent * LN_2_LOW))
}

/// The exponential function; zero below the normal range, infinite above it.
///
/// exp x = 2^k exp r with |r| <= ln 2 / 2, where thirteen terms of the power series suffice.
pub(crate) fn exp(x: f64) -> f64 {
    if x < -708.0 {
        return 0.0;
    }
    if x > 709.0 {
        return f64::INFINITY;
    }
    let power = (x / std::f64::consts::LN_2).round();
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    let series = EXP_SERIES
        .iter()
        .fold(0.0, |sum, factor| sum * rest + factor);
    series * f64::from_bits(((power as i64 + 1_023) as u64) << 52)
}

/// (exp t - 1) / t, also right where t is close to zero (W. Kahan's method).
pub(crate) fn exp_minus_one_over(t: f64) -> f64 {
    let power = exp(t);
    if t.abs() > 0.5 {
        return (power - 1.0) / t;
    }
    if power == 1.0 {
        1.0
    } else {
        (power - 1.0) / ln(power)
    }
}

/// ln(1 + t) / t for t > -1, also right where t is close to zero (W. Kahan's method).
pub(crate) fn ln_one_plus_over(t: f64) -> f64 {
    let sum = 1.0 + t;
    if t.abs() > 0.5 {
        return ln(sum) / t;
    }
    if sum == 1.0 {
        1.0
    } else {
        ln(sum) / (sum - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{exp, exp_minus_one_over, ln, ln_one_plus_over};

    #[track_caller]
    fn check_close(ours: f64, theirs: f64, at: f64) {
        let error = (ours - theirs).abs() / theirs.abs().max(f64::MIN_POSITIVE);
        assert!(
            error < 2e-15,
            "at {at}: {ours} instead of {theirs}, relative error {error:e}"
        );
    }

    #[test]
    fn logarithms_agree_with_the_platform() {
        let mut x = 1e-300;
        while x < 1e300 {
            check_close(ln(x), x.ln(), x);
            x *= 1.37;
        }
        for step in 1..1_000 {
            let near_one = 1.0 + f64::from(step - 500) * 1e-6;
            check_close(ln(near_one), near_one.ln(), near_one);
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn powers_agree_with_the_platform() {
        for step in -7_000..7_000 {
            let x = f64::from(step) * 0.1001;
            check_close(exp(x), x.exp(), x);
        }
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(exp(800.0), f64::INFINITY);
    }

    #[test]
    fn ratios_agree_with_the_platform_near_zero() {
        for power in -60..3 {
            for t in [2_f64.powi(power), -(2_f64.powi(power))] {
                check_close(exp_minus_one_over(t), t.exp_m1() / t, t);
                if t > -1.0 {
                    check_close(ln_one_plus_over(t), t.ln_1p() / t, t);
                }
            }
        }
        assert_eq!(exp_minus_one_over(0.0), 1.0);
        assert_eq!(ln_one_plus_over(0.0), 1.0);
    }
}
