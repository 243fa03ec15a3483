//! The page of a run in a real browser: it says nothing on the console, is read by pointer and by
//! keyboard, is dark where that is wanted, and fits a telephone. Skipped where no browser is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::http::url_in;
use crate::support::{Running, Scratch, is_installed, skipped};
use rustix::process::Signal;
use serde_json::Value;

/// Names that Chromium goes by.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// A page that uses the page: what a reader does with it, and sees.
const READER: &str = include_str!("browser/reader.html");
/// A page that looks at a picture: its colours, corners and edges.
const VIEWER: &str = include_str!("browser/viewer.html");
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

impl Theme {
    const fn background(self) -> &'static str {
        match self {
            Self::Light => "rgb(255, 255, 255)",
            Self::Dark => "rgb(18, 22, 28)",
        }
    }
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
fn quiet(command: Command, file: &Path) -> String {
    quiet_at(command, &format!("file://{}", file.display()))
}

#[track_caller]
fn quiet_at(mut command: Command, url: &str) -> String {
    let ended = command.arg(url).output().expect("a browser");
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
    found_in(&quiet(command, &reader))
}

/// What a page's script found.
#[track_caller]
fn found_in(printed: &str) -> Value {
    let found = printed
        .split_once("FOUND")
        .and_then(|(_, rest)| rest.split_once("END"));
    let (found, _) = found.unwrap_or_else(|| panic!("the script did not end: {printed}"));
    serde_json::from_str(found).expect("JSON")
}

/// How pages are looked at: in both themes, and as wide as a desk and a telephone.
const LOOKS: [(Theme, u32); 3] = [
    (Theme::Light, 1280),
    (Theme::Dark, 1280),
    (Theme::Dark, 400),
];

/// Pictures of pages, looked at together: a browser takes seconds to begin.
#[derive(Default)]
struct Album {
    /// Page, theme and width of each.
    pictures: Vec<(String, Theme, u32)>,
}

impl Album {
    /// Take a picture; what the page is then.
    #[track_caller]
    fn add(&mut self, name: &str, scratch: &Scratch, look: (Theme, u32), url: &str) -> String {
        let (theme, width) = look;
        let file = scratch.path(&format!("page{}.png", self.pictures.len()));
        let mut command = browser(name, scratch, theme);
        command
            .arg("--dump-dom")
            .arg(format!("--screenshot={}", file.display()))
            .arg(format!("--window-size={},1600", width.max(500)));
        self.pictures.push((url.to_owned(), theme, width));
        quiet_at(command, url)
    }

    /// On each somebody would see ink and no more than the page, and no two are alike.
    #[track_caller]
    fn check(&self, name: &str, scratch: &Scratch) {
        let files = (0..self.pictures.len()).map(|number| format!("page{number}.png"));
        let files: Vec<String> = files.collect();
        let viewer = scratch.path("viewer.html");
        let images = files.iter().map(|file| format!("<img src=\"{file}\">"));
        let text = VIEWER.replace("PICTURES", &images.collect::<String>());
        std::fs::write(&viewer, text).expect("a file");
        let mut command = browser(name, scratch, Theme::Light);
        command.args(["--dump-dom", "--virtual-time-budget=10000"]);
        let found = found_in(&quiet(command, &viewer));
        let found = found.as_array().expect("what is on each");
        assert_eq!(found.len(), self.pictures.len());
        for ((url, theme, width), seen) in self.pictures.iter().zip(found) {
            check_picture(seen, *theme, *width, &format!("{url}, {width}: {seen}"));
        }
        let bytes = |file| std::fs::read(scratch.path(file)).expect("a picture");
        let different: BTreeSet<Vec<u8>> = files.iter().map(|file| bytes(file)).collect();
        assert_eq!(different.len(), files.len());
    }
}

#[track_caller]
fn check_picture(seen: &Value, theme: Theme, width: u32, about: &str) {
    assert_eq!(seen["width"], width.max(500), "{about}");
    assert_eq!(seen["corner"], theme.background(), "{about}");
    let share = |key: &str| seen[key].as_f64().expect(key);
    // Text and lines on a background that shows between them.
    assert!((0.002..0.5).contains(&share("ink")), "{about}");
    assert!(share("colours") > 3.0, "{about}");
    // Nothing runs past the right edge.
    assert!(share("edge") < 0.02, "{about}");
}

