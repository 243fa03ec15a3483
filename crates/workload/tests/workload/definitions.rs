//! Workload definitions: the seven of the document, the defaults, and the way back to text.

use random::{Purpose, Stream};
use workload::{
    BUILT_IN_WORKLOADS, Content, Fill, Gap, GapShape, Partition, Pattern, Placement, TargetId,
    ThreadType, WorkloadDefinition, WorkloadGroup,
};

fn parse(text: &str) -> WorkloadDefinition {
    WorkloadDefinition::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A workload in the words of the document's tables.
fn rows(definition: &WorkloadDefinition) -> Vec<String> {
    let access = match definition.partition() {
        Partition::Contiguous => "contiguous",
        Partition::Interleaved => "interleaved",
        Partition::Contending => "contentious",
    };
    let head = format!(
        "{} ({}) threads {} of {} {access} {}k",
        definition.title,
        definition.group.name(),
        definition.threads.unwrap_or(0),
        definition.shares(),
        definition.block() / 1024,
    );
    let types = definition.types().iter().map(row);
    std::iter::once(head).chain(types).collect()
}

fn row(kind: &ThreadType) -> String {
    let space = match kind.pattern {
        Pattern::Sequential { step } => format!("sequential {step}"),
        Pattern::Hyperbolic { alpha } => format!("hyperbolic {alpha}"),
        other => format!("{other:?}"),
    };
    let time = match kind.clock {
        None => "constant".to_owned(),
        Some(gap) => format!("{:?} {}", gap.shape, 1e9 / gap.mean_ns),
    };
    format!(
        "{}@{}k {}:{} {space} {time} n{}",
        kind.count,
        kind.io_size / 1024,
        kind.reads,
        kind.writes,
        kind.ios_per_message
    )
}

/// Zero threads mean a variable number.
#[test]
fn built_in_workloads_have_the_parameters_of_the_document() {
    let table = [
        "Transaction (transaction) threads 0 of 50 interleaved 4k",
        "1@4k 2:1 hyperbolic 0.5 Exponential 20 n100",
        "Multiuser (transaction) threads 0 of 50 contiguous 64k",
        "3@4k 2:3 hyperbolic 0.5 Exponential 20 n100",
        "3@8k 2:3 hyperbolic 0.5 Exponential 20 n100",
        "2@64k 1:1 sequential 1 constant n100",
        "Database query (transaction) threads 0 of 50 interleaved 4k",
        "1@4k 100:1 hyperbolic 0.5 Exponential 20 n100",
        "Batch (batch) threads 5 of 5 contiguous 64k",
        "1@64k 4:1 sequential 1 constant n80",
        "Video multimedia (batch) threads 5 of 5 contiguous 1024k",
        "4@1024k 1:0 sequential 1 constant n5",
        "1@1024k 0:1 sequential 1 constant n5",
        "Archive save (batch) threads 1 of 5 contiguous 32k",
        "1@32k 1:0 sequential 1 constant n160",
        "Scientific (batch) threads 2 of 5 contiguous 1024k",
        "1@1024k 1:0 sequential 1 constant n5",
        "1@1024k 0:1 sequential 1 constant n5",
    ];
    let all = WorkloadDefinition::all_built_in();
    assert_eq!(all.iter().flat_map(rows).collect::<Vec<_>>(), table);
    // "transact" packs operations unless it is told an offset, and rpt tells it none.
    let mut types = all.iter().flat_map(WorkloadDefinition::types);
    assert!(types.all(|kind| kind.placement == Placement::Packed));
}

#[test]
fn built_in_workloads_are_found_by_name_and_number() {
    for (index, (name, _)) in BUILT_IN_WORKLOADS.iter().enumerate() {
        let found = WorkloadDefinition::built_in(name).expect("a built-in workload");
        assert_eq!(found.name, *name);
        assert_eq!(
            WorkloadDefinition::built_in(&(index + 1).to_string()),
            Some(found)
        );
        let text = WorkloadDefinition::built_in_text(name).expect("its text");
        let comments = text.lines().filter(|line| line.starts_with('#')).count();
        assert!(comments >= 3, "{name} is hardly explained");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{name} is too wide"
        );
    }
    for unknown in ["", "0", "8", "01", "+1", "batch ", "rabmark"] {
        assert_eq!(WorkloadDefinition::built_in(unknown), None, "{unknown:?}");
        assert_eq!(
            WorkloadDefinition::built_in_text(unknown),
            None,
            "{unknown:?}"
        );
    }
    assert!(
        WorkloadDefinition::built_in("Batch").is_some(),
        "case does not matter"
    );
}

