//! Conclusions in words: what the statistics say, and never more.
//!
//! Ends of intervals are rounded outwards, so that the words never claim more than the numbers.

use results::{StudyComparison, StudyScale, StudyVerdict, Unit};
use stats::{PAIRS_MIN, bears_conclusion};
use units::{format_count, format_counted};

use crate::study::analysis::{Compared, StudyShape};
use crate::study::needed::replicates_needed;

/// From this quotient on what is higher is stated as times, all else in percent: "times lower" is
/// no English.
const TIMES_FROM: f64 = 2.0;
/// What lies this near to a step is meant to lie on it.
const EXACT: f64 = 1e-9;
/// From here on numbers have thousands separators.
const LARGE: f64 = 1000.0;

/// Sentences for what was compared; one alone where no comparison has rounds enough.
pub(super) fn conclusions(shape: &StudyShape, compared: &[Compared]) -> Vec<String> {
    let comparisons = compared.iter().map(|it| &it.comparison);
    let stated = comparisons.filter(|it| it.is_stated);
    let Some(rounds) = stated.map(StudyComparison::rounds).max() else {
        return Vec::new();
    };
    if !bears_conclusion(rounds as usize) {
        let verb = if rounds == 1 { "allows" } else { "allow" };
        let rounds = format_counted(rounds.into(), "complete round");
        return vec![format!(
            "{rounds} {verb} no conclusion: it takes at least {PAIRS_MIN}."
        )];
    }
    let mut sentences = Vec::new();
    let mut done: Vec<(&str, usize)> = Vec::new();
    for Compared {
        factor, comparison, ..
    } in compared
    {
        let key = (comparison.reading.as_str(), *factor);
        if !done.contains(&key) {
            done.push(key);
            sentences.extend(of_factor(shape, compared, key));
        }
    }
    sentences.push(method(shape, compared));
    sentences
}

/// What is said of one factor and one reading.
fn of_factor(
    shape: &StudyShape,
    compared: &[Compared],
    (reading, factor): (&str, usize),
) -> Vec<String> {
    let here = compared
        .iter()
        .filter(|it| it.factor == factor && it.comparison.reading == reading);
    let stated: Vec<&StudyComparison> = here
        .clone()
        .map(|it| &it.comparison)
        .filter(|it| it.is_stated)
        .collect();
    let name = &shape.factors[factor];
    let mut sentences = Vec::new();
    if here.clone().any(|it| it.differs) {
        sentences.push(format!(
            "The effect of {name} on {reading} differs with {}, and is stated for each:",
            others(shape, factor)
        ));
    }
    let mut contexts: Vec<&[String]> = Vec::new();
    for comparison in &stated {
        if !contexts.contains(&comparison.context.as_slice()) {
            contexts.push(&comparison.context);
        }
    }
    for context in contexts {
        let here = stated.iter().filter(|it| it.context == context);
        let (here, few): (Vec<&StudyComparison>, Vec<&StudyComparison>) =
            here.copied().partition(|it| it.is_enough());
        let place = place(shape, factor, context);
        let claimed = here
            .iter()
            .filter(|it| matches!(it.verdict, StudyVerdict::Higher | StudyVerdict::Lower));
        sentences.extend(claimed.map(|it| match it.value.contains(zero(it)) {
            false => shown(it, name, &place),
            true => not_cleared(it, name, &place),
        }));
        sentences.extend(no_difference(&here, name, reading, &place));
        let open = here
            .iter()
            .filter(|it| it.verdict == StudyVerdict::NotShown);
        sentences.extend(open.filter_map(|it| needed(it, name, shape.margin, compared.len())));
        // What one of the levels never has is not comparable, however long it is measured.
        let few = few.iter().filter(|it| it.rounds() > 0);
        sentences.extend(few.map(|it| not_enough(it, name, &place)));
    }
    sentences
}

/// Other factors that have more than one level.
fn others(shape: &StudyShape, factor: usize) -> String {
    let varied = (0..shape.factors.len()).filter(|&it| it != factor && shape.levels[it].len() > 1);
    let names: Vec<&str> = varied.map(|it| shape.factors[it].as_str()).collect();
    listed(&names)
}

/// Whether every combination of levels is measured.
fn is_whole(shape: &StudyShape) -> bool {
    shape.cells.len() == shape.levels.iter().map(Vec::len).product::<usize>()
}

