//! Warning about figures of models: their intervals do not include the difference between a model
//! and its device.

use procedure::study::StudyDefinition;
use results::{StudyCell, StudyReplicate, Warning, WarningCode};
use units::TargetName;

/// Values that differ by less than this, relative to the largest, are equal.
const SAME: f64 = 1e-9;

/// A warning about intervals of combinations measured on a model.
pub(super) fn no_chance(
    definition: &StudyDefinition,
    cells: &[StudyCell],
    replicates: &[StudyReplicate],
) -> Option<Warning> {
    let of_models = definition
        .cells()
        .into_iter()
        .zip(cells)
        .filter(|(levels, cell)| cell.replicates > 1 && is_model(definition, levels));
    let (mut fixed, mut all) = (0, 0);
    for (_, cell) in of_models {
        for figure in &cell.figures {
            all += 1;
            fixed += u32::from(is_fixed(cell, &figure.reading, replicates));
        }
    }
    if all == 0 {
        return None;
    }
    let without = match fixed {
        0 => "Its intervals".to_owned(),
        _ if fixed == all => "It is deterministic: every repeat gave the same result, and \
                              intervals have no width. Intervals"
            .to_owned(),
        _ => format!(
            "{fixed} of its {all} results are deterministic: every repeat gave the same, and \
             the interval has no width. Intervals"
        ),
    };
    Some(Warning::warn(
        WarningCode::StudyOfAModel,
        format!(
            "These are results of a model, not of a device. {without} show what chance does in the \
             model, not how far it is from the device. `seekstone devices validate` shows that \
             where something was published."
        ),
    ))
}

/// Whether a cell measures a model, as its target or by a setting.
fn is_model(definition: &StudyDefinition, levels: &[usize]) -> bool {
    let settings = definition.settings_of(levels);
    let texts = settings.values().filter_map(|value| value.as_str());
    let mut named = texts.map(TargetName::from);
    definition.target_of(levels).is_model() || named.any(|it| it.is_model())
}

fn is_fixed(cell: &StudyCell, reading: &str, replicates: &[StudyReplicate]) -> bool {
    let values: Vec<f64> = replicates
        .iter()
        .filter(|replicate| replicate.levels == cell.levels)
        .flat_map(|replicate| &replicate.readings)
        .filter(|found| found.name == reading)
        .map(|found| found.value)
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high - low <= SAME * high.abs()
}
