//! Whole pictures, at the sizes that terminals have, and with values that no run should have.

mod invented;

use std::panic::{AssertUnwindSafe, catch_unwind};

use random::{Purpose, Stream};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use results::live::{Live, LiveCommand, LiveLevel, LiveRow, LiveWorkload, Verbosity};
use results::{LevelOutcome, Mode};
use stats::Estimate;
use tui::{Charset, Look, Palette, ViewState, draw};

fn view() -> ViewState {
    ViewState {
        title: "Seekstone 1.0".to_owned(),
        ..ViewState::default()
    }
}

fn picture(live: &Live, view: &ViewState, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test terminal");
    terminal
        .draw(|frame| draw(frame, live, view))
        .expect("a picture");
    terminal.backend().buffer().clone()
}

fn text(live: &Live, view: &ViewState, size: (u16, u16)) -> String {
    let buffer = picture(live, view, size);
    let rows = buffer.content.chunks(usize::from(size.0));
    let lines = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The text has all these, each once at least.
fn check(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

/// The pictures of `docs/screens` are drawn here; `UPDATE_SCREENS=1 cargo test -p tui` writes them.
fn check_document(name: &str, view: &ViewState, size: (u16, u16)) {
    let shown = text(&invented::middle(), view, size);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/screens");
    let path = format!("{folder}/{name}");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(&path, &shown).expect("a file that can be written");
    }
    let documented = std::fs::read_to_string(&path).expect("a file that can be read");
    assert_eq!(shown, documented, "{path} shows another picture:\n{shown}");
}

#[test]
fn the_windows_of_1995_fit_80_by_24() {
    check_document("80x24.txt", &view(), (80, 24));
}

#[test]
fn the_curve_takes_the_tables_place_when_asked() {
    let view = ViewState {
        shows_curve: true,
        ..view()
    };
    check_document("80x24-curve.txt", &view, (80, 24));
}

#[test]
fn larger_pictures_have_the_curve_too() {
    check_document("110x36.txt", &view(), (110, 36));
    check_document("200x60.txt", &view(), (200, 60));
}

#[test]
fn before_the_first_result_the_windows_are_there_and_empty() {
    insta::assert_snapshot!(text(&invented::before(), &view(), (80, 24)), @r#"
    ┌─Status───────────────────────────────┬─Configuration───────────Seekstone 1.0─┐
    │ Run:     1  Mode:             Normal │ Target: …ge/array-7/volume-12/scratch │
    │ Current Workload:      1 Transaction │ Config File:                 rpt.toml │
    │ # Threads:                         0 │ Param File:                   default │
    │ Test Time:                   0:00:00 │ Report File:               rpt-2.json │
    ├─Summary Results──────────────────────┴───────────────────────────────────────┤
    │ Normal        WL1 ms    IOPS  WL2 ms    IOPS  WL3 ms    IOPS  WL4 ms    IOPS │
    │ Max Response                                                                 │
    │ 2/3 Response                                                                 │
    │ 1/3 Response                                                                 │
    │ N/L Response                                                                 │
    │ RABmark [r]                                                                  │
    │ RABmark [s]                                                                  │
    │ MiB/s            WL5             WL6             WL7                         │
    ├─Verbose Window──────────────────────────────────────────────────────────none─┤
    │                 Cnt  Thrd     Nios       NkB    R ms    Iops    R[r]    R[s] │
    │ Curr Message                                                                 │
    │ Curr Thread                                                                  │
    │ Last Thread                                                                  │
    │ Last Response                                                                │
    ├─Operator─────────────────────────────────────────────────────────┬─State─────┤
    │ Mode, Quit, Restart, Start/Stop, Test, Verbose, eXit, Curve, ?>  │ Stopped   │
    └──────────────────────────────────────────────────────────────────┴───────────┘
     press S to start
    "#);
}

#[test]
fn a_wide_picture_has_everything_at_once() {
    let shown = text(&invented::middle(), &view(), (200, 60));
    check(
        &shown,
        &[
            "─Status─",
            "─Configuration─",
            "─Summary Results─",
            "─Verbose Window─",
            "─Precision─",
            "─Operator─",
            "─State─",
            "─Curve─",
            "3.6 %, goal 3.0 %",
            "Sequential write",
            "23%",
            "not reached with 256 clients",
            "┊ highest 17,600/s, 256 clients",
            "○ estimate",
            "● measured",
            "! the response time drifted by 4.1 % within the trial of 12 clients",
        ],
    );
}

#[test]
fn more_rows_show_names_and_precision() {
    let shown = text(&invented::middle(), &view(), (100, 30));
    check(
        &shown,
        &[
            "Transaction     Workstation",
            "─Precision─",
            "3.6 %, goal 3.0 %",
        ],
    );
    assert!(!shown.contains("─Curve─"), "{shown}");
}

#[test]
fn a_small_terminal_shows_the_most_important_first() {
    insta::assert_snapshot!(text(&invented::middle(), &view(), (20, 5)), @r#"
    Execute Wor… 1:10:17
    1.874 ms 12,900 IOPS
    Workstation: 26 cli…
    precision 3.6 %, go…
    M Q R S T V X C W ?
    "#);
    insta::assert_snapshot!(text(&invented::after(), &view(), (40, 10)), @r#"
    Finished 7 Copy                  6:04:00
    now    1.874 ms 12,900 IOPS 0 thr
    finished: the report is in rpt-2.json
    precision 3.6 %, goal 3.0 %
    [s]          741 MiB/s
    W: 2 warnings: the response time drifte…
    mode   Normal, run 1
    WL1    [r]     9,480  [s]      66.2  Tr…
    WL2    [r]     4,740  [s]       179  Wo…
    M Q R S T V X C W ?  █████████████  100%
    "#);
}

#[test]
fn a_row_less_costs_no_window() {
    let shown = text(&invented::middle(), &view(), (80, 23));
    let whole = text(&invented::middle(), &view(), (80, 24));
    assert!(
        whole.starts_with(&shown) && shown.lines().count() == 23,
        "{shown}"
    );
}

#[test]
fn without_verbosity_the_row_of_messages_is_empty() {
    let row = |verbosity| {
        let live = Live {
            verbosity,
            ..invented::middle()
        };
        let shown = text(&live, &view(), (80, 24));
        shown
            .lines()
            .find(|line| line.contains("Curr Message"))
            .map(str::to_owned)
    };
    let rows = [Verbosity::None, Verbosity::Summary, Verbosity::Detail].map(row);
    insta::assert_snapshot!(rows.map(Option::unwrap_or_default).join("\n"), @r#"
    │ Curr Message                                                                 │
    │ Curr Message     34    26   42,500   170,000   1.912  12,600   6,610    49.4 │
    │ Curr Message     34    26   42,500   170,000 1.91200  12,646 6,614.2 49.4002 │
    "#);
}

#[test]
fn a_mode_that_the_system_reported_is_marked() {
    let live = Live {
        mode: Mode::Rebuild,
        is_mode_detected: true,
        ..invented::middle()
    };
    check(&text(&live, &view(), (80, 24)), &["Rebuild (system) │"]);
}

#[test]
fn a_key_that_waits_is_shown_at_the_prompt() {
    let view = ViewState {
        asked: Some(LiveCommand::NextWorkload),
        ..view()
    };
    check(&text(&invented::middle(), &view, (80, 24)), &[", ?>T │"]);
}

#[test]
fn the_help_names_every_key() {
    let view = ViewState {
        shows_help: true,
        ..view()
    };
    let shown = text(&invented::middle(), &view, (80, 24));
    check(
        &shown,
        &[
            "│ M  ", "│ S  ", "│ R  ", "│ T  ", "│ V  ", "│ Q X", "│ C  ", "│ ? H",
        ],
    );
}

/// At 80 x 24 there was a number of warnings, and no way to read them.
#[test]
fn warnings_are_read_page_by_page() {
    let mut live = invented::middle();
    let long = "the storage answered nothing for a while, which no time of this test holds, ";
    live.warnings = (1..=9)
        .map(|number| format!("{}number {number}", long.repeat(3)))
        .collect();
    check(&text(&live, &view(), (80, 24)), &["W: 9 warnings─"]);
    let page = |page| {
        let view = ViewState {
            warnings_page: Some(page),
            ..view()
        };
        text(&live, &view, (80, 24))
    };
    check(&page(0), &["1/2, W: next page", "number 9", "eXit"]);
    check(&page(1), &["2/2, W closes", "number 1"]);
    let all: String = (0..2).map(page).collect();
    for number in 1..=9 {
        check(&all, &[&format!("number {number}")]);
    }
}

#[test]
fn the_curve_of_an_earlier_workload_can_be_seen() {
    let view = |curve_of| ViewState {
        shows_curve: true,
        curve_of,
        ..view()
    };
    let mut live = invented::middle();
    check(
        &text(&live, &view(None), (80, 24)),
        &["─2 Workstation, P N: others─"],
    );
    live.workload = 2;
    check(
        &text(&live, &view(None), (80, 24)),
        &["3 Time-sharing", "no point measured yet"],
    );
    let earlier = text(&live, &view(Some(0)), (80, 24));
    check(&earlier, &["─1 Transaction, P N: others─", "● measured"]);
}

#[test]
fn without_unicode_every_character_is_ascii() {
    for (size, shows_curve) in [((80, 24), false), ((80, 24), true), ((200, 60), false)] {
        let look = Look {
            charset: Charset::Ascii,
            palette: Palette::Colors,
        };
        let view = ViewState {
            look,
            shows_curve,
            ..view()
        };
        let mut live = invented::middle();
        live.activity = "終端 für alle".to_owned();
        let shown = text(&live, &view, size);
        assert!(shown.is_ascii(), "{shown}");
        check(&shown, &["+-Status--", "|"]);
    }
}

#[test]
fn no_color_leaves_plain_text() {
    let look = Look {
        charset: Charset::Unicode,
        palette: Palette::Plain,
    };
    let buffer = picture(
        &invented::middle(),
        &ViewState { look, ..view() },
        (200, 60),
    );
    for cell in &buffer.content {
        let style = (cell.fg, cell.bg, cell.modifier);
        assert_eq!(style, (Color::Reset, Color::Reset, Modifier::empty()));
    }
}

/// Every number replaced by this one, and every name by a long and wide one.
fn extreme(value: f64, whole: u64) -> Live {
    let mut live = invented::middle();
    let estimate = Estimate {
        value,
        low: -value,
        high: value,
        confidence: 0.95,
        samples: value,
    };
    let level = LiveLevel {
        response_ms: Some(value),
        iops: Some(value),
        relative_half_width: Some(value),
    };
    let row = LiveRow {
        count: Some(whole),
        threads: Some(whole),
        operations: Some(whole),
        kib: Some(whole),
        response_ms: Some(value),
        iops: Some(value),
        rabmark_r: Some(value),
        rabmark_s: Some(value),
    };
    live.run = u32::MAX;
    live.threads = whole;
    live.elapsed_ns = whole;
    for workload in &mut live.workloads {
        *workload = LiveWorkload {
            number: workload.number,
            name: "終端のとても長い名前".repeat(9),
            has_levels: workload.has_levels,
            levels: [level.clone(), level.clone(), level.clone(), level.clone()],
            rabmark_r: Some(value),
            rabmark_s: Some(value),
            curve: std::mem::take(&mut workload.curve),
        };
    }
    live.current_message = row;
    live.current_thread = row;
    live.last_thread = row;
    live.last_response = row;
    live.activity = "終端\u{1b}[2J\n".repeat(99);
    let curve = &mut live.workloads[live.workload].curve;
    let usual: Vec<_> = curve.points.iter().take(2).cloned().collect();
    for point in &mut curve.points {
        point.load = estimate;
        point.response = estimate;
    }
    curve.points.extend(usual);
    for level in &mut curve.levels {
        level.outcome = LevelOutcome::Between {
            low: value,
            high: f64::INFINITY,
        };
    }
    live.convergence.relative_half_widths = vec![value, 0.1, value];
    live.progress = Some(value);
    live.warnings = vec!["終端".repeat(200); 3];
    live.configuration = vec![("終".repeat(90), "/端".repeat(90)); 6];
    live
}

const EXTREMES: [f64; 10] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    f64::MAX,
    f64::MIN_POSITIVE,
    1e-300,
    -1e18,
    999_999.5,
    1e29,
];

#[test]
fn no_value_breaks_a_frame() {
    for value in EXTREMES {
        let shown = text(&extreme(value, u64::MAX), &view(), (80, 24));
        let lines: Vec<&str> = shown.lines().collect();
        for line in &lines[..23] {
            let is_framed = line.starts_with(['┌', '│', '├', '└']);
            assert!(
                is_framed && line.ends_with(['┐', '│', '┤', '┘']),
                "{value}:\n{shown}"
            );
        }
        check(
            &shown,
            &["│ 1/3 Response ", "│ Curr Thread  ", "│ # Threads: "],
        );
    }
}

#[test]
fn extreme_values_in_the_tables() {
    let shown = text(&extreme(f64::MAX, u64::MAX), &view(), (80, 24));
    let lines: Vec<&str> = shown.lines().collect();
    insta::assert_snapshot!(lines[6..20].join("\n"), @r#"
    │ Normal        WL1 ms    IOPS  WL2 ms    IOPS  WL3 ms    IOPS  WL4 ms    IOPS │
    │ Max Response 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ 2/3 Response 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ 1/3 Response 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ N/L Response 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ RABmark [r]          1.8e308         1.8e308         1.8e308         1.8e308 │
    │ RABmark [s]          1.8e308         1.8e308         1.8e308         1.8e308 │
    │ MiB/s            WL5 1.8e308     WL6 1.8e308     WL7 1.8e308                 │
    ├─Verbose Window───────────────────────────────────────────────────────summary─┤
    │                 Cnt  Thrd     Nios       NkB    R ms    Iops    R[r]    R[s] │
    │ Curr Message  18.4E 18.4E   18.45E    18.45E 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ Curr Thread   18.4E 18.4E   18.45E    18.45E 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ Last Thread   18.4E 18.4E   18.45E    18.45E 1.8e308 1.8e308 1.8e308 1.8e308 │
    │ Last Response 18.4E 18.4E   18.45E    18.45E 1.8e308 1.8e308 1.8e308 1.8e308 │
    "#);
}

#[test]
fn any_number_of_workloads_is_shown_somehow() {
    for count in 0..=12 {
        for with_levels in [0, count / 2, count] {
            let mut live = invented::after();
            let model = live.workloads[0].clone();
            live.workloads = vec![model; count];
            for (index, workload) in live.workloads.iter_mut().enumerate() {
                workload.number = index as u32 + 1;
                workload.has_levels = index < with_levels;
            }
            for current in 0..count {
                live.workload = current;
                for size in [(80, 24), (110, 36), (200, 60)] {
                    let shown = text(&live, &view(), size);
                    check(&shown, &[&format!("WL{}", current + 1)]);
                }
            }
        }
    }
}

#[test]
fn no_size_is_too_small_or_odd() {
    let mut stream = Stream::new(0x5eed, 0, Purpose::Resample);
    let mut below = |limit: u64| stream.below(limit);
    let lives = [
        Live::default(),
        invented::before(),
        invented::middle(),
        invented::after(),
        extreme(f64::NAN, 0),
        extreme(f64::MAX, u64::MAX),
        extreme(1e29, 1),
    ];
    for round in 0..1_500 {
        let size = match round {
            0 => (0, 0),
            1..500 => (below(110) as u16, below(40) as u16),
            _ => (below(251) as u16, below(81) as u16),
        };
        let view = ViewState {
            shows_curve: below(2) == 1,
            shows_help: below(4) == 0,
            curve_of: Some(below(9) as usize),
            warnings_page: (below(3) == 0).then(|| below(5) as usize),
            ..view()
        };
        // A panic names the size.
        let live = &lives[below(lives.len() as u64) as usize];
        let drawn = catch_unwind(AssertUnwindSafe(|| picture(live, &view, size)));
        assert!(drawn.is_ok(), "{size:?}, {view:?}, {live:?}");
    }
}
