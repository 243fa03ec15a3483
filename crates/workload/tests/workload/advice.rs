//! What is said about a workload, and what puts its results in doubt.

use workload::{Advice, AdviceCode, WorkloadDefinition, advise, advise_on_durations};

const MIB: u64 = 1 << 20;

fn built_in(name: &str) -> WorkloadDefinition {
    WorkloadDefinition::built_in(name).expect("a built-in workload")
}

fn codes(all: &[Advice], is_doubt: bool) -> Vec<AdviceCode> {
    let wanted = all.iter().filter(|advice| advice.is_doubt == is_doubt);
    wanted.map(|advice| advice.code).collect()
}

#[track_caller]
fn text(all: &[Advice], code: AdviceCode) -> &str {
    match all.iter().find(|advice| advice.code == code) {
        Some(advice) => &advice.text,
        None => panic!("no {code:?} in {all:#?}"),
    }
}

/// The document's own file, cache and threads put nothing in doubt but its mixed workload.
#[test]
fn the_documents_own_tests_pass() {
    let threads = [3, 3, 4, 5, 5, 1, 2];
    for (definition, threads) in WorkloadDefinition::all_built_in().iter().zip(threads) {
        let all = advise(
            definition,
            800 * MIB,
            Some(256 << 10),
            Some(threads),
            Some(3200),
        );
        let expected: &[AdviceCode] = match definition.name.as_str() {
            "multiuser" => &[AdviceCode::MixedTypes],
            _ => &[],
        };
        assert_eq!(codes(&all, true), expected, "{}: {all:#?}", definition.name);
    }
}

#[test]
fn everything_known_is_said_about_the_transaction_workload() {
    let all = advise(
        &built_in("transaction"),
        800 * MIB,
        Some(256 << 10),
        Some(3),
        Some(3200),
    );
    let texts: Vec<_> = all.iter().map(|advice| advice.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "A thread of type \"transaction\" has 4096 places to go to.",
            "A cache of 256 KiB holds 1.56 % of one thread's range and 0.0312 % of the file.",
            "The walk of type \"transaction\" has a median step of 4 places. 17.7 % of its steps \
             leave the 64 places around it that the cache holds. Sum 16 I/Os or more, so that the \
             walk leaves the cache.",
            "3 of 50 shares are in use, 6 % of the file.",
            "Possible loads are 20/s with one thread to 1,000/s with one in each share, in steps \
             of one thread. To go further, raise the load per thread or the shares.",
        ]
    );
    assert!(codes(&all, true).is_empty());
}

#[test]
fn what_is_not_known_is_not_judged() {
    let all = advise(&built_in("transaction"), 800 * MIB, None, None, None);
    assert_eq!(
        codes(&all, false),
        [AdviceCode::IndependentSamples, AdviceCode::LoadRange]
    );
    let all = advise(&built_in("archive"), 800 * MIB, None, None, None);
    assert_eq!(
        codes(&all, false),
        [
            AdviceCode::IndependentSamples,
            AdviceCode::Coverage,
            AdviceCode::Saturation
        ]
    );
}

/// The document calls files of 100 MiB and less too small for its workloads 5 and 7.
#[test]
fn few_places_are_a_doubt() {
    for name in ["video", "scientific"] {
        let all = advise(&built_in(name), 100 * MIB, None, None, None);
        assert_eq!(
            codes(&all, true),
            [AdviceCode::IndependentSamples; 2],
            "{name}"
        );
        assert!(
            text(&all, AdviceCode::IndependentSamples).contains(" has 20 places"),
            "{all:?}"
        );
    }
    // Offsets leave one place in a block, packed operations fill it.
    let toml = |place: &str| {
        let text = format!(
            "name=\"x\"\nblock=\"1MiB\"\nshares=10\n[[threads]]\nio=4096\nplace=\"{place}\""
        );
        WorkloadDefinition::parse(&text, "x").expect("a definition")
    };
    let doubts = |place| codes(&advise(&toml(place), 100 * MIB, None, None, None), true).len();
    assert_eq!(doubts("0") - doubts("packed"), 1);
}

