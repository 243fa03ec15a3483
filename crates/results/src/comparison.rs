//! Compares runs row by row: figures of rows with equal levels, and differences in their setups.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stats::Estimate;

use crate::metric::BYTES;
use crate::reading::{Better, Unit};
use crate::run::Run;
use crate::show::Show;
use crate::table::{Figure, Role, Row, Table, Trust};

/// What the intervals of two figures show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The new figure is the better one.
    Better,
    /// The new figure is the worse one.
    Worse,
    /// They differ, and neither direction is better.
    Differs,
    /// No difference: the interval of the ratio includes 1.
    Nothing,
    /// One of the rows is not reliable; how far it can be trusted.
    Untrusted(Trust),
    /// One of the figures has no interval.
    NoInterval,
}

/// The ratio of a figure of one run to the same figure of another.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRatio {
    /// Name of the table.
    pub table: Cow<'static, str>,
    /// Name of the row.
    pub row: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of both values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// How prominent the figure is.
    pub role: Role,
    /// The figure in the base run.
    pub base: Estimate,
    /// The figure in the new run.
    pub new: Estimate,
    /// New over base. The interval covers only the variation within each run.
    pub ratio: Estimate,
    /// What the intervals show.
    pub shown: Shown,
}

/// A setting or property that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupDifference {
    /// Its key, such as `environment.kernel`.
    pub key: String,
    /// Its value in the base run.
    pub base: String,
    /// Its value in the new run.
    pub new: String,
}

impl FigureRatio {
    /// How much better the new figure is: above 1 where it is better, whichever direction is
    /// better. None for metrics without a better direction.
    pub fn performance(&self) -> Option<Estimate> {
        match self.better {
            Better::Higher => Some(self.ratio),
            Better::Lower => Some(self.base.over(&self.new)),
            Better::Neither => None,
        }
    }
}

impl Shown {
    /// The result as a word; none where the intervals show no difference.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::Nothing => "",
            Self::NoInterval => "no interval",
            Self::Untrusted(Trust::Invalid) => "invalid",
            Self::Untrusted(_) => "unstable",
        }
    }
}

/// A row of ratios: its levels, the values and the result.
pub struct RatioRow {
    /// Levels of the factors of the table.
    pub levels: Vec<String>,
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Base, new, and new over base.
    pub values: [Estimate; 3],
    /// The result as a word.
    pub shown: &'static str,
}

/// Ratios as a table that is drawn around 1.
pub fn ratio_table(factors: &[&str], rows: impl IntoIterator<Item = RatioRow>) -> Table {
    let rows = rows.into_iter().map(|it| {
        let [base, new, ratio] = it.values;
        let figures = [
            Figure::new("base", it.unit, it.better, base),
            Figure::new("new", it.unit, it.better, new),
            Figure::new("ratio", Unit::Ratio, it.better, ratio),
        ];
        let row = Row::new(it.levels, figures, "ratio", Trust::Reliable);
        row.with_word("shown", it.shown)
    });
    let show = Show::default().around_one("ratio");
    Table::new("ratios", factors, rows.collect()).shown(show)
}

/// Setup keys that differ between any two runs and do not affect their figures.
const EACH_ITS_OWN: &str = "
    environment.started_at environment.load_average environment.pressure_io environment.commit
    environment.steal_share environment.memory_available_bytes environment.swap_free_bytes
    target.file_system.available_bytes target.file_system.files_free target.allocated_bytes
    setup.seed
";

/// Every figure that both runs have, in rows with equal levels of tables with equal factors.
pub fn compare(base: &Run, new: &Run) -> Vec<FigureRatio> {
    let (of_base, of_new) = (base.tables(), new.tables());
    let same = |table: &Table, other: &Table| {
        (&table.name, &table.factors) == (&other.name, &other.factors)
    };
    let tables = of_new.iter().filter_map(|table| {
        let other = of_base.iter().find(|other| same(table, other))?;
        // Rounds are compared only by their summary.
        (!table.are_steps).then_some((table, other))
    });
    let rows = tables.flat_map(|(table, other)| {
        let rows = table.rows.iter();
        rows.filter_map(move |row| Some((table, row, other.row(&row.levels)?)))
    });
    rows.flat_map(|(table, row, other)| ratios(table, row, other))
        .collect()
}

