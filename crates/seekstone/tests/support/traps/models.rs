//! Traps in virtual time. Where nothing else is said, one client that never thinks finds one server
//! of 1 ms.

use super::TrapCommand::{Compare, Curve, Run, RunCurve, Trial};
use super::{ALL, Trap};

/// The level moved, or still does.
const MOVED: &[&str] = &[
    "curve-drift",
    "drift",
    "level-changed",
    "not-stationary",
    "step",
    "swing",
];
/// The same of writes.
const CLIFF: &[&str] = &["drift", "not-stationary", "step", "write-cliff"];
/// A slow start.
const START: &[&str] = &[
    "curve-drift",
    "drift",
    "not-stationary",
    "warm-up",
    "warm-up-differs",
];
/// Ups and downs.
const SWING: &[&str] = &["curve-drift", "drift", "oscillation", "step", "swing"];
/// Operations that take far longer than the others.
const TAIL: &[&str] = &["heavy-tail", "rare-episodes", "stall", "two-modes"];
const STALL: &[&str] = &["heavy-tail", "rare-episodes", "stall"];
const WITH_COMPARE: &[super::TrapCommand] = &[Trial, Run, Curve, Compare];
const EVERY: &[super::TrapCommand] = &[Trial, Run, Curve, RunCurve, Compare];

