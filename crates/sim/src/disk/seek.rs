//! Seek times by distance.

/// A seek curve: nanoseconds by distance in cylinders.
#[derive(Clone, Debug, PartialEq)]
pub enum SeekCurve {
    /// Measured points of (cylinders, nanoseconds), ascending and linearly interpolated, with the
    /// first and last segment extrapolated.
    Points(Vec<(u32, f64)>),
    /// From minimum, mean and maximum time of a data sheet: min + A sqrt(d-1) + B (d-1), with the
    /// mean over all pairs of cylinders. Source: E. K. Lee and R. H. Katz, "An Analytic Performance
    /// Model of Disk Arrays", SIGMETRICS 1993.
    Lee {
        /// One cylinder, ns.
        min: f64,
        /// Mean, ns.
        avg: f64,
        /// Full stroke, ns.
        max: f64,
    },
    /// The shape of another drive, scaled to this drive's cylinders and its minimum and maximum
    /// time.
    Stretched {
        /// The other drive.
        shape: MeasuredSeekCurve,
        /// One cylinder, ns.
        min: f64,
        /// Full stroke, ns.
        max: f64,
    },
    /// a + b sqrt(d) below the knee, c + e d from there on.
    SqrtLinear {
        /// Constant of short seeks, ns.
        a: f64,
        /// Factor of the root, ns.
        b: f64,
        /// Constant of long seeks, ns.
        c: f64,
        /// Factor of the distance, ns.
        e: f64,
        /// The distance from which seeks are long.
        knee: u32,
    },
    /// A stepper motor: the same time per cylinder, plus settling.
    Steps {
        /// Per cylinder, ns.
        step: f64,
        /// Settling time, ns.
        settle: f64,
    },
}

/// A drive with a known seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredSeekCurve {
    /// DEC RZ26: a small drive of the early 1990s.
    Rz26,
    /// HP 97560: a larger drive.
    Hp97560,
}

/// The DEC RZ26 over 2599 cylinders: 18 of the 64 seeks that were measured for the DiskSim
/// simulation environment (J. Bucy et al., "The DiskSim Simulation Environment Version 4.0",
/// CMU-PDL-08-101, 2008), rounded to 10 us. The first step of the arm is much shorter than the
/// second, which no formula from three data-sheet times reproduces.
const RZ26: [(u32, f64); 18] = [
    (1, 1.01e6),
    (2, 1.90e6),
    (3, 2.28e6),
    (5, 2.66e6),
    (10, 2.88e6),
    (20, 3.36e6),
    (40, 4.02e6),
    (60, 4.66e6),
    (100, 5.49e6),
    (175, 6.82e6),
    (300, 7.70e6),
    (450, 8.72e6),
    (700, 10.02e6),
    (1000, 11.66e6),
    (1400, 13.46e6),
    (1800, 15.31e6),
    (2200, 16.93e6),
    (2569, 19.10e6),
];
const RZ26_CYLINDERS: u32 = 2599;

/// The HP 97560 as measured: 1962 cylinders, 3.24 + 0.400 sqrt(d) ms below 383 of them, 8.00 +
/// 0.008 d ms from there. Source: C. Ruemmler and J. Wilkes, "An Introduction to Disk Drive
/// Modeling", IEEE Computer 27(3), 1994.
const HP_97560: (SeekCurve, u32) = (
    SeekCurve::SqrtLinear {
        a: 3.24e6,
        b: 0.4e6,
        c: 8.0e6,
        e: 8e3,
        knee: 383,
    },
    1962,
);

impl SeekCurve {
    /// Seek time for each distance from zero to the last cylinder, nanoseconds.
    pub fn table(&self, cylinders: u32) -> Vec<u64> {
        let time = |distance| self.time(distance, cylinders).max(0.0).round() as u64;
        let distances = 1..cylinders.max(1);
        std::iter::once(0).chain(distances.map(time)).collect()
    }

