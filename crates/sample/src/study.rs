//! An invented study.

use results::{
    Better, Reading, Study, StudyCell, StudyComparison, StudyFactor, StudyFigure, StudyKinds,
    StudyOutlier, StudyReplicate, StudyScale, StudySetting, StudyVerdict, Unit,
};

use super::estimate;

/// Two block sizes on two hosts, one round.
pub fn study() -> Study {
    let cells = [
        ("1KiB", "linux1"),
        ("64KiB", "linux1"),
        ("1KiB", "lxi003"),
        ("64KiB", "lxi003"),
    ];
    let levels = |(block, host): (&str, &str)| vec![block.to_owned(), host.to_owned()];
    let replicates = cells.iter().enumerate().map(|(at, &cell)| StudyReplicate {
        number: at as u32 + 1,
        round: 1,
        levels: levels(cell),
        started_at: "2027-01-31T12:00:00Z".into(),
        elapsed_ns: 1_500_000_000,
        readings: readings(at as f64),
        warnings: Vec::new(),
    });
    let replicates: Vec<StudyReplicate> = replicates.collect();
    let of_cell = |(at, &cell): (usize, &(&str, &str))| StudyCell {
        levels: levels(cell),
        replicates: 1,
        usable: Some(1),
        figures: figures(at),
    };
    let factor = |name: &str, levels: [&str; 2]| StudyFactor {
        name: name.into(),
        levels: levels.map(str::to_owned).to_vec(),
    };
    Study {
        title: "Block size and host".into(),
        environment: vec!["linux1 has 100 Mb Ethernet".into()],
        measurement: "transfer".into(),
        settings: vec![StudySetting {
            key: "size".into(),
            value: "64MiB".into(),
        }],
        factors: vec![
            factor("block", ["1KiB", "64KiB"]),
            factor("host", ["linux1", "lxi003"]),
        ],
        places: vec![super::run().target],
        margin: 0.02,
        begun_at: vec!["2027-01-31T12:00:00Z".into(), "2027-01-31T13:00:00Z".into()],
        replicates,
        cells: cells.iter().enumerate().map(of_cell).collect(),
        comparisons: vec![comparison()],
        limits: Vec::new(),
    }
}

fn readings(at: f64) -> Vec<Reading> {
    // Individual samples of one repeat for plots.
    let count = if at == 0.0 { 12 } else { 0 };
    let times = (0..count).map(|it| f64::from(it) * 0.004 + 0.001).collect();
    vec![
        Reading::new(
            "read rate",
            Unit::BytesPerSecond,
            6.1e6 - at,
            Better::Higher,
        ),
        Reading::new("mean time", Unit::Seconds, 0.0359, Better::Lower).of(times),
        Reading::new("extents", Unit::Count, 3.0, Better::Neither),
    ]
}

fn figures(at: usize) -> Vec<StudyFigure> {
    let figure = |reading: &str, unit, better, value: f64| StudyFigure {
        reading: reading.into(),
        unit,
        better,
        value: estimate(value, 0.1),
        outliers: Vec::new(),
        two_kinds: None,
        drift: None,
    };
    let mut figures = vec![
        figure("read rate", Unit::BytesPerSecond, Better::Higher, 6.1e6),
        figure("mean time", Unit::Seconds, Better::Lower, 0.0359),
        figure("extents", Unit::Count, Better::Neither, 3.5),
        figure("hits", Unit::Share, Better::Higher, 0.78),
        figure("save CPU", Unit::SecondsPerMib, Better::Lower, 0.275),
        figure("stream size", Unit::Bytes, Better::Lower, 65_536.0),
        figure("requests", Unit::PerSecond, Better::Higher, 18_400.5),
        figure("fairness", Unit::Ratio, Better::Higher, 0.97),
    ];
    if at == 0 {
        figures[1].two_kinds = Some(StudyKinds {
            low: 0.0101,
            high: 0.202,
            high_share: 0.375,
        });
        figures[3].drift = Some(0.12);
        figures[0].outliers.push(StudyOutlier {
            round: 3,
            value: 1.25e6,
        });
    }
    figures
}

fn comparison() -> StudyComparison {
    StudyComparison {
        reading: "read rate".into(),
        unit: Unit::BytesPerSecond,
        factor: "block".into(),
        level: "64KiB".into(),
        against: "1KiB".into(),
        context: vec![String::new(), "linux1".into()],
        scale: StudyScale::Ratio,
        value: estimate(0.175, 0.06),
        p_adjusted: 0.0001,
        verdict: StudyVerdict::Lower,
        is_stated: true,
        ratio: None,
        sides: None,
        replicates_needed: None,
    }
}
