//! A trace that was replayed.

use crate::reading::{Better, Unit};
use crate::replay::{Replay, ReplayPace};
use crate::table::{Figure, Role, Row, Table, Trust};

/// How the replay went. Every request counts, and there was one replay: nothing is known of how far
/// another would differ.
pub(super) fn table(found: &Replay) -> Table {
    let pace = match found.pace {
        ReplayPace::Recorded { scale: 1.0 } => "as recorded".to_owned(),
        ReplayPace::Recorded { scale } => format!("{scale}x"),
        ReplayPace::Fast { depth } => format!("as fast as possible, QD{depth}"),
    };
    let time = |name: &str, ns: f64| {
        Figure::bare(name, Unit::Seconds, Better::Lower, ns / 1e9).as_role(Role::Column)
    };
    let mut figures = vec![
        time("elapsed", found.took_ns as f64),
        Figure::exact("requests", Unit::Count, found.requests as f64),
        Figure::exact("bytes", Unit::Bytes, found.bytes as f64),
        Figure::exact("moved", Unit::Count, found.moved as f64),
        Figure::exact("left-out", Unit::Count, found.left_out as f64),
    ];
    if let Some(behind) = found.behind {
        let length = found.length_ns as f64 / 1e9;
        figures.extend([
            Figure::exact("trace-length", Unit::Seconds, length),
            time("behind", behind.mean_ns),
            time("behind-p50", behind.p50_ns as f64),
            time("behind-p99", behind.p99_ns as f64),
            time("behind-longest", behind.longest_ns as f64),
            Figure::bare("late", Unit::Ratio, Better::Lower, behind.late_share),
        ]);
    }
    let row = Row::new(vec![pace], figures, "elapsed", Trust::unless_void(&[]), &[]);
    Table::new("replay", &["pace"], vec![row])
}
