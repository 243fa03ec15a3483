//! Every reader of text or bytes from outside, by name.

mod archive;
mod arguments;
mod backup_stream;
mod blktrace;
mod block_events;
mod content;
mod device;
mod diskmbps_log;
mod diskrand_log;
mod fio_jobs;
mod ftp;
mod histogram;
mod http;
mod iolog;
mod journal;
mod kernel_tables;
mod left_behind;
mod page_query;
mod profiles;
mod recording;
mod request_head;
mod rpt;
mod rpt_log;
mod run_journal;
mod run_json;
mod sim_spec;
mod state;
mod study;
mod system_facts;
mod system_text;
mod trace_csv;
mod units;
mod watch_window;
mod wire;
mod workload;
mod workload_file;

/// A reader: it must end in a value or an error, whatever it is given.
pub type Reader = fn(&[u8]);

/// All of them; the program `readers` runs the one that the variable READER names.
pub const READERS: &[(&str, Reader)] = &[
    ("archive", archive::read),
    ("arguments", arguments::read),
    ("backup_stream", backup_stream::read),
    ("blktrace", blktrace::read),
    ("block_events", block_events::read),
    ("content", content::read),
    ("device", device::read),
    ("diskmbps_log", diskmbps_log::read),
    ("diskrand_log", diskrand_log::read),
    ("fio_jobs", fio_jobs::read),
    ("ftp", ftp::read),
    ("histogram", histogram::read),
    ("http", http::read),
    ("iolog", iolog::read),
    ("journal", journal::read),
    ("kernel_tables", kernel_tables::read),
    ("left_behind", left_behind::read),
    ("page_query", page_query::read),
    ("profiles", profiles::read),
    ("recording", recording::read),
    ("request_head", request_head::read),
    ("rpt", rpt::read),
    ("rpt_log", rpt_log::read),
    ("run_journal", run_journal::read),
    ("run_json", run_json::read),
    ("sim_spec", sim_spec::read),
    ("state", state::read),
    ("study", study::read),
    ("system_facts", system_facts::read),
    ("system_text", system_text::read),
    ("trace_csv", trace_csv::read),
    ("units", units::read),
    ("watch_window", watch_window::read),
    ("wire", wire::read),
    ("workload", workload::read),
    ("workload_file", workload_file::read),
];
