//! Answers to each option of a job file, before any I/O.

use crate::fault::JobFilePosition;
use crate::job::Job;
use crate::number::KbBase;
use crate::option::OptionSupport;
use crate::reader::{Given, JobFile};
use crate::resolve::{is_off, set};

/// An option as given, with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Its place.
    pub place: JobFilePosition,
    /// The option with its value.
    pub text: String,
    /// "done", "no effect", "refused" or "mistake".
    pub answer: &'static str,
    /// The reason or details; may be empty.
    pub why: String,
}

/// Answers to all options of a file, in its order.
pub fn answers(file: &JobFile) -> Vec<Answered> {
    let answered = file.sections.iter().flat_map(|section| {
        let is_lost = |it: &&Given| section.is_global && it.option.name == "name";
        let given = section.given.iter();
        given.map(move |it| match is_lost(&it) {
            false => answer(it),
            true => Answered {
                answer: "no effect",
                why: "as in fio, jobs are named after their sections".into(),
                ..answer(it)
            },
        })
    });
    answered.collect()
}

fn answer(given: &Given) -> Answered {
    let name = given.option.name;
    let text = match &given.value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    };
    let mut scratch = Job::new("", &given.place);
    let (answer, why) = match given.option.answer {
        OptionSupport::Refused(_) | OptionSupport::OfEngine(_) if is_off(given) => {
            ("no effect", "it is off by default".to_owned())
        }
        OptionSupport::NoEffect(why) => {
            match given.option.value.check(given.value.as_deref(), KB) {
                Ok(()) => ("no effect", why.to_owned()),
                Err(why) => ("mistake", why),
            }
        }
        OptionSupport::Done(note) => match set(&mut scratch, given, KB) {
            Ok(()) => ("done", note.to_owned()),
            Err(why) if why.contains("not supported") => ("refused", short(&why, &text)),
            Err(why) => ("mistake", short(&why, &text)),
        },
        OptionSupport::Refused(why) => ("refused", why.to_owned()),
        OptionSupport::OfEngine(engine) => (
            "refused",
            format!("it belongs to the engine {engine}, which is not supported"),
        ),
    };
    Answered {
        place: given.place.clone(),
        text,
        answer,
        why,
    }
}

const KB: KbBase = KbBase::Binary;

fn short(why: &str, text: &str) -> String {
    let behind = why
        .strip_prefix(text)
        .and_then(|why| why.strip_prefix(": "));
    behind.unwrap_or(why).to_owned()
}
