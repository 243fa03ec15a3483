//! How idle the processors of this machine are while jobs run: fio's `--idle-prof`. Source of the
//! fields: proc(5), `/proc/stat`.

use fio::output::Idleness;

use crate::args::IdlenessOf;

/// What processors had done when they were looked at.
pub struct IdlenessWatch {
    of: IdlenessOf,
    first: Vec<Ticks>,
}

/// Clock ticks of all processors, or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl IdlenessWatch {
    pub fn look(of: IdlenessOf) -> Self {
        Self {
            of,
            first: looked(),
        }
    }

    /// How idle they were since; `None` where the system does not tell, or no tick has passed.
    pub fn idleness(&self) -> Option<Idleness> {
        idleness(self.of, &self.first, &looked())
    }
}

fn looked() -> Vec<Ticks> {
    std::fs::read_to_string("/proc/stat").map_or_else(|_| Vec::new(), |text| ticks(&text))
}

/// Those of all processors, then those of each.
fn ticks(text: &str) -> Vec<Ticks> {
    let lines = text.lines().map_while(|line| line.strip_prefix("cpu"));
    let of_line = |line: &str| {
        // User, nice, system, idle, I/O wait, interrupts, soft interrupts, steal.
        let words = line
            .split_whitespace()
            .skip(usize::from(!line.starts_with(' ')));
        let ticks: Vec<u64> = words.take(8).map_while(|it| it.parse().ok()).collect();
        let idle = ticks.get(3)? + ticks.get(4)?;
        let all = ticks.iter().sum();
        Some(Ticks { idle, all })
    };
    lines.map_while(of_line).collect()
}

fn idleness(of: IdlenessOf, first: &[Ticks], last: &[Ticks]) -> Option<Idleness> {
    let share = |(first, last): (&Ticks, &Ticks)| {
        let all = last.all.checked_sub(first.all).filter(|all| *all > 0)?;
        // The system may take back idle ticks.
        let idle = last.idle.saturating_sub(first.idle).min(all);
        Some(idle as f64 * 100.0 / all as f64)
    };
    let mut shares = first.iter().zip(last).map(share);
    Some(Idleness {
        system: shares.next()??,
        each: (of == IdlenessOf::Percpu).then(|| shares.map(Option::unwrap_or_default).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idleness_is_the_share_of_idle_ticks_between_two_looks() {
        let first = ticks("cpu  10 0 10 60 20 0 0 0 5 0\ncpu0 10 0 10 60 20 0 0 0 5 0\nintr 9\n");
        let last = ticks("cpu  20 0 20 130 30 0 0 100 5 0\ncpu0 60 0 10 100 30 0 0 0\nintr 9\n");
        assert_eq!(first.len(), 2);
        let expected = Idleness {
            system: 40.0,
            each: Some(vec![50.0]),
        };
        assert_eq!(idleness(IdlenessOf::Percpu, &first, &last), Some(expected));
        let system = idleness(IdlenessOf::System, &first, &last);
        assert_eq!(system.map(|it| it.each), Some(None));
        assert_eq!(idleness(IdlenessOf::System, &[], &last), None);
        assert_eq!(idleness(IdlenessOf::System, &last, &last), None);
    }
}