/// The table.
pub const TRAPS: &[Trap] = &[
    // Nothing is wrong.
    Trap::new("steady", "sim:mm1?mean=1ms", Some(1.0)).only(EVERY),
    Trap::new("constant times", "sim:md1?time=1ms", Some(1.0)),
    Trap::new("random arrivals, 80 % busy", "sim:mm1?mean=1ms", Some(1.0))
        .under(&["--rate", "800/s"], Some(5.0))
        .only(&[Trial]),
    Trap::new(
        "1 % of each second lost",
        "sim:mm1?mean=1ms&stall=10ms@every:1s",
        Some(1.0 / 0.99),
    ),
    // Caches.
    Trap::new(
        "misses 100 times as slow",
        "sim:cache?hit=100us&miss=10ms&hits=90%&run=1",
        Some(1.09),
    )
    .named(TAIL)
    .only(ALL),
    Trap::new(
        "hits in runs of 50",
        "sim:cache?hit=100us&miss=4ms&hits=80%&run=50",
        Some(0.88),
    )
    .named(TAIL),
    Trap::new(
        "bad spells: 1 %, 500 operations",
        "sim:cache?hit=1ms&miss=20ms&hits=99%&run=500",
        Some(1.19),
    )
    .named(&[
        "curve-drift",
        "heavy-tail",
        "level-changed",
        "not-stationary",
        "rare-episodes",
        "step",
        "swing",
        "two-modes",
        "warm-up",
    ])
    .only(&[Trial, Run]),
    Trap::new(
        "two levels, 2 s each",
        "sim:cache?hit=1ms&miss=3ms&hits=50%&run=1000",
        Some(2.0),
    )
    .named(MOVED),
    // Swings.
    Trap::new(
        "swing, 50 % in 60 s",
        "sim:mm1?mean=1ms&wave=50%@60s",
        Some(0.866),
    )
    .named(MOVED)
    .only(&[Trial, Run]),
    Trap::new(
        "swing, 50 % in 25 s",
        "sim:mm1?mean=1ms&wave=50%@25s",
        Some(0.866),
    )
    .named(MOVED),
    Trap::new(
        "swing, 10 % in 25 s",
        "sim:mm1?mean=1ms&wave=10%@25s",
        Some(0.995),
    )
    .named(MOVED)
    .only(&[Trial]),
    Trap::new(
        "swing, 30 % in 5 s",
        "sim:mm1?mean=1ms&wave=30%@5s",
        Some(0.954),
    )
    .named(SWING)
    .only(ALL),
    Trap::new(
        "swing, 50 % in 500 ms",
        "sim:mm1?mean=1ms&wave=50%@500ms",
        Some(0.866),
    )
    .named(SWING),
    // What changes for good.
    Trap::new(
        "slow start, 1 s",
        "sim:mm1?mean=1ms&warm-up=200%@1s",
        Some(1.0),
    )
    .named(START),
    Trap::new(
        "slow start, 5 s",
        "sim:mm1?mean=1ms&warm-up=200%@5s",
        Some(1.0),
    )
    .named(START),
    Trap::new(
        "slow start, 30 s",
        "sim:mm1?mean=1ms&warm-up=100%@30s",
        Some(1.0),
    )
    .named(&["curve-drift", "drift", "not-stationary", "swing", "warm-up"]),
    Trap::new(
        "heat: 60 % in 30 s",
        "sim:mm1?mean=1ms&drift=60%@30s",
        Some(1.6),
    )
    .named(MOVED),
    Trap::new(
        "drift: 10 % in 60 s",
        "sim:mm1?mean=1ms&drift=10%@60s",
        Some(1.1),
    )
    .named(MOVED)
    .only(&[Trial]),
    Trap::new(
        "wear: writes, 100 % in 60 s",
        "sim:mm1?mean=1ms&drift=100%@60s",
        Some(2.0),
    )
    .under(&["--writes", "100%"], Some(2.0))
    .named(CLIFF)
    .only(&[Trial]),
    // Stalls.
    Trap::new(
        "200 ms in 10 s",
        "sim:mm1?mean=1ms&stall=200ms@every:10s",
        Some(10.0 / 9.8),
    )
    .named(STALL)
    .only(EVERY),
    Trap::new(
        "1 s in 10 s",
        "sim:mm1?mean=1ms&stall=1s@every:10s",
        Some(10.0 / 9.0),
    )
    .named(STALL)
    .only(&[Trial, Run, Curve, RunCurve]),
    Trap::new(
        "2 s in 20 s",
        "sim:mm1?mean=1ms&stall=2s@every:20s",
        Some(20.0 / 18.0),
    )
    .named(STALL)
    .only(&[Trial]),
    Trap::new(
        "commit: 50 ms in 1 s",
        "sim:mm1?mean=1ms&stall=50ms@every:1s",
        Some(1.0 / 0.95),
    )
    .named(STALL),
    Trap::new(
        "300 ms, 1 in 500",
        "sim:mm1?mean=1ms&stall=300ms@0.2%",
        Some(1.6),
    )
    .named(TAIL)
    .only(ALL),
    Trap::new(
        "one stall of 3 s",
        "sim:mm1?mean=1ms&stall=3s@3000",
        Some(1.0),
    )
    .named(STALL),
    Trap::new(
        "first operation 3 s",
        "sim:mm1?mean=1ms&stall=3s@1",
        Some(1.0),
    )
    .named(STALL),
    Trap::new(
        "silent at the end",
        "sim:mm1?mean=1ms&stall=10s@57000",
        None,
    )
    .named(&["kept-back", "stall"])
    .only(&[Trial]),
    // Heavy tails.
    Trap::new("Pareto 1.5", "sim:pareto?mean=1ms&shape=1.5", Some(1.0))
        .named(STALL)
        .only(WITH_COMPARE),
    Trap::new("Pareto 1.2", "sim:pareto?mean=1ms&shape=1.2", Some(1.0)).named(STALL),
    Trap::new(
        "Pareto 2.5, random arrivals",
        "sim:pareto?mean=1ms&shape=2.5",
        None,
    )
    // Pollaczek and Khinchine.
    .under(&["--rate", "500/s"], Some(1.9))
    .named(STALL)
    .only(&[Trial]),
    // Loads.
    Trap::new("more than it carries", "sim:mm1?mean=1ms", None)
        .under(&["--rate", "1200/s"], None)
        .named(&["load-not-sustained"])
        .only(&[Trial]),
    Trap::new("own queue too short", "sim:delay?time=10ms", None)
        .under(&["--rate", "1000/s", "--depth", "4"], Some(10.0))
        .named(&["own-limit"])
        .only(&[Trial]),
    // Credits.
    Trap::new(
        "credits for 40 s",
        "sim:md1?time=1ms&riops=50..250:8k",
        Some(20.0),
    )
    .named(MOVED),
    Trap::new(
        "credits for 5 s",
        "sim:md1?time=1ms&riops=50..250:1k",
        Some(20.0),
    )
    .named(MOVED),
    Trap::new(
        "credits of bytes",
        "sim:md1?time=1ms&rbps=1MiB/s..3MiB/s:20MiB",
        None,
    )
    .named(MOVED),
    Trap::new(
        "credits of writes",
        "sim:md1?time=1ms&wiops=200..1000:16k",
        Some(5.0),
    )
    .under(&["--writes", "100%"], Some(5.0))
    .named(CLIFF)
    .only(&[Trial]),
    Trap::new("cloud volume, 1 % left", "sim:aws-gp2?credits=1%", None)
        .under(&["--clients", "8"], None)
        .named(MOVED),
    // Devices.
    Trap::new(
        "flash that was never full",
        "sim:nvme?channels=2&dies=2&blocks=48&spare=15%&content=fresh&write-buffer=64KiB",
        None,
    )
    .under(&["--writes", "100%"], None)
    .named(CLIFF)
    .only(&[Trial, Run]),
    // Errors.
    Trap::new("errors, 1 %", "sim:mm1?mean=1ms&error=EIO@1%", None)
        .under(&["--errors", "count"], Some(1.0))
        .named(&["failed-operations"])
        .only(&[Trial]),
    // Half of the transfers is made again.
    Trap::new(
        "short transfers, 5 %",
        "sim:mm1?mean=1ms&short=5%",
        Some(1.05),
    )
    .only(ALL),
    // Several at once.
    Trap::new(
        "swing and stalls",
        "sim:mm1?mean=1ms&wave=50%@25s&stall=500ms@every:7s",
        None,
    )
    .named(&["stall", "swing"])
    .only(&[Trial, Run]),
    Trap::new(
        "slow start, then credits",
        "sim:md1?time=1ms&warm-up=200%@2s&riops=50..250:4k",
        Some(20.0),
    )
    .named(MOVED),
];
