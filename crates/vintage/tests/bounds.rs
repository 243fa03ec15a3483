//! Numbers of test and parameter files have bounds, told with file and line.

use vintage::rpt::{TestPlan, listed, shipped};

/// What is wrong with the shipped test when its parameter file says this.
#[track_caller]
fn check(written: &str, instead: &str, expected: &str) {
    let test = shipped::text_of("rpt.rpt").expect("a shipped file");
    let parameters = shipped::text_of("rpt.rpp").expect("a shipped file");
    assert!(parameters.contains(written), "{written}");
    let parameters = parameters.replace(written, instead);
    let mut include = |_: &str| Ok(parameters.clone());
    let (plan, faults) = TestPlan::read("rpt.rpt", test, &Vec::new(), &mut include);
    assert_eq!(plan.is_none(), !expected.is_empty(), "{instead}");
    let said = listed(&faults.errors);
    assert!(said.contains(expected), "{instead}: {said}");
}

#[test]
fn the_shipped_test_is_within_its_bounds() {
    check("Nios=100", "Nios=1000000", "");
}

/// `Nios=4294967295` was one message that never ended, in a test that told nothing meanwhile.
#[test]
fn a_message_that_never_ends_is_refused_at_its_line() {
    for nios in ["1000001", "2147483648", "4294967295", "9223372036854775807"] {
        let expected =
            format!("rpt.rpp:49: Nios -n is {nios}, and must be 1000000 or less: a thread tells");
        check("Nios=100", &format!("Nios={nios}"), &expected);
    }
}
