//! Days of a simulated device, in virtual time.

use engine::Clock as _;
use sim::{SimDriver, SimSpec};
use units::{Duration, Instant};
use watch::{PROBES_AT_ONCE, Probe, ProbeKind, ProbePlan, Prober, TargetWatch, WatchNews};

const SECOND: Duration = Duration::from_secs(1);

struct Day {
    driver: SimDriver,
    prober: Prober,
    watch: TargetWatch,
}

impl Day {
    fn of(model: &str) -> Self {
        let spec = SimSpec::parse(model).expect("a model");
        let plan = ProbePlan {
            every: SECOND,
            size: 1 << 30,
            syncs: false,
            seed: 1,
        };
        Self {
            driver: spec.driver(1, PROBES_AT_ONCE, Instant::START),
            prober: Prober::new(&plan, Instant::START),
            watch: TargetWatch::new(SECOND, 0),
        }
    }

    fn run(&mut self, seconds: u64) -> Vec<WatchNews> {
        let mut news = Vec::new();
        let mut probes: Vec<Probe> = Vec::new();
        for second in 1..=seconds {
            let end = Instant(second * 1_000_000_000);
            let ran = self.prober.run_until(&mut self.driver, end, &mut probes);
            ran.expect("a driver that works");
            let ms = |at: Instant| at.as_nanos() / 1_000_000;
            for probe in probes.drain(..) {
                news.extend(self.watch.take(&probe, ms(probe.due), false));
            }
            if let Some(due) = self.prober.oldest_due(ProbeKind::Read) {
                let now = ms(self.driver.now());
                news.extend(self.watch.unanswered(ProbeKind::Read, ms(due), now));
            }
            news.extend(self.watch.at(second));
        }
        news
    }
}

#[test]
fn a_day_of_a_device_that_stalls_has_each_stall_as_an_event() {
    let mut day = Day::of("nvme?stall=12s@every:6h");
    let news = day.run(86_400);
    let mut ended = Vec::new();
    let (mut began, mut minutes) = (0, 0);
    for it in &news {
        match it {
            WatchNews::Began(..) => began += 1,
            WatchNews::Ended(_, event) => ended.push(event),
            WatchNews::Minute(_) => minutes += 1,
        }
    }
    assert_eq!((began, ended.len(), minutes), (3, 3, 1_440));
    for (event, hours) in ended.iter().zip([6, 12, 18]) {
        let after = event.begin_ms as f64 / 1e3 - f64::from(hours) * 3_600.0;
        assert!((0.0..10.0).contains(&after), "{hours} h: {event:?}");
        let length = event.end_ms.expect("an end") - event.begin_ms;
        assert!((4_000..=12_000).contains(&length), "{event:?}");
        assert!(
            (8e9..=12.1e9).contains(&(event.worst_ns as f64)),
            "{event:?}"
        );
        assert!(event.usual_p99_ns < 1_000_000, "{event:?}");
    }
    let all = day.watch.all();
    let expected = 86_400.0;
    assert!((all.reads.count() as f64 - expected).abs() < 5.0 * expected.sqrt());
    assert_eq!((all.failed, all.late, all.stopped), (0, 0, 0));
}

#[test]
fn a_long_stall_is_told_while_it_goes_on() {
    let mut day = Day::of("nvme?stall=30min@3000");
    let news = day.run(4_000);
    let began = news
        .iter()
        .position(|it| matches!(it, WatchNews::Began(..)));
    assert!(began.is_some(), "{:?}", news.last());
    let event = day.watch.going_on(ProbeKind::Read).expect("it goes on");
    assert!(event.worst_ns > 600_000_000_000, "{event:?}");
    assert_eq!(event.probes, 0);
}
