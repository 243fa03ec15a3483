//! Several hosts on one storage: a server with its own programs, and clients behind links.
//!
//! A client is a chain of parts, host around link, that ends in a port. Commands from a port go to
//! the server, and its answers go back. All clients share one wire.

use std::collections::VecDeque;

use units::Instant;
use workload::ClientId;

use crate::device::{Answer, CacheReads, Command, Device, Slab, first};
use crate::done::Done;
use crate::raid::ArrayState;
use crate::station::Served;

/// Where a client's parts end and the server begins.
#[derive(Debug)]
pub struct Port {
    size: u64,
    outgoing: VecDeque<Command>,
    incoming: VecDeque<Answer>,
    /// When incoming commands arrived.
    at: Instant,
}

impl Port {
    /// A port to a storage of `size` bytes.
    pub const fn new(size: u64) -> Self {
        Self {
            size,
            outgoing: VecDeque::new(),
            incoming: VecDeque::new(),
            at: Instant::START,
        }
    }

    fn deliver(&mut self, now: Instant, answer: Answer) {
        self.at = now;
        self.incoming.push_back(answer);
    }
}

impl Device for Port {
    fn size(&self) -> u64 {
        self.size
    }

    fn begin(&mut self, _: Instant, command: Command) {
        self.outgoing.push_back(command);
    }

    fn next(&self) -> Option<Instant> {
        (!self.incoming.is_empty()).then_some(self.at)
    }

    fn step(&mut self, _: Instant, answers: &mut Vec<Answer>) {
        answers.extend(self.incoming.drain(..));
    }

    fn port(&mut self) -> Option<&mut Port> {
        Some(self)
    }
}

/// A server with the clients that share its storage.
#[derive(Debug)]
pub struct ServedSite {
    server: Box<dyn Device>,
    clients: Vec<Box<dyn Device>>,
    asked: Slab<AskedBy>,
    answers: Vec<Answer>,
}

/// Origin of a server command, with the tag used there.
#[derive(Clone, Copy, Debug)]
enum AskedBy {
    Program(u64),
    Client(usize, u64),
}

impl ServedSite {
    /// An idle server, with clients that end in ports.
    pub fn new(server: Box<dyn Device>, clients: Vec<Box<dyn Device>>) -> Self {
        Self {
            server,
            clients,
            asked: Slab::default(),
            answers: Vec::new(),
        }
    }

    /// The host of a program: programs are distributed over the server and its clients in turn.
    fn host_of(&self, program: Option<ClientId>) -> usize {
        let hosts = self.clients.len() + 1;
        program.map_or(0, |ClientId(number)| number as usize % hosts)
    }

    fn ask(&mut self, now: Instant, command: Command, requester: AskedBy) {
        let tag = self.asked.insert(requester);
        self.server.begin(now, Command { tag, ..command });
    }

    /// Forwards a client's command to the server.
    fn forward(&mut self, now: Instant, client: usize) {
        let sent: Vec<Command> = match self.clients[client].port() {
            Some(port) => port.outgoing.drain(..).collect(),
            None => Vec::new(),
        };
        for command in sent {
            self.ask(now, command, AskedBy::Client(client, command.tag));
        }
    }

    fn step_server(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        let mut found = std::mem::take(&mut self.answers);
        self.server.step(now, &mut found);
        for answer in found.drain(..) {
            match self.asked.remove(answer.tag) {
                AskedBy::Program(tag) => answers.push(Answer { tag, ..answer }),
                AskedBy::Client(client, tag) => {
                    if let Some(port) = self.clients[client].port() {
                        port.deliver(now, Answer { tag, ..answer });
                    }
                }
            }
        }
        self.answers = found;
    }
}

impl Device for ServedSite {
    fn size(&self) -> u64 {
        self.server.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        match self.host_of(command.client) {
            0 => self.ask(now, command, AskedBy::Program(command.tag)),
            host => {
                self.clients[host - 1].begin(now, command);
                self.forward(now, host - 1);
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        let clients = self.clients.iter().map(|client| client.next());
        clients.fold(self.server.next(), first)
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        let is_due = |device: &dyn Device| device.next().is_some_and(|at| at <= now);
        loop {
            if is_due(&*self.server) {
                self.step_server(now, answers);
                continue;
            }
            let due = self.clients.iter().position(|client| is_due(&**client));
            let Some(client) = due else {
                return;
            };
            self.clients[client].step(now, answers);
            self.forward(now, client);
        }
    }

    fn cache_reads(&self) -> Option<CacheReads> {
        self.server.cache_reads()
    }

    fn done(&self, now: Instant) -> Option<Done> {
        self.server.done(now)
    }

    fn done_of_hosts(&self, now: Instant) -> Vec<Done> {
        let hosts = std::iter::once(&self.server).chain(&self.clients);
        hosts.filter_map(|host| host.done(now)).collect()
    }

    fn array_state(&self) -> Option<ArrayState> {
        self.server.array_state()
    }

    fn served(&self) -> Option<Served> {
        self.server.served()
    }
}