/// The combination at which something holds: ` (mount default)`, or over which it is an average.
fn place(shape: &StudyShape, factor: usize, context: &[String]) -> String {
    let named = shape.factors.iter().zip(context);
    let words: Vec<String> = named
        .filter(|(_, level)| !level.is_empty())
        .map(|(factor, level)| format!("{factor} {level}"))
        .collect();
    let others = others(shape, factor);
    match (words.is_empty(), others.is_empty()) {
        (false, _) => format!(" ({})", words.join(", ")),
        (true, false) if is_whole(shape) => format!(" (averaged over {others})"),
        (true, false) => format!(" (averaged over {others}, where both were measured)"),
        (true, true) => String::new(),
    }
}

fn shown(it: &StudyComparison, factor: &str, place: &str) -> String {
    format!(
        "{factor} {}: {} {} with {}{place}.",
        it.level,
        it.reading,
        effect(it),
        it.against
    )
}

/// A difference that Holm's rule finds, and whose interval for all comparisons holds none: its size
/// cannot be told, and an end of it alone would be told as one.
fn not_cleared(it: &StudyComparison, factor: &str, place: &str) -> String {
    let word = match it.verdict {
        StudyVerdict::Higher => "higher",
        _ => "lower",
    };
    format!(
        "{factor} {}: {} {word} than with {} by Holm's rule{place}, but the interval for all \
         comparisons together holds no difference, too: {}. More replicates would tell by how \
         much.",
        it.level,
        it.reading,
        it.against,
        open_range(it)
    )
}

/// `82 to 84 % lower than`, `5.4 to 6.1 times as high as`.
fn effect(it: &StudyComparison) -> String {
    let (low, high) = (it.value.low, it.value.high);
    let is_higher = it.verdict == StudyVerdict::Higher;
    let word = if is_higher { "higher" } else { "lower" };
    if it.scale == StudyScale::Difference {
        // The nearer end first.
        let (near, far) = if is_higher {
            (low, high)
        } else {
            (-high, -low)
        };
        return format!("{} {word} than", difference(near, far, it.unit));
    }
    if low >= TIMES_FROM {
        return format!("{} as high as", span(low, high, "times"));
    }
    let (near, far) = if is_higher {
        (low - 1.0, high - 1.0)
    } else {
        (1.0 - high, 1.0 - low)
    };
    format!("{} {word} than", span(near * 100.0, far * 100.0, "%"))
}

fn difference(near: f64, far: f64, unit: Unit) -> String {
    if unit == Unit::Share {
        return span(near * 100.0, far * 100.0, "percentage points");
    }
    format!("{} to {}", unit.format(near), unit.format(far))
}

/// A range with its ends rounded outwards.
fn span(near: f64, far: f64, unit: &str) -> String {
    let digits = digits_for(near, far);
    let (low, high) = (round_down(near, digits), round_up(far, digits));
    if low == high {
        format!("{low} {unit}")
    } else {
        format!("{low} to {high} {unit}")
    }
}

/// Decimals that tell the ends of a range apart, and no more than are of use.
fn digits_for(near: f64, far: f64) -> usize {
    match (far - near).abs() {
        _ if far >= 100.0 => 0,
        width if width >= 5.0 => 0,
        width if width >= 0.2 || width == 0.0 => 1,
        _ => 2,
    }
}

fn round_down(value: f64, digits: usize) -> String {
    let step = step(value, digits);
    rounded((value / step + EXACT).floor() * step, digits)
}

fn round_up(value: f64, digits: usize) -> String {
    let step = step(value, digits);
    // The sum makes a positive zero of a negative one.
    rounded((value / step - EXACT).ceil() * step + 0.0, digits)
}

/// Three digits of large numbers, which are never known better.
fn step(value: f64, digits: usize) -> f64 {
    if value >= LARGE {
        10_f64.powf(value.log10().floor() - 2.0)
    } else {
        10_f64.powi(-(digits as i32))
    }
}

fn rounded(value: f64, digits: usize) -> String {
    if value >= LARGE {
        format_count(value)
    } else {
        format!("{value:.digits$}")
    }
}