fn ratios(table: &Table, row: &Row, base: &Row) -> Vec<FigureRatio> {
    let trust = row.trust.max(base.trust);
    let as_much = match (moved(row), moved(base)) {
        (Some(bytes), Some(other)) => bytes == other,
        _ => true,
    };
    let ratios = row.figures.iter().filter_map(|figure| {
        let metric = &figure.metric;
        // On devices of different sizes read to the end, neither times nor file rates are
        // comparable.
        let of_any_size = matches!(metric.unit, Unit::BytesPerSecond | Unit::Ratio);
        if !as_much && !of_any_size {
            return None;
        }
        let other = base.figure(&metric.name)?;
        let is_known = |it: &Estimate| it.value.is_finite() && it.value > 0.0;
        if other.metric.unit != metric.unit || !is_known(&other.value) || !is_known(&figure.value) {
            return None;
        }
        let ratio = figure.value.over(&other.value);
        let shown = match metric.better {
            _ if !trust.is_usable() => Shown::Untrusted(trust),
            _ if !ratio.is_bounded() => Shown::NoInterval,
            _ if ratio.contains(1.0) => Shown::Nothing,
            Better::Neither => Shown::Differs,
            Better::Higher if ratio.low > 1.0 => Shown::Better,
            Better::Lower if ratio.high < 1.0 => Shown::Better,
            Better::Higher | Better::Lower => Shown::Worse,
        };
        Some(FigureRatio {
            table: table.name.clone(),
            row: table.row_name(row),
            metric: metric.name.clone(),
            unit: metric.unit,
            better: metric.better,
            role: metric.role,
            base: other.value,
            new: figure.value,
            ratio,
            shown,
        })
    });
    ratios.collect()
}

/// Bytes moved per repetition, if the row states them.
fn moved(row: &Row) -> Option<f64> {
    let counted = row.replicates.iter().find(|it| it.counts)?;
    let (_, _, bytes) = counted
        .readings
        .iter()
        .find(|(name, ..)| name == BYTES.name)?;
    Some(*bytes)
}

/// The differences between the setups of two runs: machine, target, settings, and the I/O engine
/// used.
///
/// # Panics
///
/// Never: setup keys are always text.
pub fn setup_differences(base: &Run, new: &Run) -> Vec<SetupDifference> {
    let (mut base, mut new) = (flat_setup(base), flat_setup(new));
    let lone = [lone_items(&base, &new), lone_items(&new, &base)].concat();
    for item in &lone {
        merge_item(&mut base, item);
        merge_item(&mut new, item);
    }
    let mut keys: Vec<&String> = base.iter().chain(&new).map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    let value = |of: &[(String, String)], key: &String| {
        let found = of.iter().find(|(other, _)| other == key);
        found.map_or_else(|| "none".to_owned(), |(_, value)| value.clone())
    };
    let differences = keys.into_iter().filter_map(|key| {
        let (base, new) = (value(&base, key), value(&new, key));
        let key = key.clone();
        (base != new).then_some(SetupDifference { key, base, new })
    });
    let mut differences: Vec<SetupDifference> = differences.collect();
    // The target's description repeats the name that was typed.
    let named = differences.iter().find(|it| it.key == "setup.target");
    if let Some(SetupDifference { base, new, .. }) = named.cloned() {
        let repeats = |it: &SetupDifference| it.key.starts_with("target.") && it.base == base;
        differences.retain(|it| !repeats(it) || it.new != new);
    }
    differences
}

