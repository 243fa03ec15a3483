//! The page of a run in a real browser: it says nothing on the console, is read by pointer and by
//! keyboard, is dark where that is wanted, and fits a telephone. Skipped where no browser is.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::{Scratch, is_installed, skipped};

/// Names that Chromium goes by.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// A page that uses the page: what a reader does with it, and sees.
const READER: &str = include_str!("browser/reader.html");
/// A check-up on a model, whose curve has several points.
const RUN: [&str; 7] = [
    "run",
    "sim:mmc?servers=8&mean=100us",
    "--seed",
    "1",
    "--quiet",
    "--html",
    "run.html",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    Light,
    Dark,
}

/// A browser without a window, in surroundings of its own.
fn browser(name: &str, scratch: &Scratch, theme: Theme) -> Command {
    let scheme = match theme {
        Theme::Dark => 0,
        Theme::Light => 1,
    };
    let mut command = Command::new(name);
    command
        .args([
            "--headless=new",
            "--disable-gpu",
            "--no-sandbox",
            "--hide-scrollbars",
        ])
        .args(["--allow-file-access-from-files", "--enable-logging=stderr"])
        .arg(format!(
            "--user-data-dir={}",
            scratch.path("profile").display()
        ))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .stdin(Stdio::null());
    command
}

/// What it printed, once it has said nothing on the console.
#[track_caller]
fn quiet(mut command: Command, file: &Path) -> String {
    let ended = command.arg(format!("file://{}", file.display())).output();
    let ended = ended.expect("a browser");
    let said = String::from_utf8_lossy(&ended.stderr);
    let complaints = said.lines().filter(|line| line.contains("CONSOLE"));
    let complaints: Vec<&str> = complaints.collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(ended.status.success(), "{said}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// What a reader sees of the page at that width.
#[track_caller]
fn read(name: &str, scratch: &Scratch, theme: Theme, width: u32) -> Value {
    let reader = scratch.path("reader.html");
    std::fs::write(&reader, READER.replace("WIDTH", &width.to_string())).expect("a file");
    let mut command = browser(name, scratch, theme);
    command.args(["--dump-dom", "--window-size=1400,1000"]);
    let printed = quiet(command, &reader);
    let found = printed
        .split_once("FOUND")
        .and_then(|(_, rest)| rest.split_once("END"));
    let (found, _) = found.unwrap_or_else(|| panic!("the reader did not end: {printed}"));
    serde_json::from_str(found).expect("JSON")
}

#[test]
fn a_page_is_read_in_a_browser() {
    let test = "a_page_is_read_in_a_browser";
    let Some(name) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return skipped(test, "there is no Chromium");
    };
    let scratch = Scratch::new();
    scratch.check(&RUN, 0, "Saved as run 1");
    let mut pictures = Vec::new();
    for (theme, background) in [
        (Theme::Light, "rgb(255, 255, 255)"),
        (Theme::Dark, "rgb(18, 22, 28)"),
    ] {
        for width in [1280, 400] {
            let found = read(name, &scratch, theme, width);
            let text = |key: &str| found[key].as_str().expect(key).to_owned();
            assert!(text("first").starts_with("8 clients: "), "{found}");
            assert!(text("second").contains("mean latency"), "{found}");
            assert_eq!(text("pointed"), text("second"));
            assert_eq!(
                (text("left"), text("escaped")),
                (String::new(), String::new())
            );
            assert!(!text("stepped").is_empty(), "{found}");
            assert_eq!(
                (text("hidden"), text("again")),
                ("none".into(), "inline".into())
            );
            assert_eq!(text("pressed"), "false");
            assert_eq!(text("background"), background);
            assert_eq!(
                (&found["beyond"], &found["seed"], &found["saves"]),
                (&0.into(), &"1".into(), &true.into())
            );
            // Text in a chart is scaled with it.
            assert!(found["smallest"].as_f64() >= Some(10.0), "{width}: {found}");

            let picture = scratch.path("page.png");
            let mut command = browser(name, &scratch, theme);
            command
                .arg(format!("--screenshot={}", picture.display()))
                .arg(format!("--window-size={},1600", width.max(500)));
            quiet(command, &scratch.path("run.html"));
            let picture = std::fs::read(picture).expect("a picture");
            assert!(
                picture.len() > 20_000 && !pictures.contains(&picture),
                "{width}"
            );
            pictures.push(picture);
        }
    }
}
