//! Files of workloads for `trial` and `curve`: what is accepted becomes jobs, which are planned and
//! begin.

use kinds::fio_jobs::{JobTarget, plan_jobs, read_workloads};
use units::{Bytes, Duration, Instant};
use workload::{Agenda, Client, Event};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(workloads) = read_workloads("fuzz.toml", text) else {
        return;
    };
    for is_directory in [true, false] {
        let target = JobTarget {
            given: "/somewhere/else".into(),
            number: 0,
            is_directory,
            size: Some(Bytes(1 << 30)),
        };
        let job = |it: &kinds::fio_jobs::TargetWorkload| {
            it.job(
                &target,
                it.name.as_deref().unwrap_or("job"),
                Duration::from_secs(3),
            )
        };
        let jobs = workloads.iter().take(20).map(job);
        let Ok(jobs) = jobs.collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let Ok(plan) = plan_jobs(&jobs, &|_| Some(1 << 30)) else {
            continue;
        };
        let specs = plan.phases.iter().flat_map(|phase| &phase.workloads);
        for spec in specs.take(20) {
            let Ok(mut client) = workload::JobClient::new(spec, 7, 0) else {
                continue;
            };
            let mut agenda = Agenda::default();
            client.on_event(Event::Started { at: Instant::START }, &mut agenda);
        }
    }
}