/// The archive as a list and two runs compared, as a browser shows what the server sends.
#[test]
fn the_archive_is_read_in_a_browser() {
    let test = "the_archive_is_read_in_a_browser";
    let Some(name) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return skipped(test, "there is no Chromium");
    };
    let scratch = Scratch::new();
    for seed in ["1", "2"] {
        let curve = [
            "curve",
            "sim:mmc?servers=4&mean=100us",
            "--level",
            "200us",
            "--quiet",
        ];
        let args = [&curve[..], &["--seed", seed]].concat();
        scratch.check(&args, 0, "Saved as run");
    }
    let mut server = Running::start(scratch.seekstone(["serve", "--listen", "0"]));
    let url = url_in(&server.line_with("serving"));
    let mut album = Album::default();
    for (path, seen) in [
        // The script has shown the filter, and nothing is ticked yet.
        (
            "",
            "aria-label=\"Filter runs\"><button id=\"compare\" type=\"submit\" disabled",
        ),
        ("compare?run=1&run=2", "ratio and its interval"),
    ] {
        let url = format!("{url}{path}");
        for look in LOOKS {
            let dom = album.add(name, &scratch, look, &url);
            assert!(dom.contains(seen), "{url}: {dom}");
        }
    }
    album.check(name, &scratch);
    server.signal(Signal::INT);
    server.end().check(&["serve"], 0, "");
}

/// A browser follows a run; what it shows in the end is the page of the run.
#[test]
fn a_run_is_followed_in_a_browser() {
    let test = "a_run_is_followed_in_a_browser";
    let Some(name) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return skipped(test, "there is no Chromium");
    };
    let scratch = Scratch::new();
    let followed = |duration: &str| {
        let args = ["trial", "null:", "--duration", duration];
        let args = [&args[..], &["--live", "--json", "run.json"]].concat();
        let mut run = Running::start(scratch.seekstone(&args));
        let url = url_in(&run.line_with("live:"));
        let mut command = browser(name, &scratch, Theme::Light);
        // Virtual time stands still while the feed goes on: the page is taken after its end.
        command.args(["--dump-dom", "--virtual-time-budget=20000"]);
        let dom = quiet_at(command, &url);
        run.end().check(&args, 0, "");
        report::run_in_page(&dom).ok_or(dom)
    };
    // On a busy machine the browser starts when a short run has ended.
    let held = followed("8s").or_else(|_| followed("60s"));
    let held = held.unwrap_or_else(|dom| panic!("no run: {dom}"));
    let written = std::fs::read_to_string(scratch.path("run.json")).expect("JSON");
    let [held, written] =
        [held, written].map(|text| -> Value { serde_json::from_str(&text).expect("JSON") });
    assert_eq!(
        held["measurements"][0]["throughput"],
        written["measurements"][0]["throughput"]
    );
}

#[test]
fn a_page_is_read_in_a_browser() {
    let test = "a_page_is_read_in_a_browser";
    let Some(name) = BROWSERS.into_iter().find(|name| is_installed(name)) else {
        return skipped(test, "there is no Chromium");
    };
    let scratch = Scratch::new();
    scratch.check(&RUN, 0, "Saved as run 1");
    let mut album = Album::default();
    for (theme, width) in LOOKS {
        let found = read(name, &scratch, theme, width);
        let text = |key: &str| found[key].as_str().expect(key).to_owned();
        assert!(text("first").starts_with("1 client: "), "{found}");
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
        assert_eq!(text("background"), theme.background());
        assert_eq!(
            (&found["beyond"], &found["saves"]),
            (&0.into(), &true.into())
        );
        // Text in a chart is scaled with it.
        assert!(found["smallest"].as_f64() >= Some(10.0), "{width}: {found}");

        let url = format!("file://{}", scratch.path("run.html").display());
        album.add(name, &scratch, (theme, width), &url);
    }
    album.check(name, &scratch);
}