/// The differences between the setups of two sets of runs. Several values of one set are joined by
/// commas.
pub fn set_differences(base: &[Run], new: &[Run]) -> Vec<SetupDifference> {
    let Some(first) = base.first().or(new.first()) else {
        return Vec::new();
    };
    let of = |runs: &[Run]| -> Vec<Vec<SetupDifference>> {
        runs.iter().map(|it| setup_differences(first, it)).collect()
    };
    let (base, new) = (of(base), of(new));
    let found = base.iter().chain(&new).flatten();
    let keys: BTreeMap<&str, &str> = found.map(|it| (&*it.key, &*it.base)).collect();
    let values = |of: &[Vec<SetupDifference>], key: &str, first: &str| {
        let of_run = |run: &Vec<SetupDifference>| {
            let other = run.iter().find(|it| it.key == key);
            other.map_or(first, |it| &it.new).to_owned()
        };
        let values: BTreeSet<String> = of.iter().map(of_run).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    let differences = keys.into_iter().map(|(key, first)| SetupDifference {
        key: key.to_owned(),
        base: values(&base, key, first),
        new: values(&new, key, first),
    });
    differences.collect()
}

/// Settings that define the workload. The others define how it is measured.
const OF_WORKLOAD: &str = "
    command measure workload block pattern partition writes durable clients rate think shape
";

/// How the workloads of two sets of runs differ, as in `block 4 KiB and 8 KiB`; `None` if they do
/// not.
pub fn workload_differences(base: &[Run], new: &[Run]) -> Vec<String> {
    let found = set_differences(base, new);
    // A different command also has different settings; the command alone is enough.
    let commands = found.iter().filter(|it| it.key == "setup.command");
    let commands: Vec<&SetupDifference> = commands.collect();
    let found = if commands.is_empty() {
        found.iter().collect()
    } else {
        commands
    };
    let found = found.into_iter().filter_map(|it| {
        let setting = it.key.strip_prefix("setup.")?;
        let name = OF_WORKLOAD
            .split_whitespace()
            .find(|name| *name == setting)?;
        let values = it.base.split(", ").chain(it.new.split(", "));
        let values: BTreeSet<&str> = values.filter(|it| !it.is_empty()).collect();
        let values: Vec<String> = values.into_iter().map(spaced).collect();
        Some(format!("{name} {}", values.join(" and ")))
    });
    found.collect()
}

/// A value with a space before its unit: `4 KiB` for `4KiB`.
fn spaced(value: &str) -> String {
    let digits = |it: char| it.is_ascii_digit() || it == '.';
    match value.find(|it: char| !digits(it)) {
        Some(at) if at > 0 => format!("{} {}", &value[..at], &value[at..]),
        _ => value.to_owned(),
    }
}

impl SetupDifference {
    /// Whether runs that differ in this key ran different workloads and are not repeats. Different
    /// targets can be compared.
    pub fn is_of_command(&self) -> bool {
        self.key.starts_with("setup.") && self.key != "setup.target"
    }
}

/// Named items of lists, such as `target.devices.2`, that the other setup lacks.
fn lone_items(setup: &[(String, String)], other: &[(String, String)]) -> Vec<String> {
    let items = setup.iter().filter_map(|(key, _)| {
        let item = key.strip_suffix(".name")?;
        let is_numbered = item.ends_with(|it: char| it.is_ascii_digit());
        is_numbered.then(|| item.to_owned())
    });
    let is_lone = |item: &String| !other.iter().any(|(key, _)| is_within(key, item));
    items.filter(is_lone).collect()
}

fn is_within(key: &str, item: &str) -> bool {
    key.strip_prefix(item).is_some_and(|it| it.starts_with('.'))
}

/// Merges everything about an item into one entry.
fn merge_item(setup: &mut Vec<(String, String)>, item: &str) {
    let name = format!("{item}.name");
    setup.retain(|(key, _)| !is_within(key, item) || *key == name);
    for (key, _) in setup.iter_mut().filter(|(key, _)| *key == name) {
        item.clone_into(key);
    }
}

/// The setup as keys with their values.
fn flat_setup(run: &Run) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |top: &str, value: serde_json::Value| flatten(top, value, &mut found);
    let infallible = "a setup has no keys but text";
    add(
        "environment",
        serde_json::to_value(&run.environment).expect(infallible),
    );
    add("setup.command", run.settings.command.clone().into());
    for setting in run
        .settings
        .settings
        .iter()
        .filter(|it| !it.values.is_empty())
    {
        let key = format!("setup.{}", setting.name);
        add(&key, setting.values.join(", ").into());
    }
    for file in &run.settings.files {
        let key = format!("setup.files.{}", file.name);
        add(
            &key,
            format!("{} bytes, {:016x}", file.text.len(), digest(&file.text)).into(),
        );
    }
    add(
        "target",
        serde_json::to_value(&run.target).expect(infallible),
    );
    // The engine may have been chosen automatically.
    add("used.engine", run.engines().into());
    found
}

/// FNV-1a hash, to tell two texts apart.
fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Flattens a list. Items with codes and plain values become one value; for others, such as
/// devices, each key becomes an entry with the item's index.
fn flatten_list(key: &str, items: Vec<serde_json::Value>, found: &mut Vec<(String, String)>) {
    let word = |item: &serde_json::Value| match item {
        serde_json::Value::Object(entries) => {
            let code = entries.get("code").and_then(serde_json::Value::as_str);
            code.map(str::to_owned)
        }
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(_) => None,
        plain => Some(plain.to_string()),
    };
    let words: Option<Vec<String>> = items.iter().map(word).collect();
    match words {
        Some(words) if words.is_empty() => {}
        Some(words) => found.push((key.to_owned(), words.join(", "))),
        None => {
            for (place, item) in (1..).zip(items) {
                flatten(&format!("{key}.{place}"), item, found);
            }
        }
    }
}

fn flatten(key: &str, value: serde_json::Value, found: &mut Vec<(String, String)>) {
    if EACH_ITS_OWN.split_whitespace().any(|own| own == key) {
        return;
    }
    match value {
        serde_json::Value::Object(entries) => {
            for (name, value) in entries {
                flatten(&format!("{key}.{name}"), value, found);
            }
        }
        serde_json::Value::Null => {}
        serde_json::Value::Array(items) => flatten_list(key, items, found),
        serde_json::Value::String(text) => found.push((key.to_owned(), text)),
        value => found.push((key.to_owned(), value.to_string())),
    }
}
