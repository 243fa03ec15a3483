//! mdtest's options.

use units::Duration;

use crate::HpcAnswer::{Differs, Same};
use crate::ior::put;
use crate::option::{HpcOption, read};
use crate::values::{number, posix, seconds, size};

/// An mdtest command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MdtestCommand {
    /// Directory in which directories and files are created.
    pub directory: String,
    /// Files per rank.
    pub items: u64,
    /// Files per directory; 0 if `items` is given instead.
    per_directory: u64,
    /// Levels of directories.
    pub depth: u32,
    /// Subdirectories of each directory above the lowest level.
    pub branching: u32,
    /// Bytes of each file.
    pub bytes: u64,
    read_bytes: Option<u64>,
    pub iterations: u32,
    /// When creating stops.
    pub stonewall: Option<Duration>,
    files_only: bool,
    leaves_only: bool,
    /// Whether each rank has its own directory.
    pub has_own_directories: bool,
    /// The phases.
    pub creates: bool,
    pub stats: bool,
    pub reads: bool,
    pub removes: bool,
    /// Whether a rank stats what another one created.
    pub reorders: bool,
    /// Whether every byte read is compared, rather than the first 512 of each call.
    pub compares: bool,
    /// Whether files are synced.
    pub syncs: bool,
    /// Whether rates and times are shown.
    pub shows_rates: bool,
    pub shows_times: bool,
}

impl Default for MdtestCommand {
    fn default() -> Self {
        Self {
            directory: ".".into(),
            items: 0,
            per_directory: 0,
            depth: 0,
            branching: 1,
            bytes: 0,
            read_bytes: None,
            iterations: 1,
            stonewall: None,
            files_only: false,
            leaves_only: false,
            has_own_directories: false,
            creates: false,
            stats: false,
            reads: false,
            removes: false,
            reorders: false,
            compares: false,
            syncs: false,
            shows_rates: true,
            shows_times: false,
        }
    }
}

const SOME_RANKS: &str = "all ranks take part. Start as many as are to, with `mpirun -n N`";

/// mdtest's options, by letter.
pub const MDTEST_OPTIONS: &[HpcOption<MdtestCommand>] = &[
    HpcOption::value("-a", "", Differs("POSIX alone"), |_, it| posix(it)),
    HpcOption::value("-b", "", Same, |to, it| {
        put(&mut to.branching, number(it, 1))
    }),
    HpcOption::refused("-B", "", "ranks begin each phase together. Leave it out"),
    HpcOption::refused("-c", "", "each rank makes its own files. Leave it out"),
    HpcOption::flag(
        "-C",
        "",
        Differs("files are removed at the end in any case"),
        |to, _| put(&mut to.creates, Ok(true)),
    ),
    HpcOption::value(
        "-d",
        "",
        Differs("one directory. A work directory is made within it, and removed at the end"),
        |to, it| match it.contains('@') {
            true => Err(format!("{it}: name one directory")),
            false => put(&mut to.directory, Ok(it.to_owned())),
        },
    ),
    HpcOption::refused("-D", "", "directories are not tested. Use -F"),
    HpcOption::value(
        "-e",
        "",
        Differs("as many as -w: files are read whole"),
        |to, it| put(&mut to.read_bytes, size(it).map(Some)),
    ),
    HpcOption::flag("-E", "", Differs("with -C only"), |to, _| {
        put(&mut to.reads, Ok(true))
    }),
    HpcOption::refused_value("-f", "", SOME_RANKS),
    HpcOption::flag(
        "-F",
        "",
        Differs("always needed: directories are no items here"),
        |to, _| put(&mut to.files_only, Ok(true)),
    ),
    HpcOption::refused(
        "-g",
        "",
        "set the directory's stripes with `lfs setstripe`, and leave it out",
    ),
    HpcOption::idle_value("-G", "", "every block says which file it is of"),
    HpcOption::value("-i", "", Same, |to, it| {
        put(&mut to.iterations, number(it, 1))
    }),
    HpcOption::value(
        "-I",
        "",
        Differs("in the last level, as with -L"),
        |to, it| put(&mut to.per_directory, size(it)),
    ),
    HpcOption::refused("-k", "", "files are made by open(). Leave it out"),
    HpcOption::refused_value("-l", "", SOME_RANKS),
    HpcOption::flag(
        "-L",
        "",
        Differs("always needed with -z above 0"),
        |to, _| put(&mut to.leaves_only, Ok(true)),
    ),
    HpcOption::value("-n", "", Same, |to, it| put(&mut to.items, size(it))),
    HpcOption::value(
        "-N",
        "",
        Differs(
            "above 0 a rank takes the files of the same rank of the next host, or of the next rank",
        ),
        |to, it| put(&mut to.reorders, number(it, 0).map(|it| it > 0)),
    ),
    HpcOption::refused_value(
        "-p",
        "",
        "iterations follow each other at once. Use one command each, with a sleep in between",
    ),
    HpcOption::flag("-P", "", Same, |to, _| put(&mut to.shows_times, Ok(true))),
    HpcOption::flag("-r", "", Differs("with -C only"), |to, _| {
        put(&mut to.removes, Ok(true))
    }),
    HpcOption::refused(
        "-R",
        "",
        "files are looked at in the order in which they were made",
    ),
    HpcOption::refused_value("-s", "", SOME_RANKS),
    HpcOption::refused("-S", "", "use `seekstone ior` for a file of all ranks"),
    HpcOption::idle("-t", "", "making directories is a row of its own"),
    HpcOption::flag("-T", "", Differs("with -C only"), |to, _| {
        put(&mut to.stats, Ok(true))
    }),
    HpcOption::flag("-u", "", Same, |to, _| {
        put(&mut to.has_own_directories, Ok(true))
    }),
    HpcOption::idle("-v", "", "use --all for all details"),
    HpcOption::idle_value("-V", "", "use --all for all details"),
    HpcOption::value("-w", "", Same, |to, it| put(&mut to.bytes, size(it))),
    HpcOption::value("-W", "", Same, |to, it| put(&mut to.stonewall, seconds(it))),
    HpcOption::idle_value("-x", "", "no file: one command has all phases"),
    HpcOption::flag(
        "-X",
        "",
        Differs("without it the first 512 bytes of each call are compared"),
        |to, _| put(&mut to.compares, Ok(true)),
    ),
    HpcOption::flag(
        "-y",
        "",
        Differs("directories are synced, too. In memory (tmpfs) nothing is"),
        |to, _| put(&mut to.syncs, Ok(true)),
    ),
    HpcOption::refused("-Y", "", "use -y, which syncs every file and directory"),
    HpcOption::value(
        "-z",
        "",
        Differs("above 0 with -u and -L only"),
        |to, it| put(&mut to.depth, number(it, 0)),
    ),
    HpcOption::flag("-Z", "", Same, |to, _| {
        (to.shows_rates, to.shows_times) = (false, true);
        Ok(())
    }),
];

