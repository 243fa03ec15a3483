//! File tests in several states on one screen: a row for each test, a column for each state.

use results::{FileState, FileSystemRole, FileTest, FileTests, Trust};
use stats::Estimate;
use units::{format_count, format_rate};

use crate::figure::{legend, mark, tone_of};
use crate::files::{digits, half, ratio_text, short_name};
use crate::page::Page;
use crate::style::Tone;
use crate::table::{Align, Table};

/// Which tests stand in one column.
pub(crate) type Group = (FileSystemRole, u32, FileState);

/// What the cells show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellFigure {
    /// Of the tests of the paper, which are about times.
    Seconds,
    BytesPerSecond,
    ItemsPerSecond,
}

impl CellFigure {
    /// One figure for all cells, since they are compared with each other.
    fn of(found: &FileTests) -> Self {
        let is_numbered =
            |it: &FileTest| it.test.starts_with(|letter: char| letter.is_ascii_digit());
        let mut tests = found.tests.iter();
        match () {
            () if tests.clone().any(is_numbered) => Self::Seconds,
            () if tests.all(|it| it.bytes_per_second.is_some()) => Self::BytesPerSecond,
            () => Self::ItemsPerSecond,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::BytesPerSecond => "bytes/s",
            Self::ItemsPerSecond => "items/s",
        }
    }

    fn cell(self, test: &FileTest) -> String {
        let sign = mark(test.trust());
        let with_half = |text: String, it: &Estimate| match half(it) {
            unknown if unknown.is_empty() && !it.is_bounded() => format!("{sign}{text} +-?"),
            half => format!("{sign}{text}{half}"),
        };
        match self {
            Self::Seconds => with_half(digits(test.elapsed_seconds.value), &test.elapsed_seconds),
            Self::BytesPerSecond => test
                .bytes_per_second
                .map_or_else(String::new, |it| with_half(format_rate(it.value), &it)),
            Self::ItemsPerSecond => {
                let it = &test.items_per_second;
                with_half(format_count(it.value), it)
            }
        }
    }
}

/// All tests, with half of each interval in percent.
pub(crate) fn section(page: &mut Page<'_>, found: &FileTests, groups: &[Group]) {
    let shown = CellFigure::of(found);
    let columns = groups.iter().map(|group| heading(*group));
    let over = found.over_memory.iter().map(|it| it.state);
    let mut over: Vec<FileState> = over.collect();
    over.sort_unstable();
    over.dedup();
    let over_columns = over
        .iter()
        .map(|state| format!("{} slowdown", state.name()));
    let first = [(shown.name().into(), Align::Left, 9)];
    let columns = columns.map(|it| (it.into(), Align::Left, 8));
    let over_columns = over_columns.map(|it| (it.into(), Align::Right, 4));
    let mut table = Table::with_headings(first.into_iter().chain(columns).chain(over_columns));
    let mut names: Vec<String> = Vec::new();
    for test in &found.tests {
        let name = short_name(test);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let of = |group: &Group| {
            let mut tests = found.tests.iter();
            tests.find(|it| (it.system, it.scale, it.state) == *group && short_name(it) == name)
        };
        let worst = groups.iter().filter_map(of).map(FileTest::trust).max();
        let tone = tone_of(worst.unwrap_or(Trust::Sound));
        let cells = groups
            .iter()
            .map(|group| of(group).map_or_else(String::new, |it| shown.cell(it)));
        let ratios = over.iter().map(|state| {
            let test = of(&(FileSystemRole::Target, groups[0].1, *state));
            let ratio = test.and_then(|it| found.over_memory(it));
            ratio.map_or_else(String::new, |it| ratio_text(&it) + "x")
        });
        let cells: Vec<String> = std::iter::once(name.clone())
            .chain(cells)
            .chain(ratios)
            .collect();
        table.row(tone, cells);
    }
    page.table(&table);
    let mut text = String::from("+-: half of the 95 % CI over passes");
    for trust in [Trust::Shaky, Trust::Void] {
        if found.tests.iter().any(|it| it.trust() == trust) {
            text.push_str(&format!("; {} {}", mark(trust), legend(trust)));
        }
    }
    if !over.is_empty() {
        text.push_str("; slowdown: time over that on the memory disk, as-is");
    }
    text.push_str("; --all shows MB/s, CPU, device and the times of calls");
    page.paragraph(Tone::Quiet, &text);
}

fn heading((role, scale, state): Group) -> String {
    let place = match role {
        FileSystemRole::Target => state.name().to_owned(),
        FileSystemRole::Memory if state == FileState::AsIs => "memory disk".to_owned(),
        FileSystemRole::Memory => format!("memory disk, {}", state.name()),
    };
    match scale {
        1 => place,
        many => format!("{place} x{many}"),
    }
}
