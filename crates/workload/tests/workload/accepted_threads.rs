//! Whatever passes the checks of constraints gives threads that stay in their share of the file, in
//! their block, and at their place in it.

use crate::support::{parameters, with};
use random::{Purpose, Stream};
use units::Instant;
use workload::{
    Agenda, Client, ClientId, Completion, ControlSpec, ControlThread, Durability, Event, Op,
    Partition, Pattern, Placement, Request, TargetId, ThreadParameters, ThreadType, Wanted,
    check_threads,
};

fn spec(kind: ThreadType, len: u64) -> ControlSpec {
    ControlSpec {
        target: TargetId(3),
        len,
        types: vec![kind],
        content: workload::Content::default(),
    }
}

/// The first operations of a thread, each done at the instant at which it was due.
fn operations(spec: &ControlSpec, seed: u64, number: u32, count: usize) -> Vec<Op> {
    let mut thread = ControlThread::new(spec, seed, number).expect("accepted parameters");
    let mut agenda = Agenda::default();
    thread.on_event(Event::Started { at: Instant::START }, &mut agenda);
    let mut ops = Vec::new();
    while ops.len() < count {
        let Wanted { due, op, .. } = agenda.issues.pop().expect("one operation is outstanding");
        ops.push(op);
        let completion = Completion {
            request: Request::new(ClientId(0), due, op),
            issued: due,
            completed: due,
            result: Ok(0),
        };
        thread.on_event(Event::Completed(&completion), &mut agenda);
    }
    ops
}

fn extent(op: &Op) -> (u64, u64) {
    match *op {
        Op::Read { offset, len, .. } => (offset, u64::from(len)),
        Op::Write {
            offset,
            len,
            durability,
            ..
        } => {
            assert_eq!(durability, Durability::Volatile);
            (offset, u64::from(len))
        }
        _ => panic!("{op:?} is neither read nor write"),
    }
}

/// Beginning of the first operations of a thread from the first place on, sorted: the walk begins
/// anywhere, and a whole turn visits every place.
fn turn(kind: ThreadType, len: u64, number: u32) -> Vec<u64> {
    let spec = spec(kind, len);
    let places = ControlThread::new(&spec, 1, number)
        .expect("accepted parameters")
        .places();
    let ops = operations(
        &spec,
        1,
        number,
        usize::try_from(places).expect("a small share"),
    );
    let mut starts: Vec<u64> = ops.iter().map(|op| extent(op).0).collect();
    starts.sort_unstable();
    starts
}

/// The table of the document for 64k x 256 x 50 = 800k2. Its contiguous row of thread 1 steps by
/// two blocks, a misprint: the text above the table has the blocks follow each other.
#[test]
fn the_documents_address_table() {
    const K: u64 = 1024;
    const BLOCK: u64 = 64 * K;
    let kind = |partition, io_offset| {
        let written = with(|p| {
            (p.partition, p.block_bytes, p.threads_max) = (partition, 64 << 10, 50);
            (p.io_bytes, p.io_offset) = (4096, io_offset);
            p.pattern = Pattern::Sequential { step: 1 };
            (p.reads, p.writes) = (1, 0);
        });
        check_threads(&[written], Some(800 << 20))
            .expect("the document's numbers")
            .remove(0)
    };
    let first_three = |partition, io_offset, thread| -> Vec<u64> {
        let starts = turn(kind(partition, io_offset), 800 << 20, thread);
        let places = if io_offset < 0 { 256 * 16 } else { 256 };
        assert_eq!(starts.len(), places);
        starts[..3].to_vec()
    };
    let contiguous = Partition::Contiguous;
    assert_eq!(first_three(contiguous, 0, 0), [0, BLOCK, 2 * BLOCK]);
    assert_eq!(
        first_three(contiguous, 0, 1),
        [256 * BLOCK, 257 * BLOCK, 258 * BLOCK]
    );
    assert_eq!(
        first_three(contiguous, 0, 2),
        [512 * BLOCK, 513 * BLOCK, 514 * BLOCK]
    );
    assert_eq!(first_three(contiguous, -1, 0), [0, 4 * K, 8 * K]);
    assert_eq!(first_three(contiguous, 4096, 0), [4 * K, 68 * K, 132 * K]);
    let interleaved = Partition::Interleaved;
    assert_eq!(first_three(interleaved, 0, 0), [0, 50 * BLOCK, 100 * BLOCK]);
    assert_eq!(
        first_three(interleaved, 0, 1),
        [BLOCK, 51 * BLOCK, 101 * BLOCK]
    );
    assert_eq!(
        first_three(interleaved, 0, 2),
        [2 * BLOCK, 52 * BLOCK, 102 * BLOCK]
    );
    assert_eq!(first_three(interleaved, -1, 0), [0, 4 * K, 8 * K]);
    let shifted = [4 * K, 50 * BLOCK + 4 * K, 100 * BLOCK + 4 * K];
    assert_eq!(first_three(interleaved, 4096, 0), shifted);
}

