//! docs/reference/fio-options.md holds the answer to every option, as the table of options has it.

use std::fmt::Write as _;
use std::path::Path;

use fio::{OptionSupport, PROGRAM_OPTIONS, ProgramAnswer, options};

const BEGIN: &str = "<!-- options: written by the test `document` of crates/fio -->\n";
const END: &str = "<!-- end of options -->\n";

/// Options that do more exactly what they do in fio.
const BETTER: [&str; 5] = [
    "buffer_compress_percentage",
    "dedupe_percentage",
    "log_avg_msec",
    "rate_process",
    "steadystate",
];

/// How an option that is done compares with fio's.
fn compared(name: &str, note: &str) -> &'static str {
    match note {
        _ if BETTER.contains(&name) => "better",
        "" => "same",
        _ => "differs",
    }
}

/// How many options have each answer.
fn counts() -> String {
    let mut counts = [0; 5];
    for option in options() {
        let at = match option.answer {
            OptionSupport::Done(note) => match compared(option.name, note) {
                "same" => 0,
                "better" => 1,
                _ => 2,
            },
            OptionSupport::NoEffect(_) => 3,
            OptionSupport::Refused(_) | OptionSupport::OfEngine(_) => 4,
        };
        counts[at] += 1;
    }
    let [same, better, differs, none, refused] = counts;
    format!(
        "\nOf {} options {same} do the same as in fio, {better} do it better, and {differs} differ \
         as noted. {none} have no effect, and {refused} are refused.\n",
        counts.iter().sum::<u32>()
    )
}

fn table() -> String {
    let mut text = counts() + "\n| option | answer | why |\n| --- | --- | --- |\n";
    for option in options() {
        let name = match option.alias {
            "" => format!("`{}`", option.name),
            alias => format!("`{}`, `{alias}`", option.name),
        };
        let (answer, why) = match option.answer {
            OptionSupport::Done(note) => (compared(option.name, note), note.to_owned()),
            OptionSupport::NoEffect(why) => ("no effect", why.to_owned()),
            OptionSupport::Refused(why) => ("refused", why.to_owned()),
            OptionSupport::OfEngine(engine) => {
                ("refused", format!("it belongs to the engine {engine}"))
            }
        };
        let _ = writeln!(text, "| {name} | {answer} | {why} |");
    }
    text.push_str(
        "\nOptions of fio's command line, with one dash or two. No job file has them:\n\n\
         | option | answer | why |\n| --- | --- | --- |\n",
    );
    for option in PROGRAM_OPTIONS {
        let (answer, why) = match option.answer {
            ProgramAnswer::Ours => ("done", ""),
            ProgramAnswer::NoEffect(why) => ("no effect", why),
            ProgramAnswer::Refused(why) => ("refused", why),
        };
        let _ = writeln!(text, "| `--{}` | {answer} | {why} |", option.name);
    }
    text.push('\n');
    text
}

/// With `WRITE_DOCUMENTS=1` the table is written and not compared.
#[test]
fn the_document_has_the_answer_to_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/fio-options.md");
    let text = std::fs::read_to_string(&path).expect("docs/reference/fio-options.md");
    let (before, rest) = text.split_once(BEGIN).expect("where the options begin");
    let (found, after) = rest.split_once(END).expect("where they end");
    let expected = table();
    if std::env::var_os("WRITE_DOCUMENTS").is_some() {
        let text = format!("{before}{BEGIN}{expected}{END}{after}");
        std::fs::write(&path, text).expect("docs/reference/fio-options.md can be written");
        return;
    }
    assert_eq!(
        found, expected,
        "WRITE_DOCUMENTS=1 cargo test -p fio document:: writes it"
    );
}
