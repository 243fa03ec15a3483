//! `seekstone serve`: the archive as pages for a browser.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context as _;
use archive::{Archive, ArchiveError};
use host::interrupt::Interrupt;
use report::ListRow;
use results::Run;
use web::{ClientPatience, WebAnswer, WebServer};

use crate::args::ServeArgs;
use crate::commands::setup::archive_path;
use crate::exit::Exit;
use crate::output;

/// What is drawn of the runs of each target.
const P99: &str = "latency-p99";
/// How often a signal is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// More runs than this are no list for a page: `runs list` has the rest.
const RUNS_LISTED: usize = 1_000;

/// Serve the archive until a signal comes.
///
/// # Errors
/// When there is no archive, or the address cannot be had.
pub fn serve(args: &ServeArgs) -> anyhow::Result<Exit> {
    let path = archive_path(args.archive.as_ref())?;
    // Said now rather than on a page.
    Archive::open_existing(&path)?;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let pages = move |asked: &str, query: &str| answer(&path, asked, query);
    let server = WebServer::start(
        args.listen,
        Arc::new(pages),
        None,
        ClientPatience::default(),
    )?;
    output::complain(&format!("serving {} until Ctrl-C", server.url()));
    while interrupt.is_raised().is_none() {
        sleep(LOOK_EVERY);
    }
    server.stop();
    Ok(Exit::Done)
}

/// What a request is answered with. The archive is opened anew for each: a run that was saved
/// meanwhile is there.
fn answer(path: &Path, asked: &str, query: &str) -> WebAnswer {
    let found = Archive::open_existing(path)
        .map_err(|error| WebAnswer::Missing(error.to_string()))
        .and_then(|archive| page(&archive, asked, query));
    found.unwrap_or_else(|refused| refused)
}

fn page(archive: &Archive, asked: &str, query: &str) -> Result<WebAnswer, WebAnswer> {
    let parts: Vec<&str> = asked.split('/').collect();
    match parts.as_slice() {
        [""] => {
            let (rows, p99) = (listed(archive)?, archive.values_of(P99).map_err(refused)?);
            let page = report::archive_html(&rows, &p99, &shown(archive));
            Ok(WebAnswer::Page(page))
        }
        ["runs.json"] => listed(archive).map(|rows| WebAnswer::Json(report::run_list_json(&rows))),
        ["run", id] => match id.strip_suffix(".json") {
            Some(id) => loaded(archive, id).map(|run| WebAnswer::Json(results::json(&run))),
            None => loaded(archive, id).map(|run| WebAnswer::Page(report::html(&run))),
        },
        ["compare"] => compared(archive, query).map(WebAnswer::Page),
        _ => Err(WebAnswer::Missing(format!("there is no page {asked}"))),
    }
}

fn shown(archive: &Archive) -> String {
    PathBuf::from(archive.path()).display().to_string()
}

fn listed(archive: &Archive) -> Result<Vec<ListRow>, WebAnswer> {
    archive.list(RUNS_LISTED).map_err(refused)
}

fn loaded(archive: &Archive, id: &str) -> Result<Run, WebAnswer> {
    let id = id
        .parse()
        .map_err(|_| WebAnswer::Mistake(format!("{id} is not a run number")))?;
    archive.load(id).map_err(refused)
}

fn refused(error: ArchiveError) -> WebAnswer {
    WebAnswer::Missing(anyhow::Error::from(error).to_string())
}

/// Runs compared with the oldest of them, whatever the order of the list.
fn compared(archive: &Archive, query: &str) -> Result<String, WebAnswer> {
    let ids = report::runs_asked(query);
    let ids = ids.map_err(|why| WebAnswer::MistakePage(report::not_compared_html(&[], &why)))?;
    let runs = ids.into_iter().map(|id| archive.load(id).map_err(refused));
    let runs = runs.collect::<Result<Vec<Run>, WebAnswer>>()?;
    report::comparison_html(&runs).map_err(|error| {
        WebAnswer::MistakePage(report::not_compared_html(&runs, &error.to_string()))
    })
}