/// The bytes that thread `number` may touch begin a block of its own share.
fn check_extent(kind: &ThreadType, file: u64, number: u32, op: &Op) -> Result<(), String> {
    let (start, len) = extent(op);
    let (shares, number) = (u64::from(kind.shares), u64::from(number % kind.shares));
    let (block, within) = (start / kind.block, start % kind.block);
    let blocks = match kind.partition {
        Partition::Contending => file / kind.block,
        Partition::Contiguous | Partition::Interleaved => file / kind.block / shares,
    };
    let is_own = match kind.partition {
        Partition::Contending => block < blocks,
        Partition::Contiguous => block / blocks == number,
        Partition::Interleaved => block % shares == number && block / shares < blocks,
    };
    let is_placed = match kind.placement {
        Placement::Packed => within.is_multiple_of(len),
        Placement::Offset(offset) => within == offset,
    };
    let is_inside = len == u64::from(kind.io_size) && within + len <= kind.block;
    if is_own && is_placed && is_inside && start + len <= file {
        Ok(())
    } else {
        Err(format!("{start}+{len}: {is_own} {is_placed} {is_inside}"))
    }
}

fn random_parameters(dice: &mut Stream) -> (ThreadParameters, u64) {
    let partition = match dice.below(3) {
        0 => Partition::Contiguous,
        1 => Partition::Interleaved,
        _ => Partition::Contending,
    };
    let pattern = match dice.below(5) {
        0 => Pattern::Uniform,
        1 => Pattern::Sequential {
            step: dice.next_u64() >> (4 + dice.below(60)),
        },
        2 => Pattern::Hyperbolic {
            alpha: dice.unit() * 3.0,
        },
        3 => Pattern::Zipf {
            theta: dice.unit() * 2.0,
        },
        _ => Pattern::ExponentialSteps {
            mean: dice.unit() * 100.0,
        },
    };
    let mut number = |bits: u64| dice.below(1 << bits).cast_signed();
    let io = number(13);
    let per_block = 1 + number(3);
    // Half of the blocks are whole multiples, so that many parameters are accepted.
    let block = io * per_block + number(1) * number(9);
    let parameters = ThreadParameters {
        count: 1 + number(3),
        partition,
        block_bytes: block,
        io_bytes: io,
        io_offset: number(1) * (number(12) + 1) - 1,
        threads_max: number(6),
        reads: number(2),
        writes: number(2),
        pattern,
        ..parameters()
    };
    let file_bits = 12 + dice.below(20);
    let file = dice.below(1 << file_bits);
    (parameters, file)
}

#[test]
fn accepted_parameters_stay_in_their_share_and_their_block() {
    const SEED: u64 = 20_260_101;
    let mut dice = Stream::new(SEED, 0, Purpose::Resample);
    let (mut accepted, mut kinds) = (0, std::collections::BTreeSet::new());
    for round in 0..6_000 {
        let (written, file) = random_parameters(&mut dice);
        let Ok(mut types) = check_threads(std::slice::from_ref(&written), Some(file)) else {
            continue;
        };
        accepted += 1;
        let kind = types.remove(0);
        kinds.insert(format!(
            "{:?}{}",
            kind.partition,
            kind.placement == Placement::Packed
        ));
        let number = dice.below(2 * u64::from(kind.shares)) as u32;
        for op in operations(&spec(kind.clone(), file), SEED, number, 40) {
            if let Err(wrong) = check_extent(&kind, file, number, &op) {
                panic!("seed {SEED} round {round} thread {number}: {wrong}: {written:?} of {file}");
            }
        }
    }
    assert!(
        accepted > 1_000,
        "only {accepted} random parameters were accepted"
    );
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

/// Numbers from the whole range of 64 bits are refused or accepted, and never end the program.
#[test]
fn any_numbers_at_all_are_refused_or_accepted() {
    const SEED: u64 = 7;
    let mut dice = Stream::new(SEED, 1, Purpose::Resample);
    for _ in 0..20_000 {
        let mut any = || {
            let wide = dice.next_u64().cast_signed() >> dice.below(64);
            if dice.below(4) == 0 {
                wide.saturating_add(i64::MAX)
            } else {
                wide
            }
        };
        let written = ThreadParameters {
            count: any(),
            block_bytes: any(),
            io_bytes: any(),
            io_offset: any(),
            threads_max: any(),
            control_thread: Some(any()),
            reads: any(),
            writes: any(),
            ios_per_message: any(),
            ..parameters()
        };
        let file = any().cast_unsigned();
        if let Ok(types) = check_threads(&[written.clone(), written], Some(file)) {
            let spec = ControlSpec {
                target: TargetId(0),
                len: file,
                types,
                content: workload::Content::default(),
            };
            ControlThread::new(&spec, SEED, 0).expect("accepted parameters make a thread");
            spec.offered(u32::MAX).expect("every type has a clock");
        }
    }
}