#[test]
fn a_cache_that_holds_much_of_a_range_is_a_doubt() {
    let all = advise(&built_in("batch"), 800 * MIB, Some(64 * MIB), None, None);
    assert_eq!(codes(&all, true), [AdviceCode::CachedRange]);
    assert_eq!(
        text(&all, AdviceCode::CachedRange),
        "A cache of 64 MiB holds 40 % of one thread's range and 8 % of the file. The cache is \
         measured in part: use a file of 3200MiB or more."
    );
    let larger = advise(&built_in("batch"), 3201 * MIB, Some(64 * MIB), None, None);
    assert!(codes(&larger, true).is_empty());
}

#[test]
fn a_walk_that_stays_in_the_cache_is_a_doubt() {
    let near = WorkloadDefinition::built_in_text("transaction")
        .expect("a text")
        .replace("hyperbolic:0.5", "hyperbolic:2.5");
    let near = WorkloadDefinition::parse(&near, "near").expect("a definition");
    let walk = |ios| advise(&near, 800 * MIB, Some(256 << 10), None, ios);
    assert!(codes(&walk(None), true).is_empty());
    assert!(codes(&walk(Some(589)), true).is_empty());
    let short = walk(Some(588));
    assert_eq!(codes(&short, true), [AdviceCode::RandomWalk]);
    assert!(
        text(&short, AdviceCode::RandomWalk)
            .ends_with("588 were summed: measure longer, use a smaller alpha, or another walk."),
        "{short:?}"
    );
}

#[test]
fn more_threads_than_shares_contend() {
    let all = advise(&built_in("batch"), 8000 * MIB, None, Some(6), None);
    assert_eq!(codes(&all, true), [AdviceCode::Contention]);
    let contentious = WorkloadDefinition::built_in_text("batch")
        .expect("a text")
        .replace("\"contiguous\"", "\"contentious\"");
    let contentious = WorkloadDefinition::parse(&contentious, "x").expect("a definition");
    let asked_for = advise(&contentious, 8000 * MIB, None, Some(60), None);
    assert!(codes(&asked_for, true).is_empty());
}

#[test]
fn a_batch_workload_in_a_corner_is_a_doubt() {
    let corner = WorkloadDefinition::built_in_text("archive")
        .expect("a text")
        .replace("shares = 5\n", "shares = 6\n");
    let corner = WorkloadDefinition::parse(&corner, "x").expect("a definition");
    assert_eq!(
        codes(&advise(&corner, 8000 * MIB, None, None, None), true),
        [AdviceCode::Coverage]
    );
    let transaction = advise(&built_in("transaction"), 8000 * MIB, None, Some(1), None);
    assert!(codes(&transaction, true).is_empty());
}

#[test]
fn types_that_never_wait_do_not_let_the_load_be_set() {
    let multiuser = advise(&built_in("multiuser"), 8000 * MIB, None, None, None);
    assert!(text(&multiuser, AdviceCode::MixedTypes).starts_with("Type \"batch\" never waits"));
    let text_of = "name=\"x\"\nblock=4096\nshares=10\n[[threads]]";
    let unbounded = WorkloadDefinition::parse(text_of, "x").expect("a definition");
    let all = advise(&unbounded, 8000 * MIB, None, None, None);
    assert_eq!(codes(&all, true), [AdviceCode::Saturation]);
}

#[test]
fn batch_workloads_of_different_duration_are_a_doubt() {
    let all = WorkloadDefinition::all_built_in();
    assert_eq!(advise_on_durations(&all), None);
    assert_eq!(advise_on_durations(&[]), None);
    let longer = WorkloadDefinition::built_in_text("archive")
        .expect("a text")
        .replace("ios-per-message = 160", "ios-per-message = 1600");
    let longer = WorkloadDefinition::parse(&longer, "x").expect("a definition");
    let advice = advise_on_durations(&[all[3].clone(), longer]).expect("a doubt");
    assert_eq!(
        advice.text,
        "A message of \"batch\" moves 5 MiB and one of \"archive\" 50 MiB, so that the workloads \
         differ in duration and precision. Choose ios-per-message for about the same number of \
         bytes."
    );
}

#[test]
fn extreme_numbers_give_text_and_no_panic() {
    for definition in WorkloadDefinition::all_built_in() {
        for bytes in [0, 1, u64::MAX] {
            for threads in [0, 1, u32::MAX] {
                let all = advise(&definition, bytes, Some(bytes), Some(threads), Some(bytes));
                assert!(
                    all.iter().all(|advice| !advice.text.contains("NaN")),
                    "{all:?}"
                );
            }
        }
    }
}
