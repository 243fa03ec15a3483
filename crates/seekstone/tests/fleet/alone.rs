//! Commands of one host under a launcher of several ranks: each says why, before MPI is looked for
//! and before any I/O.

use crate::support::{Belongings, Scratch, finish};

#[test]
fn commands_of_one_host_say_why_and_touch_nothing() {
    let one_system = "it is defined for a single system";
    let each = "it repeats whole measurements, each of one host";
    let cases: [(&[&str], &str); 8] = [
        (
            &["positioning", "data"],
            "it times one device's positioning",
        ),
        (&["rpt"], one_system),
        (&["diskmbps"], one_system),
        (&["diskrand"], one_system),
        (&["transact"], one_system),
        (&["cache", "target"], each),
        (&["streams", "target"], each),
        (
            &["verify", "target"],
            "it reads back what one host has written",
        ),
    ];
    for (command, why) in cases {
        let scratch = Scratch::new();
        let target = scratch.target();
        std::fs::write(target.join("mine"), "precious").expect("a file");
        let before = Belongings::of(&target);
        let mut program = scratch.seekstone(command);
        program.env("PMI_RANK", "0").env("PMI_SIZE", "4");
        let ended = finish(program);
        let expected = format!(
            "{} measures on one host, and a launcher with PMI",
            command[0]
        );
        ended.check(command, 2, &expected);
        assert!(ended.error().contains(why), "{ended:?}");
        assert!(!ended.error().contains('\n'), "one sentence: {ended:?}");
        before.assert_untouched();
        assert!(!scratch.archive().exists(), "{command:?}");
    }
}
