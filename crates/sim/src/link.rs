//! A network link to a server: bandwidth, round trips, a window, and a maximum request size.
//!
//! Waiting for the acknowledgement of each window of W bytes limits the rate to W / (L + W / B),
//! with the round trip L and the bandwidth B. The server's time adds to it. Its processor sends
//! data while they are on the wire, and takes received data once all of a request are there. Lost
//! packets and collisions are not modelled.

use std::sync::{Arc, Mutex, PoisonError};

use units::{Duration, Instant};

use crate::device::{Action, Answer, Calendar, Command, Device, Slab, first, transfer_ns};
use crate::done::Done;
use crate::raid::ArrayState;
use crate::site::Port;

/// Parameters of a link. Sizes are bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bytes per second on the wire.
    pub bandwidth: f64,
    /// Round-trip time, nanoseconds.
    pub round_trip: u64,
    /// Maximum packet size.
    pub packet: u64,
    /// Header bytes per packet.
    pub header: u64,
    /// Maximum unacknowledged data.
    pub window: u64,
    /// Maximum data per request.
    pub request: u64,
}

impl LinkSpec {
    /// Bytes on the wire for `data` bytes of data.
    pub const fn wire_bytes(&self, data: u64) -> u64 {
        let packets = data.div_ceil(self.packet - self.header);
        data + packets * self.header
    }
}

/// A wire, which several clients may share: first come, first served.
#[derive(Clone, Debug, Default)]
pub struct Wire(Arc<Mutex<Instant>>);

impl Wire {
    /// When something that needs the wire from `now` on has left it.
    fn take(&self, now: Instant, span: Duration) -> Instant {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *free = now.max(*free) + span;
        *free
    }
}

/// A running link in front of its server.
#[derive(Debug)]
pub struct Link {
    spec: LinkSpec,
    server: Box<dyn Device>,
    /// CPU time of the server per byte on the wire, nanoseconds.
    server_byte: f64,
    wire: Wire,
    calendar: Calendar<LinkEvent>,
    jobs: Slab<LinkJob>,
}

#[derive(Clone, Copy, Debug)]
enum LinkEvent {
    /// A request, or a window of data, may go on the wire or to the server.
    Go(u64),
    /// A window has left the wire.
    Sent(u64),
    /// The last answer has arrived.
    Back(u64),
}

#[derive(Clone, Copy, Debug)]
struct LinkJob {
    command: Command,
    /// Bytes of the command left after this request.
    left: u64,
    /// Offset of this request.
    offset: u64,
    len: u64,
    /// Data of this request not on the wire yet.
    unsent: u64,
    /// How many of wire and server processor are still busy with the request's data.
    moving: u32,
    stage: LinkStage,
}

/// Kind of a server command, in the lowest bit of its tag.
const DATA: u64 = 0;
const WORK: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkStage {
    /// Data or the request go to the server.
    Out,
    /// The server works.
    Server,
    /// Data come back.
    In,
}

impl Link {
    /// An idle link on a wire, to a server whose processor needs `server_byte` nanoseconds per byte
    /// on it.
    pub fn new(spec: LinkSpec, server: Box<dyn Device>, server_byte: f64, wire: Wire) -> Self {
        Self {
            spec,
            server,
            server_byte,
            wire,
            calendar: Calendar::default(),
            jobs: Slab::default(),
        }
    }

    fn half_trip(&self) -> Duration {
        Duration(self.spec.round_trip / 2)
    }

    /// Starts the next request of a command.
    fn next_request(&mut self, now: Instant, number: u64) {
        let half = self.half_trip();
        let request = self.spec.request;
        let job = self.jobs.at(number);
        job.offset += job.len;
        job.len = job.left.min(request);
        job.left -= job.len;
        job.stage = LinkStage::Out;
        let sends_data = matches!(job.command.action, Action::Write(_)) && job.len > 0;
        if sends_data {
            job.unsent = job.len;
            job.moving = 1;
            self.send(now, number);
        } else {
            self.calendar.plan(now + half, LinkEvent::Go(number));
        }
    }

    /// The server's CPU work for the data of a request, if modelled.
    fn work(&mut self, now: Instant, number: u64) {
        let job = self.jobs.at(number);
        let work_ns = (job.len as f64 * self.server_byte).round() as u64;
        if work_ns > 0 {
            job.moving += 1;
            let touched = 0;
            let work = Command {
                tag: number << 1 | WORK,
                action: Action::Compute { work_ns, touched },
                client: None,
                offset: 0,
                len: 0,
            };
            self.server.begin(now, work);
        }
    }

