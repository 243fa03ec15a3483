//! Whole tests with scripted messages.

use super::*;
use crate::rpt::shipped;

/// The shipped files, with some lines of the test file replaced.
fn plan(invoked: &str, extra: &str) -> TestPlan {
    let text = format!(
        "TestFile=t.rpt\nParmFile=rpt.rpp\nReptFile=t.rpr\nDnmin=2\nDnmax=4\n{extra}\nParmFile\n\
         {invoked}\n"
    );
    let mut include = |name: &str| {
        shipped::text_of(name)
            .map(str::to_owned)
            .ok_or_else(String::new)
    };
    let (plan, faults) = TestPlan::read("t.rpt", &text, &Vec::new(), &mut include);
    plan.unwrap_or_else(|| panic!("{faults:?}"))
}

struct SessionHarness {
    session: RptSession,
    at: f64,
    log: Vec<String>,
    report: Vec<LogEntry>,
    active: u32,
}

impl SessionHarness {
    fn new(invoked: &str, extra: &str) -> Self {
        Self {
            session: RptSession::new(plan(invoked, extra)),
            at: 0.0,
            log: Vec::new(),
            report: Vec::new(),
            active: 0,
        }
    }

    fn hear(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Start(thread) => {
                    assert_eq!(thread, self.active, "threads start in order");
                    self.active += 1;
                }
                Act::Stop(thread) => {
                    self.active -= 1;
                    assert_eq!(thread, self.active, "the last thread stops first");
                }
                Act::Log(entry) => self.log.push(entry.render()),
                Act::Report(entry) => self.report.push(entry),
                Act::Begin { .. } | Act::Finished => {}
            }
        }
    }

    fn command(&mut self, command: LiveCommand) {
        let acts = self.session.command(command, self.at);
        self.hear(acts);
    }

    fn message(&mut self) {
        self.at += 1.0;
        let each = 0.02 * f64::from(self.active);
        let message = ThreadMessage::of(
            self.at as u32 % self.active.max(1),
            &Sums {
                nios: 100.0,
                kbytes: 400.0,
                xfer: 100.0 * each,
                xfer_sq: 100.0 * each * each,
                total: f64::from(self.active),
                total_sq: f64::from(self.active).powi(2),
                ..Sums::default()
            },
        );
        let acts = self.session.take(&message, self.at);
        self.hear(acts);
    }

    fn finish(&mut self) {
        for _ in 0..10_000 {
            if self.session.state() == SessionState::Finished {
                return;
            }
            self.message();
        }
        panic!("no end");
    }

    fn reported(&self) -> String {
        let words = self.report.iter().filter_map(|entry| match entry {
            LogEntry::Results(block) => Some(format!("{}.{}", block.run, block.name)),
            LogEntry::Average { count, .. } => Some(format!("average{count}")),
            LogEntry::Warning { .. } => None,
            other => panic!("{other:?} in a report"),
        });
        words.collect::<Vec<_>>().join(" ").replace("Workload", "")
    }
}

#[test]
fn groups_have_averages_at_their_ends() {
    let mut bench = SessionHarness::new(
        "TransactionWorkload\nDatabaseWorkload\nBatchWorkload\nArchiveWorkload\n",
        "Nruns=2",
    );
    bench.command(LiveCommand::StartStop);
    bench.finish();
    let run = "1.Transaction 1.Database average2 1.Batch 1.Archive average2";
    assert_eq!(
        bench.reported(),
        format!("{run} {}", run.replace("1.", "2."))
    );
    assert_eq!(bench.active, 0);
    let first = bench.session.results[0].as_ref().expect("results");
    assert_eq!((first.run, first.rows.len()), (2, 4));
}

#[test]
fn doubts_and_modes_stand_in_the_report_and_at_the_average() {
    let mut bench = SessionHarness::new("BatchWorkload\nArchiveWorkload\n", "");
    bench.command(LiveCommand::StartStop);
    while bench.report.len() < 2 {
        bench.message();
    }
    bench.command(LiveCommand::NextMode);
    while bench
        .report
        .iter()
        .all(|it| !matches!(it, LogEntry::Average { .. }))
    {
        bench.message();
    }
    let report: Vec<String> = bench.report.iter().map(LogEntry::render).collect();
    // Ten messages of five threads without lockstep, where each I/O supposedly takes as long as
    // two.
    assert!(
        report[0].starts_with("Run 1 Workload 0 Threads 5 Warning:"),
        "{report:#?}"
    );
    let average = report
        .iter()
        .find(|text| text.starts_with("Average"))
        .expect("an average");
    let (_, remark) = average.split_once('\n').expect("a remark");
    assert_eq!(
        remark,
        "(modes Normal, Continuous; 2 of 2 in doubt, see the warnings)\n"
    );
    let log = crate::rpt::RptLog::read(&bench.log.join("\n")).expect("a log");
    assert_eq!(
        log.strange,
        [] as [usize; 0],
        "what rpt writes, the importer reads"
    );
}