const SHORTEST: &str = "name = \"x\"\nblock = \"8k\"\nshares = 4\n[[threads]]\n";

#[test]
fn what_is_left_out_is_what_the_document_has_for_it() {
    let shortest = parse(SHORTEST);
    assert_eq!(shortest.title, "x");
    assert_eq!(
        (shortest.group, shortest.threads),
        (WorkloadGroup::Transaction, None)
    );
    assert_eq!(
        shortest.types(),
        [ThreadType {
            name: "type 1".to_owned(),
            count: 1,
            partition: Partition::Contiguous,
            block: 8192,
            shares: 4,
            io_size: 8192,
            placement: Placement::Packed,
            reads: 1,
            writes: 0,
            pattern: Pattern::Sequential { step: 1 },
            clock: None,
            ios_per_message: 100,
        }]
    );
}

#[test]
fn the_group_follows_from_the_threads() {
    let group = |top: &str, kind: &str| {
        let definition = parse(&format!("{top}\n{SHORTEST}{kind}"));
        (definition.group, definition.threads)
    };
    let paced = "time = \"exponential:5\"";
    assert_eq!(group("", paced), (WorkloadGroup::Transaction, None));
    assert_eq!(
        group("threads-fixed = 0", ""),
        (WorkloadGroup::Transaction, None)
    );
    assert_eq!(
        group("threads-fixed = 3", ""),
        (WorkloadGroup::Batch, Some(3))
    );
    let batch = "group = \"batch\"\nthreads-fixed = 3";
    assert_eq!(group(batch, paced), (WorkloadGroup::Batch, Some(3)));
}

fn only_type(lines: &str) -> ThreadType {
    parse(&format!("{SHORTEST}{lines}")).types()[0].clone()
}

#[test]
fn walks_are_written_in_short() {
    let cases = [
        ("sequential", Pattern::Sequential { step: 1 }),
        ("sequential:7", Pattern::Sequential { step: 7 }),
        ("uniform", Pattern::Uniform),
        ("hyperbolic:2.5", Pattern::Hyperbolic { alpha: 2.5 }),
        ("exponential: 30", Pattern::ExponentialSteps { mean: 30.0 }),
        ("zipf:0.99", Pattern::Zipf { theta: 0.99 }),
    ];
    for (text, expected) in cases {
        let kind = only_type(&format!("space = \"{text}\""));
        assert_eq!(kind.pattern, expected, "{text}");
    }
}

#[test]
fn clocks_are_written_in_short() {
    let gap = |shape, mean_ns| Some(Gap { shape, mean_ns });
    let cases = [
        ("constant", None),
        ("uniform:100/s", gap(GapShape::Uniform, 1e7)),
        ("exponential:20/s", gap(GapShape::Exponential, 5e7)),
        ("exponential:20", gap(GapShape::Exponential, 5e7)),
        ("poisson:20 iops", gap(GapShape::Exponential, 5e7)),
        ("regular:2k/s", gap(GapShape::Constant, 5e5)),
        ("exponential:30/min", gap(GapShape::Exponential, 2e9)),
    ];
    for (text, expected) in cases {
        let kind = only_type(&format!("time = \"{text}\""));
        assert_eq!(kind.clock, expected, "{text}");
    }
}

#[test]
fn places_are_packed_or_at_an_offset() {
    let place = |lines: &str| only_type(&format!("io = \"1KiB\"\n{lines}")).placement;
    assert_eq!(place(""), Placement::Packed);
    assert_eq!(place("place = \"packed\""), Placement::Packed);
    assert_eq!(place("place = \"0\""), Placement::Offset(0));
    assert_eq!(place("place = \"4KiB\""), Placement::Offset(4096));
    assert_eq!(place("place = 7168"), Placement::Offset(7168));
}

