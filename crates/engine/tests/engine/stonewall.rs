//! A stonewall with wear-out in virtual time: clients of known speeds, and what each must have
//! done.

use engine::{AtTheWall, Clock, FileDriver, PlayEnd, Played, WallPart, WalledWork};
use units::{Duration, Instant};
use workload::{Errno, FileName, FileOp};

/// A client each of whose calls takes the same time; from one call on they fail.
struct Steady {
    now: Instant,
    takes: Duration,
    calls: u32,
    fails_at: u32,
}

impl Steady {
    fn of(micros: u64) -> Self {
        Self {
            now: Instant::START,
            takes: Duration::from_micros(micros),
            calls: 0,
            fails_at: u32::MAX,
        }
    }
}

impl Clock for Steady {
    fn now(&self) -> Instant {
        self.now
    }
}

impl FileDriver for Steady {
    fn perform(&mut self, _op: &FileOp) -> Result<u64, Errno> {
        self.now += self.takes;
        self.calls += 1;
        if self.calls > self.fails_at {
            return Err(Errno(28));
        }
        Ok(10)
    }
}

/// One call before, two for each item, one after.
fn work(items: u32) -> WalledWork {
    let remove = |n| FileOp::Remove {
        file: FileName::new('n', n),
    };
    WalledWork {
        before: Box::new([FileOp::OpenNull].into_iter()),
        item: Box::new(move |n| Box::new([remove(n), remove(n)].into_iter())),
        items,
        after: Box::new([FileOp::Close].into_iter()),
    }
}

/// All clients up to the wall, and then as far as the furthest.
fn play(clients: &mut [Steady], items: u32, wall: Duration) -> Vec<(Played, WallPart)> {
    let goes = &mut || false;
    let reach = |client: &mut Steady| AtTheWall::reach(client, work(items), wall, goes);
    let at_wall: Vec<AtTheWall> = clients.iter_mut().map(reach).collect();
    let each: Option<Vec<u32>> = at_wall.iter().map(AtTheWall::items).collect();
    let furthest = each.and_then(|each| each.into_iter().max());
    // What finding it out takes is no call's time.
    let wait = Duration::from_micros(700);
    let ends = clients.iter_mut().zip(at_wall).map(|(client, at_wall)| {
        client.now += wait;
        at_wall.wear_out(client, furthest, &mut || false)
    });
    ends.collect()
}

/// Clients of 1, 2 and 3 us a call: after 10 ms they have done 5000, 2500 and 1667 items of two
/// calls, less the one before the first; then all do as many as the first.
#[test]
fn all_go_on_to_what_the_furthest_has_done() {
    let mut clients = [1, 2, 3].map(Steady::of);
    let played = play(&mut clients, 1_000_000, Duration::from_millis(10));
    let at_wall: Vec<(u32, Duration)> = played
        .iter()
        .map(|(_, part)| (part.items, part.ended.since(part.began)))
        .collect();
    let micros = Duration::from_micros;
    assert_eq!(
        at_wall,
        [
            (5_000, micros(10_001)),
            (2_500, micros(10_002)),
            (1_667, micros(10_005)),
        ]
    );
    for ((whole, part), takes) in played.iter().zip([1, 2, 3]) {
        let calls = 2 + 2 * 5_000;
        assert_eq!(whole.end, PlayEnd::Whole);
        assert_eq!((whole.ops, whole.bytes), (calls, 10 * calls));
        assert_eq!(part.bytes, 10 + 20 * u64::from(part.items));
        assert_eq!(whole.ended.since(whole.began), micros(takes * calls + 700));
        let longest = whole.times.values().map(stats::Histogram::max).max();
        assert_eq!(longest, Some(takes * 1_000), "the wait is in no call");
    }
}

#[test]
fn a_client_without_more_to_do_stops_before_the_wall() {
    let mut clients = [1, 2].map(Steady::of);
    let played = play(&mut clients, 40, Duration::from_millis(1));
    for (whole, part) in &played {
        assert_eq!((part.items, whole.ops), (40, 82));
    }
}

/// Where one fails nobody wears out: the others end at once, and are whole.
#[test]
fn a_client_that_fails_ends_the_pass_of_all() {
    let mut clients = [1, 2].map(Steady::of);
    clients[0].fails_at = 100;
    let played = play(&mut clients, 1_000_000, Duration::from_millis(10));
    assert!(matches!(
        played[0].0.end,
        PlayEnd::Failed {
            error: Errno(28),
            ..
        }
    ));
    assert_eq!(played[0].1.items, 49);
    assert_eq!((played[1].1.items, played[1].0.ops), (2_500, 2 + 2 * 2_500));
    assert_eq!(played[1].0.end, PlayEnd::Whole);
}

#[test]
fn a_client_that_is_stopped_says_so() {
    let mut client = Steady::of(1);
    let mut asked = 0;
    let mut stops = || {
        asked += 1;
        asked > 50
    };
    let wall = Duration::from_secs(1);
    let at_wall = AtTheWall::reach(&mut client, work(1_000), wall, &mut stops);
    assert_eq!(at_wall.items(), None);
    let (played, _) = at_wall.wear_out(&mut client, None, &mut || false);
    assert_eq!((played.end, played.ops), (PlayEnd::Stopped, 50));
}