#[test]
fn a_workload_alone_has_no_average() {
    let mut bench =
        SessionHarness::new("TransactionWorkload\nBatchWorkload\nDatabaseWorkload\n", "");
    bench.command(LiveCommand::StartStop);
    bench.finish();
    assert_eq!(bench.reported(), "1.Transaction 1.Batch 1.Database");
}

#[test]
fn modes_other_than_normal_run_on_and_stamp_the_results() {
    let mut bench = SessionHarness::new("ArchiveWorkload\n", "Mode=3");
    assert_eq!(bench.session.mode, Mode::Rebuild);
    bench.command(LiveCommand::StartStop);
    for _ in 0..100 {
        bench.message();
    }
    assert!(bench.session.position().0 > 5);
    bench.command(LiveCommand::NextMode);
    bench.command(LiveCommand::NextMode);
    assert_eq!(bench.session.mode, Mode::Normal);
    bench.finish();
    assert!(
        bench
            .log
            .iter()
            .any(|line| line.contains("Mode   Rebuild "))
    );
    assert!(bench.log.iter().any(|line| line.contains("Mode   Normal ")));
}

#[test]
fn an_operator_can_stop_restart_skip_and_quit() {
    let mut bench = SessionHarness::new("TransactionWorkload\nArchiveWorkload\n", "");
    assert_eq!(bench.session.state(), SessionState::Stopped);
    bench.message();
    assert!(bench.log.is_empty(), "nothing is measured before the start");
    bench.command(LiveCommand::StartStop);
    while bench.active < 2 {
        bench.message();
    }
    bench.command(LiveCommand::StartStop);
    assert_eq!(
        (bench.active, bench.session.state()),
        (0, SessionState::Stopped)
    );
    bench.command(LiveCommand::StartStop);
    assert_eq!(
        (bench.active, bench.session.state()),
        (2, SessionState::Execute)
    );
    bench.command(LiveCommand::Restart);
    assert_eq!((bench.active, bench.session.position()), (1, (1, 0)));
    bench.command(LiveCommand::NextWorkload);
    assert_eq!((bench.active, bench.session.position()), (1, (1, 1)));
    bench.command(LiveCommand::NextWorkload);
    assert_eq!(bench.session.position(), (1, 0));
    bench.command(LiveCommand::StartStop);
    bench.command(LiveCommand::Restart);
    assert_eq!(bench.active, 0, "a restart while stopped starts nothing");
    bench.command(LiveCommand::StartStop);
    assert_eq!(bench.active, 1);
    bench.command(LiveCommand::NextVerbosity);
    bench.command(LiveCommand::NextVerbosity);
    assert_eq!(bench.session.verbose(), 2);
    bench.message();
    assert!(
        bench
            .log
            .last()
            .is_some_and(|line| line.starts_with("\t#00:  400 100  "))
    );
    bench.command(LiveCommand::NextMode);
    bench.command(LiveCommand::Quit);
    assert_eq!(
        (bench.active, bench.session.state()),
        (0, SessionState::Finished)
    );
    let events = bench
        .log
        .iter()
        .filter_map(|line| line.split_once("operator:  "));
    let events: Vec<&str> = events.map(|(_, text)| text).collect();
    let expected = [
        "started",
        "stopped",
        "started",
        "workload 0 begins again",
        "workload 1 is next",
        "workload 0 is next",
        "stopped",
        "workload 0 begins again",
        "started",
        "mode Continuous",
        "end",
    ];
    assert_eq!(events, expected);
    bench.command(LiveCommand::StartStop);
    assert_eq!(bench.active, 0);
}

