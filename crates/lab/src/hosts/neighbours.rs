//! Ranks on one machine share its devices: I/O of one rank is not background I/O for the next.

use std::collections::BTreeMap;

use procedure::{OwnDeviceWork, Trial};
use results::environment::BackgroundIo;
use results::{Measurement, Warning, WarningCode};
use units::Duration;

use super::ranks::Ranks;
use crate::storage::{Neighbours, Witness, judge};

/// Measurement of a rank, and the upper bound of its own I/O.
pub(super) struct RankRow {
    pub rank: u32,
    pub measurement: Measurement,
    pub own: Option<OwnDeviceWork>,
    pub elapsed: Duration,
}

impl RankRow {
    fn device(&self) -> Option<String> {
        let device = self.measurement.counters.as_ref()?.device.as_ref()?;
        Some(device.name.clone())
    }
}

/// Adds warnings about background I/O of each device on each machine. If a rank at work did not
/// report, its I/O cannot be told apart, and there is no warning. `idle` ranks did no I/O.
pub(super) fn judge_machines(
    rows: &mut [RankRow],
    machines: &[Vec<u32>],
    idle: &[u32],
    (trial, neighbours): (&Trial, Neighbours),
) {
    for members in machines {
        let reported: Vec<u32> = rows.iter().map(|row| row.rank).collect();
        let has_reported = |rank: &u32| reported.contains(rank) || idle.contains(rank);
        if !members.iter().all(has_reported) {
            continue;
        }
        let mut devices: BTreeMap<Option<String>, Vec<Witness<'_>>> = BTreeMap::new();
        for row in rows.iter_mut().filter(|row| members.contains(&row.rank)) {
            let device = devices.entry(row.device()).or_default();
            device.push(Witness {
                measurement: &mut row.measurement,
                own: row.own,
                elapsed: row.elapsed,
                allocated: None,
            });
        }
        for witnesses in devices.values_mut() {
            judge(witnesses, trial, neighbours);
        }
    }
}

/// Summary of each machine with several ranks, a note each.
pub(super) fn machine_notes(rows: &[RankRow], ranks: &Ranks) -> Vec<Warning> {
    let machines = ranks.machines();
    let several = machines.iter().filter(|members| members.len() > 1);
    let note = |members: &Vec<u32>| {
        let here: Vec<&RankRow> = rows
            .iter()
            .filter(|it| members.contains(&it.rank))
            .collect();
        let words = machine_words(&here, &ranks.host(members[0]).unwrap_or_default());
        words.map(|text| Warning::info(WarningCode::Hosts, text))
    };
    several.filter_map(note).collect()
}

/// CPU, cache and device use of one machine, in a sentence; `None` if fewer than two ranks
/// reported.
fn machine_words(rows: &[&RankRow], name: &str) -> Option<String> {
    if rows.len() < 2 {
        return None;
    }
    let each = rows.iter().map(|it| &it.measurement);
    let busy = each.clone().filter_map(|it| Some(it.cpu?.cores_busy));
    let mut parts = vec![format!("{:.2} processors busy", busy.sum::<f64>())];
    let bytes: u64 = each.clone().map(|it| it.bytes_all).sum();
    let read = each.filter(|it| it.bytes_all > 0);
    let cached = read.map(|it| Some(it.page_cache_share? * it.bytes_all as f64));
    if let Some(cached) = cached.sum::<Option<f64>>().filter(|_| bytes > 0) {
        let percent = cached / bytes as f64 * 100.0;
        parts.push(format!("{percent:.0} % of the bytes from the page cache"));
    }
    let mut devices: BTreeMap<String, BackgroundIo> = BTreeMap::new();
    for row in rows {
        let counters = row.measurement.counters.as_ref();
        if let (Some(device), Some(foreign)) = (row.device(), counters.and_then(|it| it.foreign)) {
            let most = devices.entry(device).or_default();
            most.share = most.share.max(foreign.share);
        }
    }
    let foreign = devices.iter();
    parts.extend(foreign.map(|(device, it)| {
        let percent = it.share * 100.0;
        format!("{percent:.0} % of the I/O on {device} from other processes")
    }));
    Some(format!(
        "{} ranks on {name}: {}.",
        rows.len(),
        parts.join(", ")
    ))
}