    /// Seek time for a distance of at least one, nanoseconds.
    fn time(&self, distance: u32, cylinders: u32) -> f64 {
        let d = f64::from(distance);
        match self {
            Self::Points(points) => interpolate(points, d),
            Self::Stretched { shape, min, max } => {
                let model_cylinders = match shape {
                    MeasuredSeekCurve::Rz26 => RZ26_CYLINDERS,
                    MeasuredSeekCurve::Hp97560 => HP_97560.1,
                };
                let far = f64::from(cylinders.saturating_sub(2).max(1));
                let model_far = f64::from(model_cylinders - 2);
                let place = 1.0 + (d - 1.0) / far * model_far;
                let time = |d: f64| match shape {
                    MeasuredSeekCurve::Rz26 => interpolate(&RZ26, d),
                    MeasuredSeekCurve::Hp97560 => HP_97560.0.time_at(d, model_cylinders),
                };
                let (low, high) = (time(1.0), time(1.0 + model_far));
                min + (time(place) - low) / (high - low) * (max - min)
            }
            _ => self.time_at(d, cylinders),
        }
    }

    /// A curve in closed form, at a distance that need not be an integer.
    fn time_at(&self, d: f64, cylinders: u32) -> f64 {
        match self {
            Self::Lee { min, avg, max } => {
                let far = f64::from(cylinders.saturating_sub(1).max(1));
                let root = (-10.0 * min + 15.0 * avg - 5.0 * max) / (3.0 * far.sqrt());
                let linear = (7.0 * min - 15.0 * avg + 8.0 * max) / (3.0 * far);
                min + root * (d - 1.0).sqrt() + linear * (d - 1.0)
            }
            Self::SqrtLinear { a, b, c, e, knee } => {
                if d < f64::from(*knee) {
                    a + b * d.sqrt()
                } else {
                    c + e * d
                }
            }
            Self::Steps { step, settle } => settle + step * d,
            _ => 0.0,
        }
    }
}

fn interpolate(points: &[(u32, f64)], d: f64) -> f64 {
    let [first, rest @ ..] = points else {
        return 0.0;
    };
    let after = points.partition_point(|&(at, _)| f64::from(at) < d);
    let right = after.clamp(1, points.len() - 1);
    if rest.is_empty() {
        return first.1;
    }
    let ((x0, y0), (x1, y1)) = (points[right - 1], points[right]);
    let (x0, x1) = (f64::from(x0), f64::from(x1));
    y0 + (d - x0) / (x1 - x0) * (y1 - y0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_sheet_curve_has_the_ends_and_the_mean_of_the_data_sheet() {
        let curve = SeekCurve::Lee {
            min: 3e6,
            avg: 10.5e6,
            max: 18e6,
        };
        let cylinders = 2000;
        let table = curve.table(cylinders);
        assert_eq!(table[1], 3_000_000);
        assert!(
            (table[1999] as f64 / 18e6 - 1.0).abs() < 0.002,
            "{}",
            table[1999]
        );
        // Over all pairs of cylinders, d apart in 2 (C - d) of C^2 cases; no seek takes none.
        let c = f64::from(cylinders);
        let mean = (1..2000).map(|d| {
            let share = 2.0 * (c - f64::from(d)) / (c * (c - 1.0));
            share * table[d as usize] as f64
        });
        let mean: f64 = mean.sum();
        assert!((mean / 10.5e6 - 1.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_stretched_curve_meets_its_ends_and_rises() {
        for shape in [MeasuredSeekCurve::Rz26, MeasuredSeekCurve::Hp97560] {
            let (min, max) = (3e6, 18e6);
            let table = SeekCurve::Stretched { shape, min, max }.table(6138);
            assert_eq!(
                (table[0], table[1], table[6137]),
                (0, 3_000_000, 18_000_000)
            );
            // The published formula of the HP 97560 drops by 4 us at its knee.
            assert!(
                table.windows(2).all(|pair| pair[0] <= pair[1] + 10_000),
                "{shape:?}"
            );
        }
    }

    #[test]
    fn points_are_met_and_joined_by_lines() {
        let curve = SeekCurve::Points(vec![(1, 1e6), (11, 2e6), (100, 10e6)]);
        let table = curve.table(200);
        assert_eq!(
            (table[1], table[6], table[11]),
            (1_000_000, 1_500_000, 2_000_000)
        );
        assert!(table[150] > table[100]);
    }

    #[test]
    fn the_reference_drive_is_as_published() {
        let table = HP_97560.0.table(HP_97560.1);
        assert_eq!(table[100], 7_240_000);
        assert_eq!(table[1000], 16_000_000);
    }
}
