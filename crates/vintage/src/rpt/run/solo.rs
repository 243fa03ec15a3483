//! Runs `transact` alone: a single control thread and its messages.

use crate::rpt::{ThreadMessage, Transact};
use sys::MonotonicClock;
use units::Instant;
use workload::check_threads;

use host::interrupt::Interrupt;

use super::data_file::{DataAccess, DataRequest, Filling, open_data};
use super::messages::{Detail, IoDetail, ThreadReport};
use super::rig::{Failure, Rig, RigOptions};
use super::test_run::{all_of, common_unit};
use crate::run::{ClassicError, go_on};

/// One control thread.
#[derive(Clone, Debug)]
pub struct SoloRequest {
    /// Its switches.
    pub transact: Transact,
    /// Number of messages after which it ends.
    pub messages: Option<u64>,
    /// Whether each I/O is reported.
    pub detail: Detail,
    pub access: DataAccess,
}

/// Reports of a control thread.
pub enum SoloReport<'a> {
    /// A note, as a sentence.
    Note(&'a str),
    Message(&'a ThreadMessage),
    /// One I/O, with the seconds since its start.
    Io(f64, &'a IoDetail),
}

/// Runs one control thread until it has reported enough, or a signal arrives.
///
/// # Errors
///
/// If the data file cannot be used, an I/O fails, a signal arrives, or `hear` fails.
pub fn run_solo(
    request: &SoloRequest,
    interrupt: &Interrupt,
    filling: Filling<'_>,
    hear: &mut dyn FnMut(&SoloReport<'_>) -> Result<(), ClassicError>,
) -> Result<(), ClassicError> {
    let transact = &request.transact;
    let parameters = transact
        .parameters("transact", 1)
        .map_err(ClassicError::Usage)?;
    let check = |bytes| {
        check_threads(std::slice::from_ref(&parameters), bytes).map_err(|errors| all_of(&errors))
    };
    let types = check(None).map_err(ClassicError::Usage)?;
    let wanted = DataRequest {
        name: transact.data_file.as_str().into(),
        size: transact.data_size,
        writes: types[0].writes > 0,
        access: &request.access,
        unit: common_unit(1 << 30, &types[0]),
    };
    let data = open_data(
        &wanted,
        &|bytes| check(Some(bytes)).map(drop),
        interrupt,
        filling,
    )?;
    let options = RigOptions {
        threads_max: 1,
        io_bytes: types[0].io_size,
        seed: request.access.seed,
        driver: request.access.driver,
        detail: request.detail,
    };
    let mut rig = Rig::open(&data, MonotonicClock::start(), Instant::START, &options)?;
    for note in data.notes.iter().chain(&rig.notes) {
        hear(&SoloReport::Note(note))?;
    }
    rig.set_types(&types);
    let begun = rig.now();
    rig.start(transact.control_thread as u32)?;
    let talked = talk(request, &mut rig, begun, interrupt, hear);
    rig.close()?;
    talked
}

fn talk(
    request: &SoloRequest,
    rig: &mut Rig,
    begun: Instant,
    interrupt: &Interrupt,
    hear: &mut dyn FnMut(&SoloReport<'_>) -> Result<(), ClassicError>,
) -> Result<(), ClassicError> {
    let mut messages = 0;
    loop {
        go_on(interrupt, "the messages so far are above")?;
        for posted in rig.run_slice()? {
            match posted.report {
                ThreadReport::Message(message) => {
                    messages += 1;
                    hear(&SoloReport::Message(&message))?;
                }
                ThreadReport::Io(detail) => {
                    let at = posted.at.since(begun).as_secs_f64();
                    hear(&SoloReport::Io(at, &detail))?;
                }
                report => {
                    let thread = request.transact.control_thread as u32;
                    return Err(rig.failure(&Failure { thread, report }));
                }
            }
            let is_enough = request.messages.is_some_and(|most| messages >= most);
            if is_enough {
                return Ok(());
            }
        }
    }
}
