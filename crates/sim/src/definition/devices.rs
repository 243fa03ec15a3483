//! Keys of flash, CD-ROM, tape, memory, volumes, and links.

use crate::cdrom::CdSpec;
use crate::definition::form::{DefinitionKey, Form, keys, needed, or};
use crate::flash::{Cleaning, FlashContent, FlashSpec};
use crate::link::LinkSpec;
use crate::memory::MemorySpec;
use crate::tape::TapeSpec;
use crate::volume::VolumeSpec;

/// Maximum number of pages that the model keeps in memory.
const FLASH_PAGES_MAX: u64 = 1 << 26;

keys! {
    // Flash.
    CHANNELS = needed("channels", "channels, such as 8");
    DIES = needed("dies", "dies on each channel, such as 8");
    BLOCKS = needed("blocks", "blocks of a die, such as 64");
    BLOCK_PAGES = needed("pages-per-block", "pages of a block, such as 256");
    PAGE = needed("page", "bytes of a page, such as \"8 KiB\"");
    READ = needed("read", "the time from page to register, such as \"75 us\"");
    PROGRAM = needed("program", "the time from register to page, \"600 us\"");
    ERASE = needed("erase", "the time to erase a block, such as \"3.8 ms\"");
    CHANNEL_RATE = needed("channel-rate", "of each channel, such as \"333 MB/s\"");
    SPARE = needed("spare", "share of pages that the user does not see, \"7%\"");
    RESERVE = or("reserve", "2", "blocks of a die that stay free, such as 2");
    CLEANING = or("cleaning", "greedy", "which block: \"greedy\" or \"fifo\"");
    WRITE_BUFFER = or("write-buffer", "0", "bytes of writes that may wait, or 0");
    FLASH_OVERHEAD = or("overhead", "0", "the controller's time, such as \"10 us\"");
    CONTENT = or("content", "full", "at the start: \"full\" or \"fresh\"");
    // A CD-ROM drive.
    SPEED = needed("speed", "multiples of 150 KiB per second, such as 8");
    CD_BLOCKS = or("blocks", "333000", "blocks of 2048 bytes, such as 333000");
    RPM_INNER = needed("rpm-inner", "turns per minute inside, such as 4240");
    RPM_OUTER = needed("rpm-outer", "turns per minute outside, such as 1600");
    SEEK_SHORT = needed("seek-short", "the shortest seek, such as \"112 ms\"");
    SEEK_FULL = needed("seek-full", "what a full stroke adds, such as \"675 ms\"");
    NEAR = or("near", "2000", "blocks within which no seek is needed");
    CD_BUFFER = or("buffer", "256 KiB", "bytes that are read ahead");
    CD_OVERHEAD = or("overhead", "0", "the controller's time, such as \"1 ms\"");
    // A tape drive.
    PASSES = needed("passes", "passes over the length of the tape, such as 64");
    TAPE_SIZE = needed("capacity", "bytes without compression, such as \"10 GB\"");
    TAPE_RATE = needed("rate", "bytes per second on tape, such as \"1.25 MB/s\"");
    SEARCH = needed("search", "from end to end at search speed, such as \"92 s\"");
    LOCATE = or("locate", "0", "what every search takes besides, such as \"5 s\"");
    TRACK_CHANGE = or("track-change", "0", "from one track to another, such as \"5 s\"");
    REPOSITION = needed("reposition", "from stop to stream, such as \"3 s\"");
    TAPE_BUFFER = needed("buffer", "the drive's memory, such as \"2 MiB\"");
    COMPRESSION = or("compression", "1", "bytes for each on tape, such as 1.5");
    TAPE_BUS = or("bus", "10 MB/s", "bytes per second to the host");
    TAPE_OVERHEAD = or("overhead", "0", "the controller's time, such as \"1 ms\"");
    // A link.
    BANDWIDTH = needed("bandwidth", "bytes per second, such as \"1.25 MB/s\"");
    ROUND_TRIP = needed("round-trip", "there and back, such as \"1 ms\"");
    PACKET = or("packet", "1500", "bytes of the largest packet");
    HEADER = or("header", "40", "bytes of a packet that are no data");
    WINDOW = or("window", "64 KiB", "data under way without acknowledgement");
    REQUEST = or("request", "64 KiB", "data of one request at most");
    // A memory disk.
    MEMORY_SIZE = needed("memory-size", "bytes that it holds, such as \"4 MiB\"");
    ACCESS = or("access", "0", "before data move, such as \"0.5 ms\"");
    MEMORY_RATE = needed("rate", "bytes per second, such as \"500 kB/s\"");
    // A cloud volume.
    VOLUME_SIZE = needed("volume-size", "bytes that it holds, such as \"30 GiB\"");
    LATENCY = needed("latency", "the mean time of an answer, such as \"1 ms\"");
    LATENCY_LEAST = or("latency-least", "0", "the shortest, such as \"0.5 ms\"");
}

