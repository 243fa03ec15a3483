//! Several independent models behind one driver interface, in a common virtual time.

use engine::{Activity, Clock, Driver, DriverError};
use units::Instant;
use workload::{Completion, Request, TargetId};

use crate::device::{Device, first};
use crate::driver::SimDriver;

/// Models that share only a clock.
#[derive(Debug)]
pub struct SimGroup {
    now: Instant,
    capacity: usize,
    /// In the order of their targets, in which simultaneous events are also processed.
    members: Vec<(TargetId, SimDriver)>,
}

impl SimGroup {
    /// The drivers of these targets, at the same time and with equal capacity.
    pub fn new(mut members: Vec<(TargetId, SimDriver)>) -> Self {
        members.sort_by_key(|(target, _)| *target);
        let now = members.iter().map(|(_, it)| it.now()).max();
        let capacity = members.iter().map(|(_, it)| it.capacity()).min();
        Self {
            now: now.expect("a group has a member"),
            capacity: capacity.unwrap_or(0),
            members,
        }
    }

    /// Completes everything outstanding. Returns the devices in the order of their targets, and the
    /// time of the last completion.
    pub fn into_devices(self) -> (Vec<Box<dyn Device>>, Instant) {
        let mut end = self.now;
        let ended = self.members.into_iter().map(|(_, member)| {
            let (device, at) = member.into_device();
            end = end.max(at);
            device
        });
        let devices = ended.collect();
        (devices, end)
    }

    /// The model of a target. CPU work, which has no target, goes to the first one.
    fn member(&mut self, request: &Request) -> &mut SimDriver {
        let number = match request.op.target() {
            TargetId::NONE => Ok(0),
            target => self.members.binary_search_by_key(&target, |(it, _)| *it),
        };
        &mut self.members[number.expect("each target has a model")].1
    }

    fn next(&self) -> Option<Instant> {
        let all = self.members.iter().map(|(_, member)| member.next());
        all.fold(None, first)
    }

    /// Advances all clocks to an instant before which nothing was due.
    fn advance(&mut self, until: Instant) {
        self.now = self.now.max(until);
        for (_, member) in &mut self.members {
            member.advance(until);
        }
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        for (_, member) in &mut self.members {
            member.step(done);
        }
    }

    fn is_idle(&self) -> bool {
        self.members.iter().all(|(_, member)| member.is_idle())
    }
}

impl Clock for SimGroup {
    fn now(&self) -> Instant {
        self.now
    }
}

impl Driver for SimGroup {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        self.member(&request).submit(request)
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        if deadline.is_none() && self.is_idle() {
            return Err(DriverError::Idle);
        }
        let before = done.len();
        loop {
            let next = self.next();
            let until = first(next, deadline).ok_or(DriverError::Idle)?;
            let is_over = next.is_none_or(|at| deadline.is_some_and(|end| at > end));
            self.advance(until);
            self.step(done);
            if is_over || done.len() > before {
                return Ok(());
            }
        }
    }

    /// Sums over the models. Busy times of single models cannot be summed.
    fn activity(&self) -> Option<Activity> {
        let mut all = self.members.iter().map(|(_, member)| member.activity());
        let first = all.next()??;
        let sum = all.try_fold(first, |sum, next| Some(sum.plus(&next?)))?;
        Some(Activity {
            device_busy_ns: None,
            ..sum
        })
    }
}
