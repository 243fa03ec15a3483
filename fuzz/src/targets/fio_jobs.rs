//! fio's job files: what is accepted is answered, shown and judged, and nothing panics.

use fio::Surroundings;

/// A file that includes itself, and variables that hold their own names.
struct Around<'a>(&'a str);

impl Surroundings for Around<'_> {
    fn include(&mut self, _: &str, path: &str) -> Result<String, String> {
        match path {
            "self" => Ok(self.0.to_owned()),
            _ => Err("no such file".into()),
        }
    }

    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String> {
        self.include("", path).map(String::into_bytes)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    fn fact(&mut self, _: &str) -> Option<u64> {
        Some(4)
    }
}

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let file = fio::read_job_file("fuzz.fio", text, &mut Around(text));
    let found = fio::resolve(&file, &[]);
    let _ = (fio::answers(&file), fio::show_command(&file.sections, &[]));
    let _ = fio::lints(
        &found.jobs,
        &fio::MachineFacts {
            memory: Some(1 << 30),
        },
    );
    let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let _ = fio::resolve(&fio::read_command_line(&arguments, &mut Around(text)), &[]);
}