#[test]
fn the_shipped_files_are_the_manuals_seven_workloads() {
    for name in ["rpt.rpt", "rptq.rpt"] {
        let text = shipped::text_of(name).expect("a shipped file");
        let mut include = |name: &str| {
            shipped::text_of(name)
                .map(str::to_owned)
                .ok_or_else(String::new)
        };
        let (plan, faults) = TestPlan::read(name, text, &Vec::new(), &mut include);
        assert_eq!((faults.errors, faults.warnings), (vec![], vec![]));
        let plan = plan.expect("a valid test");
        assert_eq!(plan.run_and_log().1, name.replace(".rpt", ".rpl"));
        let found: Vec<(u32, usize, u32)> = plan
            .workloads
            .iter()
            .map(|workload| {
                let kinds = &workload.types;
                (workload.nthreads, kinds.len(), kinds[0].ios_per_message)
            })
            .collect();
        let expected = [
            (0, 1, 100),
            (0, 3, 100),
            (0, 1, 100),
            (5, 1, 80),
            (5, 2, 5),
            (1, 1, 160),
            (2, 2, 5),
        ];
        assert_eq!(found, expected);
        let expected = "transact -f /data/raidtest.dat -a 1 -b 4096 -c 3 -C 50 -n 100 -r 2 -w 1 \
                        -S 2 -s 0.5 -T 2 -t 20.000000";
        assert_eq!(plan.workloads[0].command_line(3), expected);
        let expected = "transact -f /data/raidtest.dat -a 0 -b 65536 -c 4 -C 5 -n 80 -r 4 -w 1 \
                        -S 0 -s 1 -T 0 -t 20.000000";
        assert_eq!(plan.workloads[3].command_line(4), expected);
        let multiuser = &plan.workloads[1];
        let sizes: Vec<u32> = (0..9)
            .map(|number| multiuser.types[multiuser.type_of(number)].io_size >> 10)
            .collect();
        assert_eq!(sizes, [4, 4, 4, 8, 8, 8, 64, 64, 4]);
        assert!(multiuser.check_size(1 << 20).is_err() && multiuser.check_size(1 << 30).is_ok());
    }
}

#[test]
fn wrong_plans_are_refused_with_their_places() {
    let check = |extra: &str, switch: Option<(&'static str, &str)>, expected: &str| {
        let text = format!(
            "TestFile=t.rpt\nReptFile=t.rpr\nParmFile=rpt.rpp\n{extra}\nParmFile\nBatchWorkload\n"
        );
        let typed = switch
            .map(|(flag, value)| (flag, value.to_owned()))
            .into_iter()
            .collect();
        let mut include = |name: &str| {
            shipped::text_of(name)
                .map(str::to_owned)
                .ok_or_else(String::new)
        };
        let (plan, faults) = TestPlan::read("t.rpt", &text, &typed, &mut include);
        let found = crate::rpt::listed(&faults.errors);
        assert!(
            plan.is_none() && found.contains(expected),
            "{extra}: {found}"
        );
    };
    check(
        "Rsmax=ten",
        None,
        "t.rpt:4: Rsmax \"ten\" is not the number",
    );
    check(
        "Rsmin=60",
        None,
        "Rsmax is 50 ms, and must be more than Rsmin",
    );
    check(
        "Dnmax=4",
        None,
        "t.rpt:4: Dnmax is 4, and must be Dnmin or more",
    );
    check("Dlmax=3", None, "Dlmax is 3, and must be above 0");
    check("Nruns=0", None, "Nruns is 0");
    check("ReptFile=x.rpl", None, "must be another one");
    check(
        "ReptFile=t.rpt",
        None,
        "\"t.rpt\" would be written, and is read",
    );
    check("", Some(("-m", "7")), "-m: is 7, and must be 0 to 4");
    check(
        "[XWorkload]\nNThreads=1\nNoThread\n\nXWorkload",
        None,
        "there is no thread \"NoThread\"",
    );
    check(
        "[XWorkload]\n\nXWorkload",
        None,
        "a workload without threads",
    );
}

/// Bug: an empty file was also reported to overwrite a file without a name.
#[test]
fn an_empty_test_file_lacks_a_report_and_workloads_and_nothing_else() {
    let mut include = |_: &str| Err(String::new());
    let (plan, faults) = TestPlan::read("t.rpt", "", &Vec::new(), &mut include);
    let found = crate::rpt::listed(&faults.errors);
    assert!(
        plan.is_none() && found.contains("defines no ReptFile"),
        "{found}"
    );
    assert!(!found.contains("would be written"), "{found}");
}