impl MdtestCommand {
    /// Parses a command line.
    ///
    /// # Errors
    /// What is unknown, refused, or contradictory, in one sentence.
    pub fn read(words: &[String]) -> Result<Self, String> {
        let mut command = Self::default();
        read(MDTEST_OPTIONS, words, &mut command)?;
        let it = &mut command;
        let is_open = !(it.creates || it.stats || it.reads || it.removes);
        if is_open {
            (it.creates, it.stats, it.reads, it.removes) = (true, true, true, true);
        }
        let leaves = u64::from(it.branching).checked_pow(it.depth);
        if it.items == 0 {
            let all = leaves.and_then(|leaves| leaves.checked_mul(it.per_directory));
            it.items = all.ok_or("-I: too many files for this tree")?;
        } else if it.per_directory > 0 {
            return Err("-n and -I: use one of them. Files are dealt to the last level".into());
        }
        let problem = if !it.files_only {
            "directories are no items here: add -F"
        } else if !it.creates {
            "files are removed at the end, so -T, -E and -r need -C in the same command"
        } else if it.items == 0 {
            "-n: how many files does each rank make?"
        } else if it.depth > 0 && !it.leaves_only {
            "-z: files lie in the last level of directories only. Add -L"
        } else if it.depth > 0 && !it.has_own_directories {
            "-z: each rank has a tree of its own. Add -u"
        } else if it.read_bytes.is_some_and(|bytes| bytes != it.bytes) {
            "-e: files are read whole. Use as many bytes as -w"
        } else {
            return Ok(command);
        };
        Err(problem.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<MdtestCommand, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        MdtestCommand::read(&words)
    }

    #[test]
    fn options_are_read_as_users_type_them() {
        let hard = "-n 1000 -t -w 3901 -e 3901 -N 1 -F -d /scratch -x /tmp/wall -C -T -E -r -W 300";
        assert_eq!(
            read_line(hard),
            Ok(MdtestCommand {
                directory: "/scratch".into(),
                items: 1000,
                bytes: 3901,
                read_bytes: Some(3901),
                stonewall: Some(Duration::from_secs(300)),
                files_only: true,
                creates: true,
                stats: true,
                reads: true,
                removes: true,
                reorders: true,
                ..MdtestCommand::default()
            })
        );
        let tree = read_line("-uFL -z 2 -b 10 -I 5 -i 3 -Z").expect("a tree");
        assert_eq!((tree.items, tree.depth, tree.branching), (500, 2, 10));
        assert_eq!((tree.shows_rates, tree.shows_times), (false, true));
        assert!(tree.creates && tree.removes && tree.has_own_directories);
    }

    #[test]
    fn what_cannot_be_done_is_one_sentence_that_says_what_to_use() {
        for (line, expected) in [
            ("-n 10", "add -F"),
            ("-n 10 -D", "Use -F"),
            ("-n 10 -F -T", "need -C in the same command"),
            ("-F", "-n: how many files"),
            ("-F -n 10 -z 2 -u", "Add -L"),
            ("-F -n 10 -z 2 -L", "Add -u"),
            ("-F -n 10 -w 10 -e 5", "as many bytes as -w"),
            ("-F -n 10 -I 5", "use one of them"),
            ("-F -n 10 -Y", "use -y"),
            ("-F -n 10 -R5", "in the order in which they were made"),
            ("-F -n 10 -f 2", "mpirun -n N"),
        ] {
            let why = read_line(line).expect_err(line);
            assert!(why.contains(expected), "{line}: {why}");
        }
    }
}
