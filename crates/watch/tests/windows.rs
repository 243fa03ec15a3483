//! Windows keep within their budget, and merging them loses nothing.

use random::{Purpose, Stream};
use watch::{StoredWindow, WatchCounter, WatchWindow, WindowError, next_merge};

/// A minute of so many reads and syncs a second, spread over four octaves.
fn minute(stream: &mut Stream, number: u64, per_second: u64) -> WatchWindow {
    let mut window = WatchWindow::at(1_700_000_040 + 60 * number);
    for _ in 0..60 * per_second {
        let time = |stream: &mut Stream| (100e3 * (4.0 * stream.unit()).exp2()) as u64;
        window.reads.record(time(stream));
        window.syncs.record(time(stream));
    }
    for counter in WatchCounter::ALL {
        window.count(counter, stream.below(1 << 40));
    }
    window
}

fn stored(window: &WatchWindow) -> StoredWindow {
    StoredWindow {
        start_s: window.start_s,
        span_s: window.span_s,
        bytes: window.to_bytes().len() as u64,
    }
}

/// Bytes of seven days at a probe a second of each kind, all minutes kept.
#[test]
fn seven_days_of_minutes_take_less_than_twenty_megabytes() {
    let mut stream = Stream::new(1, 0, Purpose::Device);
    let days = 7 * 24 * 60;
    let bytes: u64 = (0..days)
        .map(|number| stored(&minute(&mut stream, number, 1)).bytes)
        .sum();
    assert!(bytes < 6_000_000, "{bytes}");
}

#[test]
fn older_minutes_become_hours_when_there_is_no_room() {
    let budget = 300_000;
    let mut stream = Stream::new(2, 0, Purpose::Device);
    let mut kept: Vec<WatchWindow> = Vec::new();
    let mut sizes: Vec<StoredWindow> = Vec::new();
    let mut all: Option<WatchWindow> = None;
    for number in 0..2 * 24 * 60 {
        let window = minute(&mut stream, number, 1);
        all.get_or_insert_with(|| WatchWindow::new(window.start_s, 0))
            .merge(&window);
        sizes.push(stored(&window));
        kept.push(window);
        while let Some(range) = next_merge(&sizes, budget) {
            let merged = merged(&kept[range.clone()]);
            sizes.splice(range.clone(), [stored(&merged)]);
            kept.splice(range, [merged]);
        }
        let bytes: u64 = sizes.iter().map(|it| it.bytes).sum();
        assert!(bytes <= budget, "{bytes} after {number} minutes");
    }
    // In parts or one by one, it is the same.
    assert_eq!(Some(merged(&kept)), all);
    assert_eq!(kept[1].span_s, 3_600, "a whole hour: {:?}", sizes[1]);
    assert_eq!(kept.last().map(|it| it.span_s), Some(60), "minutes last");
}

fn merged(windows: &[WatchWindow]) -> WatchWindow {
    let mut merged = windows[0].clone();
    windows[1..].iter().for_each(|it| merged.merge(it));
    merged
}

#[test]
fn a_window_is_read_again_and_damage_is_refused() {
    let window = minute(&mut Stream::new(3, 0, Purpose::Device), 5, 1);
    let bytes = window.to_bytes();
    assert_eq!(WatchWindow::from_bytes(&bytes), Ok(window));
    for len in 0..bytes.len() {
        let cut = WatchWindow::from_bytes(&bytes[..len]);
        assert_eq!(cut, Err(WindowError::Damaged), "{len} bytes");
    }
    let newer = [&[9], &bytes[1..]].concat();
    assert_eq!(WatchWindow::from_bytes(&newer), Err(WindowError::Form(9)));
}