#[test]
fn a_spec_has_the_target_the_length_and_another_rate() {
    let multiuser = WorkloadDefinition::built_in("multiuser").expect("a built-in workload");
    let len = 800 << 20;
    let spec = multiuser
        .spec(TargetId(2), len, None)
        .expect("a file that is large enough");
    assert_eq!((spec.target, spec.len), (TargetId(2), len));
    assert_eq!(spec.types, multiuser.types());
    assert_eq!(spec.offered(6), Some(120.0));
    let spec = multiuser
        .spec(TargetId(2), len, Some(50.0))
        .expect("a rate");
    assert_eq!(spec.offered(6), Some(300.0));
    assert_eq!(spec.types[2].clock, None, "who never waits has no rate");
    assert_eq!(
        spec.types[0].clock.map(|gap| gap.shape),
        Some(GapShape::Exponential)
    );
}

#[test]
fn a_spec_needs_a_file_that_is_large_enough_and_a_rate() {
    let multiuser = WorkloadDefinition::built_in("multiuser").expect("a built-in workload");
    let errors = multiuser
        .spec(TargetId(0), 50 * 65536 - 1, Some(0.0))
        .expect_err("two mistakes");
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let is_rate = |error: &&String| error.contains("the rate of I/Os per second is ");
    assert_eq!(errors.iter().filter(is_rate).count(), 2, "{errors:?}");
    let last = errors.last().expect("an error");
    assert!(
        last.starts_with("the file of 3276799 bytes is too small: "),
        "{errors:?}"
    );
    for rate in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(
            multiuser.spec(TargetId(0), 1 << 30, Some(rate)).is_err(),
            "{rate}"
        );
    }
}

#[test]
fn a_definition_survives_its_text() {
    for definition in WorkloadDefinition::all_built_in() {
        let text = definition.to_toml();
        assert_eq!(parse(&text), definition, "{text}");
    }
    let odd = parse(
        "name = \"\\\"a\\\\b\\\" \u{fc}\"\ntitle = \"#\"\ngroup = \"batch\"\nthreads-fixed = 9\n\
         access = \"contentious\"\nblock = 1537\nshares = 4294967295\n[[threads]]\nmix = \"0:7\"\n\
         io = 1000\nplace = \"537B\"\nspace = \"zipf:0.1\"\ntime = \"regular:7/h\"\n",
    );
    assert_eq!(parse(&odd.to_toml()), odd, "{}", odd.to_toml());
}

#[test]
fn content_is_read_written_and_handed_on() {
    let with = |lines: &str| parse(&format!("{SHORTEST}\n[content]\n{lines}"));
    let mixed = with("compressible = 50\nchunk = \"4KiB\"\nduplicates = 20\n");
    let expected = Content {
        compressible_percent: 50,
        chunk_bytes: 4096,
        duplicate_percent: 20,
        ..Content::default()
    };
    assert_eq!(mixed.content, expected);
    assert_eq!(parse(&mixed.to_toml()), mixed, "{}", mixed.to_toml());
    let spec = mixed
        .spec(TargetId(0), 1 << 30, None)
        .expect("a file that is large enough");
    assert_eq!(spec.content, expected);
    for (fill, expected) in [
        ("zeroes", Fill::Zeroes),
        (
            "pattern:DEadface",
            Fill::Pattern(vec![0xde, 0xad, 0xfa, 0xce]),
        ),
        ("drawn", Fill::Noise),
        ("repeated", Fill::Noise),
    ] {
        let found = with(&format!("fill = \"{fill}\"\n"));
        assert_eq!(found.content.fill, expected, "{fill}");
        assert_eq!(parse(&found.to_toml()), found, "{fill}");
        assert!(!found.content.is_default(), "{fill}");
    }
}

/// A rate is kept as a mean gap; its text must give exactly the same gap again.
#[test]
fn any_rate_survives_its_text() {
    const SEED: u64 = 11;
    let mut dice = Stream::new(SEED, 0, Purpose::Resample);
    for round in 0..5_000 {
        let digits = 1 + dice.below(9) as usize;
        let number = dice.below(1 << (1 + round % 30)) as f64 + dice.unit();
        let unit = ["/s", "/min", "/h", "k/s"][dice.below(4) as usize];
        let typed = format!("exponential:{number:.digits$}{unit}");
        if !typed.contains(|c: char| ('1'..='9').contains(&c)) {
            continue;
        }
        let definition = parse(&format!("{SHORTEST}time = \"{typed}\""));
        let text = definition.to_toml();
        assert_eq!(
            parse(&text),
            definition,
            "seed {SEED} round {round}: {typed}\n{text}"
        );
    }
}
