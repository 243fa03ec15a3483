//! The procedure of 1995 as `seekstone rpt` runs it, on the simulated device.

use host::interrupt::Interrupt;
use results::live::LiveCommand;
use vintage::rpt::log::{Block, LogEntry};
use vintage::rpt::{RptSession, TestPlan, ThreadMessage, shipped};
use vintage::run::{DataAccess, Operator, OutputFiles, TestEnding, TestRequest, run_test};

use super::system::{DEVICE, MESSAGE, THREADS_MAX};
use super::{FoundLevel, Outcome};

/// Run the transaction workload up to `level_max_ms`.
pub fn measure(level_max_ms: u32, seed: u64) -> Outcome {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    let [run, log, report] = ["c.rpe", "c.rpl", "c.rpr"].map(path);
    let request = TestRequest {
        access: DataAccess::with_seed(seed),
        starts: true,
    };
    let mut account = Account::default();
    let files = || OutputFiles::create([&run, &log, &report]);
    let never = Interrupt::never();
    let ended = run_test(plan(level_max_ms), &request, files, &never, &mut account);
    let ended = ended.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(ended, TestEnding::Finished, "seed {seed}");
    account.outcome()
}

fn plan(level_max_ms: u32) -> TestPlan {
    let text = format!(
        "TestFile=c.rpt\nParmFile=rpt.rpp\nReptFile=c.rpr\nDataFile={DEVICE}\n\
         Rsmin=0\nRsmax={level_max_ms}\nDnmin=8\nDnmax=1024\nDlmax=0.03\n\
         ParmFile\nTransactionWorkload\n"
    );
    let mut include =
        |name: &str| shipped::text_of(name).map_or_else(|| Err(name.into()), |it| Ok(it.into()));
    let (plan, faults) = TestPlan::read("c.rpt", &text, &Vec::new(), &mut include);
    let plan = plan.unwrap_or_else(|| panic!("{:?}", faults.errors));
    assert_eq!(plan.rules.threads_max, THREADS_MAX);
    plan
}

/// What an operator sees of a test.
#[derive(Default)]
struct Account {
    messages: u64,
    threads: u32,
    threads_most: u32,
    points: usize,
    /// Threads of the sum before.
    summed: Option<(f64, f64)>,
    found: Option<Block>,
    unconverged: usize,
    elapsed_s: f64,
}

impl Account {
    fn outcome(self) -> Outcome {
        let found = self.found.expect("one thread alone has a result");
        let rows = found.rows.iter().filter(|row| row.level > 0);
        Outcome {
            // Whole messages: what stopped threads had begun is not counted.
            operations: self.messages * MESSAGE,
            seconds: self.elapsed_s,
            points: self.points,
            threads: self.threads_most,
            no_load_ms: found.rows[0].response_ms,
            no_load_interval: None,
            levels: rows
                .map(|row| FoundLevel {
                    ms: row.response_ms,
                    load: Some(row.load),
                    interval: None,
                    range: None,
                    is_precise: true,
                })
                .collect(),
            rabmark: found.rabmark_r,
            rabmark_interval: None,
            unconverged: self.unconverged,
            parts: Vec::new(),
        }
    }
}

impl Operator for Account {
    fn filling(&mut self, _done: u64, _all: u64) {}

    fn note(&mut self, _text: &str) {}

    fn entry(&mut self, entry: &LogEntry, _verbose: u8) {
        match entry {
            LogEntry::Active { .. } => self.threads += 1,
            LogEntry::Inactive { .. } => self.threads -= 1,
            LogEntry::Sum { sums, .. } => {
                // A sum that was not long enough goes on as one of twice as many messages.
                let goes_on = self.summed.is_some_and(|(threads, messages)| {
                    threads == sums.threads && messages * 2.0 == sums.messages
                });
                self.points += usize::from(!goes_on);
                self.summed = Some((sums.threads, sums.messages));
            }
            LogEntry::Warning { text, .. } => {
                self.unconverged += usize::from(!text.contains("was not reached"));
            }
            LogEntry::Results(block) => self.found = Some(block.clone()),
            _ => {}
        }
        self.threads_most = self.threads_most.max(self.threads);
    }

    fn message(&mut self, message: &ThreadMessage, _verbose: u8) {
        assert_eq!(message.sums.nios, MESSAGE as f64);
        self.messages += 1;
    }

    fn look(&mut self, _session: &RptSession, elapsed_s: f64) -> Option<LiveCommand> {
        self.elapsed_s = elapsed_s;
        None
    }

    fn stays(&self) -> bool {
        false
    }
}
