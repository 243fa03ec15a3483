//! A run of `ssd` in the layout of SNIA SSS PTS 2.0.2: what the device and the platform are, how
//! the test was set up, and for each test convergence, steady state window and measurements.
//!
//! The layout is that of the reports of the standard; a run is no certified one.

use results::{Figure, Row, Run, Table};

use crate::check_up::machine;
use crate::figure::estimated;
use crate::markdown::{line, plain, with_interval};

/// What a report says where nothing is known.
const UNKNOWN: &str = "not known";
/// What the standard allows of a window, over its mean.
const RANGE_MAX: &str = "20 %";
const EXCURSION_MAX: &str = "10 %";

/// The run as a report, in Markdown; `None` of a run without tests of SSDs.
pub fn pts_report(run: &Run) -> Option<String> {
    let tables = run.tables();
    let mut tests: Vec<&str> = Vec::new();
    for row in ["ssd", "ssd-segments"]
        .iter()
        .flat_map(|it| rows(&tables, it))
    {
        let test = row.levels.first()?;
        if !tests.contains(&test.as_str()) {
            tests.push(test);
        }
    }
    if tests.is_empty() {
        return None;
    }
    let mut text = "# Solid State Storage Performance Test\n\nBy the SNIA SSS PTS 2.0.2, not \
                    certified.\n"
        .to_owned();
    text.push_str(&header(run));
    for test in tests {
        text.push_str(&of_test(&tables, test));
    }
    let all = run.scoped_warnings();
    let all: Vec<String> = all
        .map(|(_, it)| format!("- {}\n", plain(&it.text())))
        .collect();
    text.push_str(&section("Deviations and remarks", &all.concat()));
    Some(text)
}

/// Device, platform and set-up.
fn header(run: &Run) -> String {
    let target = &run.target;
    let device = target.devices.last();
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let size = target.size_bytes.map(|it| units::Bytes(it).decimal());
    let of_device = [
        ("Device under test", target.given.clone()),
        ("Model", known(device.and_then(|it| it.model.clone()))),
        (
            "Interface",
            known(device.and_then(|it| it.transport.clone())),
        ),
        ("Capacity", known(size)),
        (
            "Volatile write cache",
            known(device.and_then(|it| it.write_cache.clone())),
        ),
    ];
    let environment = &run.environment;
    let of_platform = [
        ("Host", environment.host_name.clone()),
        ("Processor", known(environment.cpu_model.clone())),
        ("System", machine(run)),
        ("Kernel", environment.kernel.clone()),
        (
            "Test software",
            format!("seekstone {}", environment.seekstone_version),
        ),
        ("Test run date", environment.started_at.clone()),
    ];
    let setting = |name: &str| {
        let mut settings = run.settings.settings.iter();
        let found = settings.find(|it| it.name == name);
        known(found.map(|it| it.values.join(", ")))
    };
    let of_setup = [
        ("Purge", setting("purge")),
        ("Passes of preconditioning", setting("precondition")),
        ("Active range", setting("size")),
        ("Outstanding operations", setting("depth")),
        ("Time of a load in a round", setting("round")),
        ("Data pattern", "random".to_owned()),
    ];
    [
        section("Device", &pairs(&of_device)),
        section("Test platform", &pairs(&of_platform)),
        section("Test set-up", &pairs(&of_setup)),
    ]
    .concat()
}

/// What became of one test.
fn of_test(tables: &[Table], test: &str) -> String {
    let own = |table: &str| {
        let rows = rows(tables, table);
        let own = rows.filter(|it| it.levels.first().is_some_and(|it| it == test));
        own.collect::<Vec<&Row>>()
    };
    let mut text = String::new();
    if let [row] = own("ssd").as_slice() {
        let tracked = row.headline().map_or("", |it| &it.metric.name);
        text.push_str(&section(
            "Steady state determination",
            &determination(row, tracked),
        ));
        let rounds = own("ssd-rounds");
        let columns = [tracked, "capacities", "pts-range", "pts-excursion"];
        text.push_str(&section(
            "Steady state convergence",
            &listed(&rounds, &["round"], &columns),
        ));
        let window = own("ssd-window");
        let columns = [tracked, "slope", "allowed-low", "allowed-high"];
        let window = listed(&window, &["round"], &columns);
        text.push_str(&section("Steady state window", &window));
    }
    let factors = ["access", "block", "reads", "outstanding"];
    let columns = ["iops", "throughput", "latency", "latency-max"];
    text.push_str(&section(
        "Measurements",
        &listed(&own("ssd-loads"), &factors, &columns),
    ));
    let columns = [
        "iops",
        "over-steady",
        "throughput",
        "latency",
        "latency-p99",
        "latency-p99.99",
    ];
    let columns = [&columns[..], &["latency-max", "first", "last", "bursts"]].concat();
    text.push_str(&section(
        "Segments",
        &listed(&own("ssd-segments"), &["segment"], &columns),
    ));
    format!("\n# {}\n{text}", plain(&test.to_uppercase()))
}

/// The window of the standard against what it allows.
fn determination(row: &Row, tracked: &str) -> String {
    let value = |name: &str| {
        let figure = row.figure(name);
        figure.map_or_else(
            || UNKNOWN.to_owned(),
            |it| estimated(it.metric.unit, it.value).0,
        )
    };
    pairs(&[
        ("Loads", row.word("loads").to_owned()),
        ("Average in the window", value(&format!("pts-{tracked}"))),
        ("Allowed range", RANGE_MAX.to_owned()),
        ("Measured range", value("pts-range")),
        ("Allowed slope excursion", EXCURSION_MAX.to_owned()),
        ("Measured slope excursion", value("pts-excursion")),
        ("Steady by SSS PTS", row.word("SSS PTS").to_owned()),
        ("Steady by the trend", row.word("state").to_owned()),
    ])
}

/// Rows with their levels behind the test, and those of the figures that any has.
fn listed(rows: &[&Row], factors: &[&str], columns: &[&str]) -> String {
    let has = |name: &&&str| rows.iter().any(|row| row.figure(name).is_some());
    let columns: Vec<&str> = columns.iter().filter(has).copied().collect();
    if rows.is_empty() || columns.is_empty() {
        return String::new();
    }
    let header = [factors, &columns].concat();
    let sides: Vec<&str> = header.iter().map(|_| "---").collect();
    let mut lines = vec![line(&header), line(&sides)];
    for row in rows {
        let levels = row.levels.iter().skip(1).map(|it| plain(it));
        let cell = |it: &&str| row.figure(it).map_or_else(String::new, cell);
        let cells: Vec<String> = levels.chain(columns.iter().map(cell)).collect();
        lines.push(line(&cells));
    }
    lines.join("\n") + "\n"
}

fn cell(figure: &Figure) -> String {
    plain(&with_interval(figure))
}

fn pairs(pairs: &[(&str, String)]) -> String {
    let mut lines = vec![line(&["item", "value"]), line(&["---", "---"])];
    lines.extend(
        pairs
            .iter()
            .map(|(item, value)| line(&[(*item).to_owned(), plain(value)])),
    );
    lines.join("\n") + "\n"
}

/// A heading with what is below it; nothing where nothing is.
fn section(title: &str, content: &str) -> String {
    match content {
        "" => String::new(),
        content => format!("\n## {title}\n\n{content}"),
    }
}

fn rows<'a>(tables: &'a [Table], name: &str) -> impl Iterator<Item = &'a Row> {
    let found = tables.iter().find(|it| it.name == name);
    found.into_iter().flat_map(|it| &it.rows)
}
