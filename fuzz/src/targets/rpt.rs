//! Test and parameter files of `rpt`: what is accepted is a test that ends after enough messages.

use results::live::LiveCommand;
use vintage::rpt::{
    LISTED_MAX, RptSession, SessionState, Sums, TestPlan, ThreadMessage, listed, text_of,
};

pub fn read(bytes: &[u8]) {
    let Ok(text) = text_of(bytes) else {
        return;
    };
    let pieces = super::super::kit::pieces(text);
    let mut include = |_: &str| Ok(pieces.get(1).copied().unwrap_or_default().to_owned());
    let (plan, faults) = TestPlan::read("fuzz.rpt", pieces[0], &Vec::new(), &mut include);
    assert_eq!(plan.is_none(), !faults.errors.is_empty());
    assert!(listed(&faults.errors).lines().count() <= LISTED_MAX + 1);
    let Some(plan) = plan else {
        return;
    };
    for workload in &plan.workloads {
        let _ = workload.check_size(1 << 30);
        let _ = (workload.is_batch(), workload.command_line(0));
    }
    let _ = (plan.definitions(), plan.run_and_log());
    let mut session = RptSession::new(plan);
    session.command(LiveCommand::StartStop, 0.0);
    for number in 0..200 {
        if session.state() == SessionState::Finished || session.threads() == 0 {
            return;
        }
        let thread = number % session.threads();
        let sums = Sums {
            kbytes: 4.0,
            nios: 100.0,
            xfer: 1.0,
            total: 1.0,
            xfer_sq: 0.01,
            ..Sums::default()
        };
        let message = ThreadMessage::of(thread, &sums);
        session.take(&message, f64::from(number));
    }
}
