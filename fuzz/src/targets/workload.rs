//! Workload definitions: what is accepted is written back as the same, and its threads run.

use units::Instant;
use workload::{Agenda, Client, ClientSpec, Event, TargetId, WorkloadDefinition};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(definition) = WorkloadDefinition::parse(text, "fuzz.toml") else {
        return;
    };
    let again = WorkloadDefinition::parse(&definition.to_toml(), "again.toml");
    assert_eq!(again.expect("what was written is read"), definition);
    for len in [1 << 20, 1 << 40] {
        let Ok(spec) = definition.spec(TargetId(0), len, None) else {
            continue;
        };
        let spec = ClientSpec::Control(spec);
        for number in 0..3 {
            let Ok(mut client) = spec.client(7, number, 3) else {
                continue;
            };
            let mut agenda = Agenda::default();
            client.on_event(Event::Started { at: Instant::START }, &mut agenda);
        }
    }
}