/// Parses a flash device.
pub fn flash(form: &mut Form<'_, '_>) -> Option<FlashSpec> {
    let spec = form.whole(|form| FlashSpec {
        channels: form.count(&CHANNELS, 1..=256) as u32,
        dies: form.count(&DIES, 1..=256) as u32,
        blocks: form.count(&BLOCKS, 8..=65_536) as u32,
        pages_per_block: form.count(&BLOCK_PAGES, 4..=8192) as u32,
        page: form.size_in(&PAGE, 512..=1 << 20) as u32,
        read: form.span(&READ),
        program: form.span(&PROGRAM),
        erase: form.span(&ERASE),
        channel_rate: form.rate(&CHANNEL_RATE),
        spare: form.share(&SPARE),
        reserve: form.count(&RESERVE, 1..=1024) as u32,
        cleaning: form.word(
            &CLEANING,
            &[("greedy", Cleaning::Greedy), ("fifo", Cleaning::Fifo)],
        ),
        write_buffer: form.size(&WRITE_BUFFER),
        overhead: form.span(&FLASH_OVERHEAD),
        content: form.word(
            &CONTENT,
            &[("full", FlashContent::Full), ("fresh", FlashContent::Fresh)],
        ),
    })?;
    let [channels, dies, blocks, pages] =
        [spec.channels, spec.dies, spec.blocks, spec.pages_per_block].map(u64::from);
    if channels * dies * blocks * pages > FLASH_PAGES_MAX {
        let why = format!("the model keeps {FLASH_PAGES_MAX} pages at most: take fewer blocks");
        form.disagree(&BLOCKS, &BLOCK_PAGES, why);
        return None;
    }
    let room = blocks.saturating_sub(u64::from(spec.reserve) + 1) * pages;
    if u64::from(spec.user_pages()) >= room || spec.user_pages() == 0 {
        let why = format!("{} blocks of {blocks} must be spare", spec.reserve + 1);
        form.disagree(&SPARE, &RESERVE, why);
        return None;
    }
    Some(spec)
}

/// Parses a CD-ROM drive.
pub fn cd(form: &mut Form<'_, '_>) -> Option<CdSpec> {
    form.whole(|form| {
        let rate = form.number(&SPEED, 0.1..=1000.0) * 150.0 * 1024.0;
        let blocks = form.count(&CD_BLOCKS, 1000..=10_000_000);
        let [inner, outer] = [RPM_INNER, RPM_OUTER].map(|key| form.number(&key, 1.0..=1e6));
        let spec = CdSpec {
            rate,
            blocks,
            turn_inner: (60e9 / inner).round() as u64,
            turn_outer: (60e9 / outer).round() as u64,
            seek_short: form.span(&SEEK_SHORT),
            seek_full: form.span(&SEEK_FULL),
            near: form.count(&NEAR, 0..=1_000_000),
            buffer: form.size_in(&CD_BUFFER, 2048..=1 << 30),
            overhead: form.span(&CD_OVERHEAD),
        };
        if inner < outer {
            form.disagree(&RPM_INNER, &RPM_OUTER, "it turns faster inside");
        }
        spec
    })
}

/// Parses a tape drive.
pub fn tape(form: &mut Form<'_, '_>) -> Option<TapeSpec> {
    form.whole(|form| {
        let passes = form.count(&PASSES, 1..=10_000);
        let size = form.size_in(&TAPE_SIZE, 1 << 20..=1 << 50);
        let spec = TapeSpec {
            passes,
            pass_bytes: size / passes,
            rate: form.rate(&TAPE_RATE),
            search: form.span(&SEARCH),
            locate: form.span(&LOCATE),
            reposition: form.span(&REPOSITION),
            track_change: form.span(&TRACK_CHANGE),
            buffer: form.size_in(&TAPE_BUFFER, 1024..=1 << 40),
            compression: form.number(&COMPRESSION, 0.1..=1000.0),
            bus: form.rate(&TAPE_BUS),
            overhead: form.span(&TAPE_OVERHEAD),
        };
        if size < passes << 20 {
            form.disagree(&TAPE_SIZE, &PASSES, "a pass holds a MiB at least");
        }
        spec
    })
}

/// Parses a link.
pub fn link(form: &mut Form<'_, '_>) -> Option<LinkSpec> {
    form.whole(|form| {
        let spec = LinkSpec {
            bandwidth: form.rate(&BANDWIDTH),
            round_trip: form.span(&ROUND_TRIP),
            packet: form.size_in(&PACKET, 1..=1 << 30),
            header: form.size(&HEADER),
            window: form.size_in(&WINDOW, 1..=1 << 40),
            request: form.size_in(&REQUEST, 1..=1 << 40),
        };
        if spec.header >= spec.packet {
            form.disagree(&HEADER, &PACKET, "a packet carries data");
        }
        spec
    })
}

/// Parses a memory disk.
pub fn memory(form: &mut Form<'_, '_>) -> Option<MemorySpec> {
    form.whole(|form| MemorySpec {
        size: form.size_in(&MEMORY_SIZE, 512..=1 << 50),
        access: form.span(&ACCESS),
        rate: form.rate(&MEMORY_RATE),
    })
}

/// Parses a cloud volume.
pub fn volume(form: &mut Form<'_, '_>) -> Option<VolumeSpec> {
    form.whole(|form| {
        let spec = VolumeSpec {
            size: form.size_in(&VOLUME_SIZE, 512..=1 << 50),
            latency: form.span(&LATENCY),
            least: form.span(&LATENCY_LEAST),
        };
        if spec.least >= spec.latency {
            form.disagree(
                &LATENCY_LEAST,
                &LATENCY,
                "the shortest time is below the mean",
            );
        }
        spec
    })
}
