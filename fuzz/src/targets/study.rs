//! Study files: what is accepted has cells, and each has settings of its kind.

use kinds::measure::measuring;
use procedure::study::{StudyOverrides, read_study};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let kinds = study::study_kinds(&study::OwnMeasurements);
    let read = read_study("fuzz.toml", text, &StudyOverrides::default(), &kinds);
    let Ok(study) = read else {
        return;
    };
    assert!(!study.meaning().is_empty());
    for cell in study.cells().iter().take(50) {
        let settings = study.settings_of(cell);
        measuring(&study.measurement, &settings).expect("it was checked");
        assert!(!study.describe(cell).contains('\n'));
        let _ = study.target_of(cell);
    }
}
