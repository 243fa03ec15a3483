//! A page of the kernel's block events, behind texts that describe it or as Linux 6.18 does; its
//! events become requests.

use trace::{BlockEventKind, PageLayout, ThreadOwner, TraceRecorder};

const LAYOUTS: &str = include_str!("../../../crates/trace/tests/data/block-events.txt");
const TEXT_END: &[u8] = b"%%\n";

pub fn read(bytes: &[u8]) {
    let mut ends = bytes.windows(TEXT_END.len());
    let (texts, page) = match ends.rposition(|it| it == TEXT_END) {
        Some(at) => bytes.split_at(at + TEXT_END.len()),
        None => (LAYOUTS.as_bytes(), bytes),
    };
    let texts = String::from_utf8_lossy(texts);
    let mut texts = texts.split("%%\n");
    let header = texts.next().unwrap_or_default();
    let kinds = [
        BlockEventKind::Started,
        BlockEventKind::Issued,
        BlockEventKind::Completed,
    ];
    let events: Vec<(BlockEventKind, &str)> = kinds.into_iter().zip(texts).collect();
    let Ok(layout) = PageLayout::parse(header, &events) else {
        return;
    };
    let mut recorder = TraceRecorder::new(layout, (0, true), Vec::new());
    let _ = recorder.page(page);
    recorder.advance(u64::MAX, &mut |thread| match thread % 3 {
        0 => ThreadOwner::Gone,
        1 => ThreadOwner::Other,
        _ => ThreadOwner::Recorded(thread, String::new()),
    });
    recorder.end_requests();
}
