//! fio's job files and command line: grammar, the answer to each option, the resulting jobs.
//!
//! Follows the documented behaviour of fio 3.33 to 3.42 (HOWTO.rst, `--cmdhelp`, `--showcmd`);
//! where fio accepts a mistake as a number, this parser refuses it. Opens no file itself: texts,
//! variables and facts about the machine come through [`Surroundings`]. Knows nothing about how a
//! job is run.

mod answers;
mod arithmetic;
mod blocks;
mod buffers;
mod command_line;
mod conflict;
mod engines;
mod fault;
mod job;
mod lint;
mod logs;
mod number;
mod option;
pub mod output;
mod pattern;
mod priority;
mod program;
mod reader;
mod resolve;
mod show;
mod steady;
mod table;
mod table_engines;
mod verify;
mod write;
mod zones;

pub use answers::{Answered, answers};
pub use blocks::{BlockSizes, SizeShare};
pub use buffers::Buffers;
pub use command_line::{completed, nearly, read_command_line};
pub use engines::{EngineKind, FileCall, FioEngine};
pub use fault::{Fault, JobFilePosition};
pub use job::{
    Amount, EachWrite, FileHint, FileOrder, Job, JobFiles, JobFlow, JobLimits, Least,
    PercentilesOf, RangeSteps, RateLimit, RateLimits, ReplayedLog, ReportedDirections, Reports,
    Syncs, Think, Zones,
};
pub use lint::{Lint, MachineFacts, lints};
pub use logs::{JobLog, JobLogFile, JobLogs, LogKind, LoggedOp, TakeLine, WindowValue, log_files};
pub use number::period;
pub use option::{FioOption, OptionSupport, ValueKind, find_option, options};
pub use pattern::{Direction, Directions, Distribution, RwPattern};
pub use priority::{DirectionPriority, JobPriorities, PrioritySplit};
pub use program::{PROGRAM_OPTIONS, ProgramAnswer, ProgramOption, Takes, find_program_option};
pub use reader::{Given, JobFile, JobSection, Surroundings, read_job_file};
pub use resolve::{Resolved, resolve, unknown_sections};
pub use show::show_command;
pub use steady::{
    SteadyCriterion, SteadyFigure, SteadyReport, SteadyState, SteadyTotals, SteadyWatch,
};
pub use verify::Verify;
pub use write::job_file_text;
pub use zones::{ZoneLength, ZoneShare, ZoneShares};