    /// Sends the next window over the wire.
    fn send(&mut self, now: Instant, number: u64) {
        let window = self.spec.window;
        let job = self.jobs.at(number);
        let data = job.unsent.min(window);
        job.unsent -= data;
        let span = transfer_ns(self.spec.wire_bytes(data), self.spec.bandwidth);
        let end = self.wire.take(now, Duration(span));
        self.calendar.plan(end, LinkEvent::Sent(number));
    }

    fn sent(&mut self, now: Instant, number: u64) {
        if self.jobs.at(number).unsent > 0 {
            let round_trip = Duration(self.spec.round_trip);
            self.calendar.plan(now + round_trip, LinkEvent::Go(number));
        } else {
            self.moved(now, number);
        }
    }

    /// The wire, or the server's processor, is done with the data of a request.
    fn moved(&mut self, now: Instant, number: u64) {
        let half = self.half_trip();
        let job = self.jobs.at(number);
        job.moving -= 1;
        match job.stage {
            _ if job.moving > 0 => {}
            LinkStage::Out => self.calendar.plan(now + half, LinkEvent::Go(number)),
            LinkStage::In => self.calendar.plan(now + half, LinkEvent::Back(number)),
            LinkStage::Server => self.ask(now, number),
        }
    }

    fn go(&mut self, now: Instant, number: u64) {
        let job = self.jobs.at(number);
        if job.unsent > 0 {
            self.send(now, number);
            return;
        }
        job.stage = LinkStage::Server;
        if matches!(job.command.action, Action::Write(_)) {
            self.work(now, number);
            if self.jobs.at(number).moving > 0 {
                return;
            }
        }
        self.ask(now, number);
    }

    /// Sends a request's command to the server.
    fn ask(&mut self, now: Instant, number: u64) {
        let job = self.jobs.at(number);
        let command = Command {
            tag: number << 1 | DATA,
            action: job.command.action,
            client: job.command.client,
            offset: job.offset,
            len: job.len,
        };
        self.server.begin(now, command);
    }

    fn served(&mut self, now: Instant, answer: &Answer, answers: &mut Vec<Answer>) {
        let half = self.half_trip();
        let number = answer.tag >> 1;
        if answer.tag & 1 == WORK {
            self.moved(now, number);
            return;
        }
        let job = self.jobs.at(number);
        if let Err(errno) = answer.result {
            let command = self.jobs.remove(number).command;
            answers.push(command.failed(errno));
            return;
        }
        job.stage = LinkStage::In;
        if job.command.action == Action::Read && job.len > 0 {
            job.unsent = job.len;
            job.moving = 1;
            self.work(now, number);
            self.send(now, number);
        } else {
            self.calendar.plan(now + half, LinkEvent::Back(number));
        }
    }

    fn back(&mut self, now: Instant, number: u64, answers: &mut Vec<Answer>) {
        if self.jobs.at(number).left > 0 {
            self.next_request(now, number);
        } else {
            answers.push(self.jobs.remove(number).command.done());
        }
    }
}

impl Device for Link {
    fn size(&self) -> u64 {
        self.server.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let number = self.jobs.insert(LinkJob {
            command,
            left: command.len,
            offset: command.offset,
            len: 0,
            unsent: 0,
            moving: 0,
            stage: LinkStage::Out,
        });
        self.next_request(now, number);
    }

    fn next(&self) -> Option<Instant> {
        first(self.calendar.next(), self.server.next())
    }

    fn done(&self, now: Instant) -> Option<Done> {
        self.server.done(now)
    }

    fn port(&mut self) -> Option<&mut Port> {
        self.server.port()
    }

    fn array_state(&self) -> Option<ArrayState> {
        self.server.array_state()
    }

    fn tape_stops(&self) -> Option<u64> {
        self.server.tape_stops()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        let mut done = Vec::new();
        loop {
            if self.server.next().is_some_and(|at| at <= now) {
                self.server.step(now, &mut done);
                for answer in done.drain(..) {
                    self.served(now, &answer, answers);
                }
                continue;
            }
            match self.calendar.take(now) {
                Some(LinkEvent::Go(number)) => self.go(now, number),
                Some(LinkEvent::Sent(number)) => self.sent(now, number),
                Some(LinkEvent::Back(number)) => self.back(now, number, answers),
                None => break,
            }
        }
    }
}
