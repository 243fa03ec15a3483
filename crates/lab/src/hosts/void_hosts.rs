//! Effect of hosts with invalid numbers on the sum of all hosts.

use results::{Measurement, Severity, Warning, WarningCode};

/// Warnings that make a host's row invalid, but do not apply to the sum.
const OF_HOSTS: [WarningCode; 4] = [
    WarningCode::BackgroundIo,
    WarningCode::NoOperation,
    WarningCode::NotFromDevice,
    WarningCode::Standstill,
];
/// The sum is invalid if invalid rows had this share of its operations.
const VOID_SHARE: f64 = 0.5;

/// A warning for each cause that makes rows of hosts invalid; severity invalid if they had half of
/// the operations.
pub(super) fn void_hosts(sum: &Measurement, rows: &[Measurement]) -> Vec<Warning> {
    let all: u64 = rows.iter().map(|row| row.completions_all).sum();
    let found = OF_HOSTS.iter().filter_map(|code| {
        let of = |row: &Measurement| {
            let mut warnings = row.warnings.iter();
            let found = warnings.find(|it| it.code == *code && it.severity == Severity::Invalid);
            found.cloned()
        };
        let void: Vec<(&Measurement, Warning)> = rows
            .iter()
            .filter_map(|row| of(row).map(|why| (row, why)))
            .collect();
        let done: u64 = void.iter().map(|(row, _)| row.completions_all).sum();
        let (_, first) = void.first()?;
        let cause = format!(
            "{}: invalid on {} of {} ranks. {}",
            sum.title,
            void.len(),
            rows.len(),
            first.cause
        );
        let severity = match done as f64 >= VOID_SHARE * all as f64 {
            true => Severity::Invalid,
            false => Severity::Warning,
        };
        Some(Warning::new(severity, code.clone(), cause).advise(first.advice.clone()))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(completions: u64, warnings: Vec<Warning>) -> Measurement {
        Measurement {
            completions_all: completions,
            warnings,
            ..Measurement::empty()
        }
    }

    #[test]
    fn a_sum_is_void_where_void_hosts_did_half_of_it() {
        let check_of = |code: &WarningCode, (void, sound): (u64, u64), expected: &[Severity]| {
            let why = Warning::invalid(code.clone(), "rank 1: it must not be used");
            let rows = [row(void, vec![why]), row(sound, Vec::new())];
            let found = void_hosts(&Measurement::empty(), &rows);
            let severities: Vec<Severity> = found.iter().map(|it| it.severity).collect();
            assert_eq!(
                severities,
                expected,
                "{void} of {}: {found:?}",
                void + sound
            );
        };
        let check = |void, sound, expected: &[Severity]| {
            for code in &OF_HOSTS {
                check_of(code, (void, sound), expected);
            }
        };
        check(60, 40, &[Severity::Invalid]);
        check(50, 50, &[Severity::Invalid]);
        check(40, 60, &[Severity::Warning]);
        let marked = Warning::warn(WarningCode::BackgroundIo, "rank 0: 20 % was foreign");
        let rows = [row(50, vec![marked]), row(50, Vec::new())];
        assert_eq!(void_hosts(&Measurement::empty(), &rows), []);
    }
}
