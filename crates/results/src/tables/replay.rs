//! Tables of trace replays.

use units::{Bytes, format_counted, format_duration_ns};

use crate::metric::*;
use crate::replay::{Replay, ReplayDeal, ReplayHost, ReplayLag, ReplayPace};
use crate::show::Show;
use crate::table::{Figure, Role, Row, Table, Trust, filled};

/// Columns on screen.
const SHOWN: &str =
    "elapsed stretch behind behind-p50 behind-p99 behind-longest late moved left-out";

impl Replay {
    /// Results of the replay, and of each host. There was only one replay, so the variation between
    /// replays is unknown.
    pub fn tables(&self) -> Vec<Table> {
        let hosts = self.hosts.iter().map(of_host);
        let hosts = Table::new("replay-hosts", &["rank"], hosts.collect());
        let dealt = self.dealt.map(|dealt| match dealt {
            ReplayDeal::Files => "Files of the trace were dealt to ranks in turn.".to_owned(),
            ReplayDeal::Requests => "Requests of the trace were dealt to ranks in turn.".to_owned(),
        });
        filled([self.whole(), hosts.titled("Hosts").noted(dealt)])
    }

    fn whole(&self) -> Table {
        let pace = match self.pace {
            ReplayPace::Recorded { scale: 1.0 } => "as recorded".to_owned(),
            ReplayPace::Recorded { scale } => format!("{scale}x"),
            ReplayPace::Fast { depth } => format!("as fast as possible, QD{depth}"),
        };
        let mut figures = vec![
            ELAPSED.bare_ns(self.took_ns as f64).as_role(Role::Column),
            REQUESTS.count(self.requests),
            RECORDED.count(self.recorded),
            FILES.exact(self.files),
            EXTENT.count(self.extent_bytes),
            BYTES.count(self.bytes),
            MOVED.count(self.moved),
            LEFT_OUT.count(self.left_out),
        ];
        if let Some(behind) = self.behind {
            let length = self.length_ns as f64 / 1e9;
            figures.push(TRACE_LENGTH.exact(length));
            figures.extend(self.stretch().map(|it| STRETCH.bare(it)));
            figures.extend(of_schedule(&behind));
        }
        let row = Row::new(vec![pace], figures, "elapsed", Trust::Reliable);
        Table::new("replay", &["pace"], vec![row])
            .titled("Replay")
            .shown(Show::default().columns(SHOWN))
            .noted(std::iter::once(self.trace()).chain(self.behind.map(|_| legend())))
    }

    /// Description of the trace.
    fn trace(&self) -> String {
        let files = match self.files {
            1 => String::new(),
            files => format!(" of {files} files or devices"),
        };
        let length = match self.behind {
            Some(_) => format!(", {}", format_duration_ns(self.length_ns as f64)),
            None => String::new(),
        };
        format!(
            "Trace: {}, {}{length}, {}{files}.",
            self.format,
            format_counted(self.recorded, "request"),
            Bytes(self.extent_bytes),
        )
    }
}

fn legend() -> String {
    let late = format_duration_ns(ReplayLag::LATE_NS as f64);
    format!("behind: from when a request was due to when it was issued. Late: more than {late}.")
}

fn of_schedule(behind: &ReplayLag) -> [Figure; 5] {
    let column = |metric: KnownMetric, ns: f64| metric.bare_ns(ns).as_role(Role::Column);
    [
        column(BEHIND, behind.mean_ns),
        column(BEHIND_P50, behind.p50_ns as f64),
        column(BEHIND_P99, behind.p99_ns as f64),
        column(BEHIND_LONGEST, behind.longest_ns as f64),
        LATE.bare(behind.late_share),
    ]
}

fn of_host(host: &ReplayHost) -> Row {
    let figures = [
        REQUESTS.count(host.requests),
        BYTES.count(host.bytes),
        ELAPSED.bare_ns(host.took_ns as f64),
    ];
    let behind = host.behind.as_ref().into_iter().flat_map(of_schedule);
    let figures = figures.into_iter().chain(behind);
    let figures = figures.map(|it| it.as_role(Role::Column));
    let levels = vec![host.rank.to_string()];
    let row = Row::new(levels, figures, "requests", Trust::Reliable);
    row.with_word("host", &host.host)
}
