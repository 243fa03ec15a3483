//! Runs all clients in one thread, polling all connections: epoll(7).

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use drivers::AlignedBuffer;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::time::{ClockId, clock_gettime};

use super::clients::{Clients, PageEnd};
use super::connection::{Connection, ObjectRequest, ResponseProgress};
use super::plan::{PageOutcome, PagePlan, Reuse, Until};
use crate::patience::SLICE;
use crate::{Endpoint, IsStopped};

/// Read buffer size.
const BUFFER_BYTES: usize = 64 << 10;
const EVENTS_MAX: usize = 256;
/// After this many consecutive failures the server counts as gone.
const FAULTS_IN_A_ROW_MAX: u64 = 1000;

/// Load pages as planned from the server at `endpoint`.
///
/// # Errors
/// If the system does not provide polling. Failures of the server are counted in the outcome.
pub fn measure(
    plan: &PagePlan,
    endpoint: &Endpoint,
    is_stopped: IsStopped<'_>,
) -> io::Result<PageOutcome> {
    let mut load = PageLoad::new(plan, endpoint)?;
    for client in 0..plan.clients {
        load.begin_page(client);
    }
    load.run(is_stopped)?;
    Ok(load.sum_up())
}

struct PageLoad<'a> {
    plan: &'a PagePlan,
    endpoint: &'a Endpoint,
    /// The text of the request for each object.
    requests: Vec<Vec<u8>>,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    clients: Clients,
    /// Requests that failed before they could wait for anything.
    failed: VecDeque<(usize, String)>,
    outcome: PageOutcome,
    begun: Instant,
    cpu_begun: Duration,
    pages_begun: u64,
    pages_open: usize,
    faults_in_a_row: u64,
    is_ending: bool,
    buffer: AlignedBuffer,
}

impl<'a> PageLoad<'a> {
    fn new(plan: &'a PagePlan, endpoint: &'a Endpoint) -> io::Result<Self> {
        let paths = std::iter::once(&plan.page.path).chain(&plan.objects);
        let begun = Instant::now();
        let count = plan.clients * plan.connections;
        Ok(Self {
            plan,
            endpoint,
            requests: paths.map(|path| request_text(plan, path)).collect(),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            connections: std::iter::repeat_with(Connection::default)
                .take(count)
                .collect(),
            clients: Clients::new(plan.clients, plan.objects.len(), begun),
            failed: VecDeque::new(),
            outcome: PageOutcome::default(),
            begun,
            cpu_begun: thread_cpu(),
            pages_begun: 0,
            pages_open: 0,
            faults_in_a_row: 0,
            is_ending: false,
            buffer: AlignedBuffer::zeroed(BUFFER_BYTES)?,
        })
    }

