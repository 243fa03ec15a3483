//! `seekstone watch --past`: what was kept, hour by hour, and its events.

use archive::Archive;
use host::environment::{local_iso, unix_ms, utc_iso};
use report::{watch_event, watch_hours};
use watch::WatchEvent;

use super::place::whole_name;
use super::session::{event_json, minute_json};
use crate::args::WatchArgs;
use crate::commands::setup::archive_path;
use crate::exit::Exit;
use crate::output;

/// Show the hours and events of each target that were kept of the last time.
///
/// # Errors
/// When there is no archive, or nothing was kept of a target.
pub fn show(args: &WatchArgs) -> anyhow::Result<Exit> {
    let archive = Archive::open_existing(&archive_path(args.archive.as_ref())?)?;
    let past_s = args.past.unwrap_or_default().as_nanos() / 1_000_000_000;
    for target in &args.targets {
        let name = &whole_name(target);
        // A model's time begins with 1970.
        let now_s = match target.is_model() {
            true => {
                let windows = archive.watched_windows(name, 0)?;
                windows.last().map_or(0, |it| it.start_s + it.span_s)
            }
            false => unix_ms() / 1_000,
        };
        let after_s = now_s.saturating_sub(past_s);
        let windows = archive.watched_windows(name, after_s)?;
        let events = archive.watched_events(name, after_s)?;
        if windows.is_empty() && events.is_empty() {
            let known = archive.watched_targets()?;
            let known = match known.is_empty() {
                true => "nothing was watched yet".to_owned(),
                false => format!("watched were {}", known.join(", ")),
            };
            refuse!("nothing is kept of {name}: {known}");
        }
        let clock = if target.is_model() {
            utc_iso
        } else {
            local_iso
        };
        if args.json {
            let minutes = windows.iter().map(|it| minute_json(name, it, clock));
            let what = |it: &WatchEvent| it.slow.end_ms.map_or("began", |_| "ended");
            let events = events.iter().map(|it| event_json(what(it), it, clock));
            for line in minutes.chain(events) {
                output::print(&line.to_string())?;
            }
            continue;
        }
        output::print(&format!("{name}\n{}", watch_hours(&windows, &clock)))?;
        for event in &events {
            output::print(&watch_event(event, &clock))?;
        }
    }
    Ok(Exit::Done)
}
