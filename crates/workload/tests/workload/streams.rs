//! What a client asks for is one thing, when it asks another; and mistakes in a specification are
//! told instead of ending the program.

use std::collections::BTreeMap;

use units::{Duration, Instant};
use workload::{
    AddressError, AddressSpec, Agenda, Client, Durability, Event, FileSet, Gap, GapShape, Mix,
    MixClient, MixSpec, Op, OperationSize, Pacing, Partition, Pattern, Region, TargetId, WalkStart,
    Wanted,
};

fn spec(pattern: Pattern, pacing: Pacing) -> MixSpec {
    let region = Region {
        target: TargetId(2),
        offset: 0,
        len: 1 << 30,
        block: 4096,
    };
    MixSpec {
        addresses: AddressSpec {
            region,
            partition: Partition::Contending,
            pattern,
            start: WalkStart::Random,
        },
        mix: Mix {
            read: 2,
            write: 1,
            flush: 1,
        },
        sizes: vec![
            OperationSize {
                len: 4096,
                weight: 1,
            },
            OperationSize {
                len: 8192,
                weight: 2,
            },
        ],
        durability: Durability::Synced,
        pacing,
        operations: None,
        spread: None,
    }
}

/// The first operations of a client whose every wish is granted.
fn operations(spec: &MixSpec, seed: u64, client: u32) -> Vec<Op> {
    let mut client = MixClient::new(spec, seed, client, 4).expect("a valid specification");
    let mut agenda = Agenda::default();
    let mut ops = Vec::new();
    client.on_event(Event::Started { at: Instant::START }, &mut agenda);
    while ops.len() < 300 {
        if let Some(at) = agenda.wake.take() {
            client.on_event(Event::Due { at }, &mut agenda);
        }
        for Wanted { due, op, .. } in std::mem::take(&mut agenda.issues) {
            ops.push(op);
            let request = workload::Request::new(workload::ClientId(0), due, op);
            let done = workload::Completion {
                request,
                issued: due,
                completed: due + Duration::from_micros(7),
                result: Ok(op.len()),
            };
            client.on_event(Event::Completed(&done), &mut agenda);
        }
    }
    ops.truncate(300);
    ops
}

fn gap(shape: GapShape, mean_ns: f64) -> Gap {
    Gap { shape, mean_ns }
}

/// Bug: the phase of a client of constant or uniform pace was drawn from the stream that chooses
/// between reading and writing, so that another pace gave other operations.
#[test]
fn another_pace_leaves_the_operations_as_they_were() {
    for pattern in [
        Pattern::Uniform,
        Pattern::Hyperbolic { alpha: 0.5 },
        Pattern::Zipf { theta: 1.0 },
    ] {
        let reference = operations(&spec(pattern, Pacing::Closed { think: Gap::NONE }), 3, 1);
        for shape in [GapShape::Constant, GapShape::Uniform, GapShape::Exponential] {
            for pacing in [
                Pacing::Closed {
                    think: gap(shape, 1e6),
                },
                Pacing::Closed {
                    think: gap(shape, 5e9),
                },
                Pacing::Open {
                    gap: gap(shape, 1e5),
                },
            ] {
                assert_eq!(
                    operations(&spec(pattern, pacing), 3, 1),
                    reference,
                    "{pacing:?}"
                );
            }
        }
        let pacing = Pacing::Closed { think: Gap::NONE };
        assert_ne!(
            operations(&spec(pattern, pacing), 3, 2),
            reference,
            "another client"
        );
        assert_ne!(
            operations(&spec(pattern, pacing), 4, 1),
            reference,
            "another seed"
        );
    }
}

/// Bug: a mean step below one block, or Zipf's law over more blocks than doubles can tell apart,
/// passed the check and ended the program.
#[test]
fn parameters_out_of_range_are_told() {
    let check = |pattern, block: u64, expected: &str| {
        let pacing = Pacing::Closed { think: Gap::NONE };
        let mut spec = spec(pattern, pacing);
        spec.addresses.region = Region {
            len: 1 << 50,
            block,
            ..spec.addresses.region
        };
        let error = MixClient::new(&spec, 1, 0, 4).expect_err("a parameter out of range");
        assert!(matches!(error, AddressError::Law(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(
        Pattern::ExponentialSteps { mean: 0.5 },
        4096,
        "mean step is 0.5",
    );
    check(
        Pattern::ExponentialSteps {
            mean: f64::INFINITY,
        },
        4096,
        "mean step is inf",
    );
    check(Pattern::Zipf { theta: 0.0 }, 4096, "theta is 0");
    check(Pattern::Zipf { theta: f64::NAN }, 4096, "theta is NaN");
    check(Pattern::Zipf { theta: 1.0 }, 512, "at most 2^40");
    check(Pattern::Hyperbolic { alpha: -1.0 }, 4096, "alpha is -1");
}

#[test]
fn clients_of_several_files_cover_each_of_them_once() {
    let blocks = 12;
    let pacing = Pacing::Closed { think: Gap::NONE };
    let mut spec = spec(Pattern::Sequential { step: 1 }, pacing);
    spec.addresses.partition = Partition::Interleaved;
    spec.addresses.start = WalkStart::First;
    spec.addresses.region.len = blocks * 4096;
    spec.mix = Mix::READ;
    spec.spread = Some(FileSet {
        others: TargetId(7),
        files: 3,
    });
    let mut seen = BTreeMap::<u32, Vec<u64>>::new();
    // The clients 0 and 3 share the first file.
    for (client, file, sharers) in [(0, 2, 2), (1, 7, 1), (2, 8, 1), (3, 2, 2)] {
        for op in operations(&spec, 1, client)
            .into_iter()
            .take(blocks as usize / sharers)
        {
            let Op::Read { target, offset, .. } = op else {
                panic!("{op:?}");
            };
            assert_eq!(target, TargetId(file), "client {client}");
            seen.entry(file).or_default().push(offset / 4096);
        }
    }
    for (file, mut places) in seen {
        places.sort_unstable();
        assert_eq!(places, (0..blocks).collect::<Vec<_>>(), "file {file}");
    }
}
