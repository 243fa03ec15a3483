//! `seekstone diskmbps`: the disk data transfer rate test of 1997.

use std::io::BufRead;
use std::path::Path;

use anyhow::Context as _;
use host::interrupt::{Interrupt, Wait};
use lab::left_over::data_files;
use vintage::diskmbps::{DiskmbpsArguments, DiskmbpsWork, LogHeading, passes_of, size_of, typed};
use vintage::run::{DiskMbps, JobStart, ProgramRun, run_diskmbps};

use crate::args::DiskMbpsArgs;
use crate::commands::vintage::rpt::in_words;
use crate::exit::{Exit, UsageError};
use crate::output;

/// The letter of a job whose user was asked for everything.
const LETTER_ASKED: char = 'Z';
/// The longest name of a server or client that is kept.
const NAME_MAX: usize = 40;

/// Run the test.
///
/// # Errors
/// When it is asked for wrongly, a file cannot be used, or a signal comes.
pub fn diskmbps(args: &DiskMbpsArgs) -> anyhow::Result<Exit> {
    let is_asked = args.words.is_empty();
    let mut job = if is_asked {
        asked()?
    } else {
        let arguments = typed(&args.words).map_err(UsageError)?;
        let start = JobStart::now(arguments.letter);
        show_begin(&start);
        DiskMbps::new(arguments, start)
    };
    job.reserve = args.reserve.map(|bytes| bytes.as_u64());
    job.keep = args.keep;
    if job.keep && !job.makes_file() {
        refuse!("--keep means nothing here: no data file is written");
    }
    // Not before: Ctrl-C at a question must end the program.
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    if !args.quiet {
        name_left_over(&job.arguments);
    }
    let mut screen = |line: &str| {
        let _ = output::print(line);
    };
    run_diskmbps(&job, &mut ProgramRun::new(&interrupt, &mut screen)).map_err(in_words)?;
    if is_asked {
        Wait::begin().to_the_end();
        output::print("Press the Enter key to end")?;
        let _ = std::io::stdin().lock().read_line(&mut String::new());
    }
    Ok(Exit::Done)
}

fn show_begin(start: &JobStart) {
    let _ = output::print(&LogHeading::on_screen(&start.timestamp));
}

/// Ask for names, size and passes.
fn asked() -> anyhow::Result<DiskMbps> {
    let start = JobStart::now(LETTER_ASKED);
    show_begin(&start);
    let mut stdin = std::io::stdin().lock();
    let job = &start.name;
    let server = answer(&mut stdin, &format!("{job} Enter server computer name:"))?;
    let client = answer(&mut stdin, &format!("{job} Enter client computer name:"))?;
    let size = answer(&mut stdin, "\nFile Size - Enter number of 1048576 repeats")?;
    let megabytes = size_of(&size).map_err(UsageError)?;
    let work = if megabytes == 0 {
        let file = answer(&mut stdin, "Enter path of the file to read")?;
        DiskmbpsWork::Read { file }
    } else {
        DiskmbpsWork::Write {
            megabytes,
            directory: None,
        }
    };
    let passes = answer(&mut stdin, "Enter number of read passes")?;
    let passes = passes_of(&passes).map_err(UsageError)?;
    let arguments = DiskmbpsArguments {
        work,
        passes,
        letter: LETTER_ASKED,
    };
    Ok(DiskMbps {
        names: Some((name_of(&server), name_of(&client))),
        ..DiskMbps::new(arguments, start)
    })
}

fn answer(stdin: &mut impl BufRead, question: &str) -> anyhow::Result<String> {
    output::print(question)?;
    let mut line = String::new();
    let count = stdin
        .read_line(&mut line)
        .context("cannot read standard input")?;
    if count == 0 {
        refuse!(
            "the questions were not answered: say MB PASSES [X [PATH]] on the command line, such \
             as 40 6"
        );
    }
    Ok(line.trim().to_owned())
}

/// A name as one word, so that the log can be read back.
fn name_of(text: &str) -> String {
    let safe = |character: char| {
        if character.is_alphanumeric() || matches!(character, '-' | '_' | '.') {
            character
        } else {
            '-'
        }
    };
    let name: String = text.chars().take(NAME_MAX).map(safe).collect();
    if name.is_empty() { "-".into() } else { name }
}

fn name_left_over(arguments: &DiskmbpsArguments) {
    let DiskmbpsWork::Write { directory, .. } = &arguments.work else {
        return;
    };
    let directory = Path::new(directory.as_deref().unwrap_or("."));
    for left in data_files(directory) {
        output::complain(&format!(
            "note: {} was left by a program that was killed: `seekstone clean` in its directory \
             removes it",
            left.path.display()
        ));
    }
}
