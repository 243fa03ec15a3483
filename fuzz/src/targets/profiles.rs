//! Profiles of users: what is accepted makes users.

use units::{Duration, Instant};
use workload::{Agenda, Client, ClientSpec, Event, TargetId, UsersSpec, parse_profiles};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(profiles) = parse_profiles(text, "fuzz.toml", Duration::from_millis(100)) else {
        return;
    };
    let spec = UsersSpec::new(TargetId(0), 1 << 30, None, profiles).expect("they were checked");
    let _ = spec.memory_bytes(1000);
    let spec = ClientSpec::Users(spec);
    for number in 0..3 {
        let mut client = spec.client(7, number, 3).expect("a region of a gibibyte");
        let mut agenda = Agenda::default();
        client.on_event(Event::Started { at: Instant::START }, &mut agenda);
    }
}