/// Levels between which nothing was shown, with what the data leave open.
fn no_difference(
    here: &[&StudyComparison],
    factor: &str,
    reading: &str,
    place: &str,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for it in here.iter().filter(|it| it.verdict == StudyVerdict::Same) {
        sentences.push(format!(
            "{factor} {} and {}: {reading} is the same, {}{place}.",
            it.level,
            it.against,
            open_range(it)
        ));
    }
    for it in here
        .iter()
        .filter(|it| it.verdict == StudyVerdict::NotShown)
    {
        // Shown, but not shown to be more than the margin.
        let is_small = !it.value.contains(zero(it)) && it.scale == StudyScale::Ratio;
        let size = if is_small { " of interest" } else { "" };
        sentences.push(format!(
            "No difference{size} in {reading} shown between {factor} {} and {}{place}; what the \
             data do not exclude: {}.",
            it.level,
            it.against,
            open_range(it)
        ));
    }
    sentences
}

/// Levels which too few rounds compare, where others have enough.
fn not_enough(it: &StudyComparison, factor: &str, place: &str) -> String {
    let verb = if it.rounds() == 1 { "is" } else { "are" };
    format!(
        "{factor} {} and {}{place}: a conclusion about {} takes {PAIRS_MIN} complete rounds, and \
         there {verb} {}.",
        it.level,
        it.against,
        it.reading,
        it.rounds()
    )
}

/// How many replicates would show a difference that looks to be of interest.
fn needed(it: &StudyComparison, factor: &str, margin: f64, comparisons: usize) -> Option<String> {
    let replicates = replicates_needed(it, margin, (it.rounds(), comparisons))?;
    Some(format!(
        "{factor} {} and {}: if {} is {}, as it looks, {replicates} replicates would show it in \
         four of five studies.",
        it.level,
        it.against,
        it.reading,
        open_end(it, it.value.value, true, "the same"),
    ))
}

/// `3 % lower to 5 % higher`, the ends rounded outwards; `1.0 to 1.1 % lower` where both are on one
/// side.
fn open_range(it: &StudyComparison) -> String {
    let (low, high) = (it.value.low, it.value.high);
    let is_ratio = it.scale == StudyScale::Ratio && high < TIMES_FROM;
    if is_ratio && (high < 1.0 - EXACT || low > 1.0 + EXACT) {
        let (near, far, word) = if high < 1.0 {
            (1.0 - high, 1.0 - low, "lower")
        } else {
            (low - 1.0, high - 1.0, "higher")
        };
        return format!("{} {word}", span(near * 100.0, far * 100.0, "%"));
    }
    let low = open_end(it, it.value.low, it.value.low < zero(it), "lower");
    let high = open_end(it, it.value.high, it.value.high > zero(it), "higher");
    format!("{low} to {high}")
}

fn zero(it: &StudyComparison) -> f64 {
    match it.scale {
        StudyScale::Ratio => 1.0,
        StudyScale::Difference => 0.0,
    }
}

/// One end; `word` is for one that is no difference.
fn open_end(it: &StudyComparison, value: f64, is_away: bool, word: &str) -> String {
    let rounded = if is_away { round_up } else { round_down };
    let (size, unit) = match it.scale {
        StudyScale::Ratio if value >= TIMES_FROM => {
            let digits = usize::from(value < 10.0);
            return format!("{} times as high", rounded(value, digits));
        }
        StudyScale::Ratio => ((value - 1.0) * 100.0, "%"),
        StudyScale::Difference if it.unit == Unit::Share => (value * 100.0, "percentage points"),
        StudyScale::Difference => {
            let word = if value < 0.0 { "lower" } else { "higher" };
            return format!("{} {word}", it.unit.format(value.abs()));
        }
    };
    let word = match size {
        _ if size.abs() < EXACT => word,
        _ if size < 0.0 => "lower",
        _ => "higher",
    };
    let digits = match size.abs() {
        small if small < 10.0 => 1,
        // Nothing is 100 % lower.
        nearly_all if nearly_all > 99.0 && unit == "%" => 2,
        _ => 0,
    };
    format!("{} {unit} {word}", rounded(size.abs(), digits))
}

/// How the claims were made, so that nobody reads more into them.
fn method(shape: &StudyShape, compared: &[Compared]) -> String {
    let count = compared.len();
    let margin = shape.margin * 100.0;
    let together = if count == 1 {
        "The interval is one of 95 %".to_owned()
    } else {
        format!(
            "The intervals hold for all {count} comparisons together with 95 % (Bonferroni), and \
             differences are claimed by Holm's correction: at most one study in twenty makes \
             even one false claim"
        )
    };
    format!("{together}; differences below {margin} % count as none.")
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