    fn run(&mut self, is_stopped: IsStopped<'_>) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_MAX);
        let slice = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(SLICE.subsec_nanos()),
        };
        let mut looked = Instant::now();
        while self.pages_open > 0 {
            while let Some((connection, cause)) = self.failed.pop_front() {
                self.fail(connection, &cause);
            }
            events.clear();
            let pause = if self.failed.is_empty() {
                slice
            } else {
                Timespec::default()
            };
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&pause)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            for event in &events {
                self.on_event(event);
            }
            if looked.elapsed() >= SLICE {
                looked = Instant::now();
                self.time_out(looked);
                if is_stopped() {
                    self.outcome.is_stopped = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn on_event(&mut self, event: &Event) {
        let Ok(index) = usize::try_from(event.data.u64()) else {
            return;
        };
        let flags = event.flags;
        let connection = &mut self.connections[index];
        let Some(task) = connection.task else {
            // The server closed an idle connection. The next request opens a new one.
            connection.close();
            return;
        };
        let request = &self.requests[task.object];
        let mut progress = ResponseProgress::Waiting;
        if connection.wants_to_write(request) {
            let before = connection.awaited(request);
            progress = connection.write(request);
            let awaited = connection.awaited(request);
            if matches!(progress, ResponseProgress::Waiting) && awaited != before {
                self.watch(index, awaited);
            }
        }
        let is_readable = EventFlags::IN | EventFlags::ERR | EventFlags::HUP;
        if matches!(progress, ResponseProgress::Waiting) && flags.intersects(is_readable) {
            progress = self.connections[index].read(self.buffer.as_mut_slice());
        }
        self.on_progress(index, progress);
    }

    fn on_progress(&mut self, index: usize, progress: ResponseProgress) {
        match progress {
            ResponseProgress::Waiting => {}
            ResponseProgress::Done => self.succeed(index),
            ResponseProgress::Stale => self.send_again(index),
            ResponseProgress::Failed(cause) => self.fail(index, &cause),
        }
    }

    /// Requests of a new page, or the page's next ones.
    fn begin_page(&mut self, client: usize) {
        if self.is_over() {
            return;
        }
        let now = Instant::now();
        self.pages_begun += 1;
        self.pages_open += 1;
        let document = self.clients.begin(client, now);
        self.start(client * self.plan.connections, document, now);
    }

    fn is_over(&self) -> bool {
        let is_due = match self.plan.until {
            Until::Pages(count) => self.pages_begun >= count,
            Until::Span(span) => self.begun.elapsed() >= span,
        };
        is_due || self.is_ending
    }

    /// Gives each idle connection of the client a request.
    fn spread(&mut self, client: usize) {
        let first = client * self.plan.connections;
        for index in first..first + self.plan.connections {
            if self.connections[index].task.is_some() {
                continue;
            }
            let Some(object) = self.clients.next_object(client) else {
                return;
            };
            self.start(index, object, Instant::now());
        }
    }

    fn start(&mut self, index: usize, object: usize, started: Instant) {
        self.connections[index].begin(ObjectRequest {
            object,
            started,
            is_resent: false,
        });
        self.send(index);
    }

    fn send(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let Some(task) = connection.task else {
            return;
        };
        if !connection.is_open() {
            if let Err(cause) = connection.open(self.endpoint) {
                self.failed.push_back((index, cause));
                return;
            }
            self.outcome.connects += 1;
            self.register(index);
            return;
        }
        let request = &self.requests[task.object];
        let progress = connection.write(request);
        match progress {
            ResponseProgress::Waiting if connection.wants_to_write(request) => {
                self.watch(index, EventFlags::IN | EventFlags::OUT);
            }
            ResponseProgress::Failed(cause) => self.failed.push_back((index, cause)),
            ResponseProgress::Stale => self.send_again(index),
            ResponseProgress::Waiting | ResponseProgress::Done => {}
        }
    }

    /// Retries once on a new connection, since the server may close a kept one at any time.
    fn send_again(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        connection.close();
        let Some(mut task) = connection.task else {
            return;
        };
        if task.is_resent {
            let cause = "connection closed without an answer, twice".to_owned();
            self.failed.push_back((index, cause));
            return;
        }
        task.is_resent = true;
        self.outcome.resent += 1;
        connection.begin(task);
        self.send(index);
    }

    fn succeed(&mut self, index: usize) {
        let now = Instant::now();
        let connection = &mut self.connections[index];
        let status = connection.response.status;
        let first_byte = connection.first_byte;
        let bytes = connection.response.bytes;
        let body_bytes = connection.response.body_bytes;
        if self.plan.reuse == Reuse::Cold || !connection.response.is_kept {
            connection.close();
        }
        let is_counted = match self.plan.until {
            Until::Span(span) => now.duration_since(self.begun) <= span,
            Until::Pages(_) => true,
        };
        self.outcome.body_bytes += body_bytes;
        if is_counted {
            self.outcome.bytes_counted += bytes;
        }
        let is_good = (200..300).contains(&status);
        let Some(task) = connection.task.take() else {
            return;
        };
        if is_good {
            self.faults_in_a_row = 0;
            self.outcome.requests += 1;
            self.outcome.requests_counted += u64::from(is_counted);
            let time = nanos(now.duration_since(task.started));
            self.outcome.request_times.record(time);
            if let Some(came) = first_byte {
                let time = nanos(came.duration_since(task.started));
                self.outcome.first_byte_times.record(time);
            }
        } else {
            self.count_fault(&format!("status {status}"));
        }
        self.finish(index, task, is_good, now);
    }

    fn fail(&mut self, index: usize, cause: &str) {
        let connection = &mut self.connections[index];
        connection.close();
        let Some(task) = connection.task.take() else {
            return;
        };
        self.count_fault(cause);
        self.finish(index, task, false, Instant::now());
    }

    fn count_fault(&mut self, cause: &str) {
        self.outcome.faults.count(cause);
        self.faults_in_a_row += 1;
        self.is_ending |= self.faults_in_a_row >= FAULTS_IN_A_ROW_MAX;
    }

    fn finish(&mut self, index: usize, task: ObjectRequest, is_good: bool, now: Instant) {
        let client = index / self.plan.connections;
        match self.clients.finish(client, task.object, is_good) {
            Some(end) => {
                self.end_page(end, now);
                self.begin_page(client);
            }
            None => self.spread(client),
        }
    }

    fn end_page(&mut self, end: PageEnd, now: Instant) {
        self.pages_open -= 1;
        if end.is_broken {
            self.outcome.pages_broken += 1;
        } else {
            self.outcome.pages += 1;
            let time = nanos(now.duration_since(end.begun));
            self.outcome.page_times.record(time);
        }
    }

    fn time_out(&mut self, now: Instant) {
        let timeout = self.plan.timeout;
        let is_late = |it: &Connection| {
            let started = it.task.map(|task| task.started);
            started.is_some_and(|started| now.duration_since(started) >= timeout)
        };
        let late = |index: &usize| is_late(&self.connections[*index]);
        let late: Vec<usize> = (0..self.connections.len()).filter(late).collect();
        for index in late {
            self.fail(index, &format!("no whole answer within {timeout:?}"));
        }
    }

    /// A new connection is polled for writing first.
    fn register(&mut self, index: usize) {
        let Some(socket) = self.connections[index].socket() else {
            return;
        };
        let data = EventData::new_u64(index as u64);
        let flags = EventFlags::IN | EventFlags::OUT;
        if let Err(errno) = epoll::add(&self.epoll, socket, data, flags) {
            self.failed.push_back((index, format!("wait: {errno}")));
        }
    }

    fn watch(&mut self, index: usize, flags: EventFlags) {
        let Some(socket) = self.connections[index].socket() else {
            return;
        };
        let data = EventData::new_u64(index as u64);
        if let Err(errno) = epoll::modify(&self.epoll, socket, data, flags) {
            self.failed.push_back((index, format!("wait: {errno}")));
        }
    }

    fn sum_up(mut self) -> PageOutcome {
        let elapsed = self.begun.elapsed();
        self.outcome.elapsed = elapsed;
        self.outcome.counted = match self.plan.until {
            Until::Span(span) => span.min(elapsed),
            Until::Pages(_) => elapsed,
        };
        self.outcome.client_cpu = thread_cpu().saturating_sub(self.cpu_begun);
        self.outcome
    }
}

fn request_text(plan: &PagePlan, path: &str) -> Vec<u8> {
    let connection = match plan.reuse {
        Reuse::Cold => "close",
        Reuse::Kept => "keep-alive",
    };
    let host = plan.page.authority();
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: {connection}\r\n\r\n").into_bytes()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
