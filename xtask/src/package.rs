//! `cargo xtask package`: a Debian package of the program with its manual pages, completions,
//! licences and the JSON Schema.
//!
//! The program writes its own pages and completions, so that they are those of the binary. Needs
//! dpkg-deb and gzip. Without `--binary` the program is built with every ability and the profile
//! `dist`, for `--target` if one is named: that of musl gives a static program, and a tarball in
//! place of a package.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::source::{cargo, root};

/// Where shells look for completions of packages.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/seekstone"),
    ("zsh", "usr/share/zsh/vendor-completions/_seekstone"),
    ("fish", "usr/share/fish/vendor_completions.d/seekstone.fish"),
];
/// Files of the sources that are shipped, and where.
const SHIPPED: [(&str, &str); 4] = [
    ("README.md", "usr/share/doc/seekstone/README.md"),
    ("LICENSE-MIT", "usr/share/doc/seekstone/LICENSE-MIT"),
    ("LICENSE-APACHE", "usr/share/doc/seekstone/LICENSE-APACHE"),
    (
        "docs/seekstone.schema.json",
        "usr/share/seekstone/seekstone.schema.json",
    ),
];
const COPYRIGHT: &str = "usr/share/doc/seekstone/copyright";
const CHANGELOG: &str = "usr/share/doc/seekstone/changelog.gz";
const MANUAL: &str = "usr/share/man/man1";
const PROGRAM: &str = "usr/bin/seekstone";

/// What was asked for.
#[derive(Debug, Default)]
struct PackageOptions {
    binary: Option<PathBuf>,
    target: Option<String>,
    directory: Option<PathBuf>,
}

/// Make the package, and say where it is.
pub fn package(options: &[&str]) -> Result<()> {
    let asked = asked(options)?;
    let binary = match &asked.binary {
        Some(binary) => binary.clone(),
        None => built(asked.target.as_deref())?,
    };
    let directory = asked
        .directory
        .unwrap_or_else(|| root().join("target/package"));
    let stage = directory.join("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage).context("the last stage cannot be removed")?;
    }
    fill(&stage, &binary)?;
    let version = version()?;
    let made = match glibc(&binary)? {
        Some(libc) => debian(&directory, &stage, &version, &libc)?,
        None => tarball(&directory, &stage, &version)?,
    };
    fs::remove_dir_all(&stage)?;
    println!("wrote {}", made.display());
    Ok(())
}

fn asked(options: &[&str]) -> Result<PackageOptions> {
    let mut asked = PackageOptions::default();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let value = rest
            .next()
            .with_context(|| format!("{option} needs a value"))?;
        match *option {
            "--binary" => asked.binary = Some(value.into()),
            "--target" => asked.target = Some((*value).to_owned()),
            "--out" => asked.directory = Some(value.into()),
            other => bail!("{other}: there are --binary PATH, --target TRIPLE, --out DIRECTORY"),
        }
    }
    Ok(asked)
}

fn built(target: Option<&str>) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--profile", "dist", "--locked", "-p", "seekstone"]);
    command.args(["--features", "all"]);
    let mut path = root().join("target");
    if let Some(target) = target {
        command.args(["--target", target]);
        path.push(target);
    }
    let status = command.status()?;
    ensure!(status.success(), "the program cannot be built");
    Ok(path.join("dist/seekstone"))
}

/// Everything that the package holds.
fn fill(stage: &Path, binary: &Path) -> Result<()> {
    let program = stage.join(PROGRAM);
    put(
        &program,
        &fs::read(binary).context("the binary cannot be read")?,
        0o755,
    )?;
    for (source, place) in SHIPPED {
        put(&stage.join(place), &fs::read(root().join(source))?, 0o644)?;
    }
    let licences =
        ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| fs::read_to_string(root().join(name)));
    let [mit, apache] = licences;
    let copyright = format!(
        "Seekstone is under either licence.\n\n{}\n\n{}",
        mit?, apache?
    );
    put(&stage.join(COPYRIGHT), copyright.as_bytes(), 0o644)?;
    put(
        &stage.join(CHANGELOG),
        &zipped(&fs::read(root().join("CHANGELOG.md"))?)?,
        0o644,
    )?;
    for (shell, place) in COMPLETIONS {
        let text = output_of(&program, &["completions", shell])?;
        put(&stage.join(place), text.as_bytes(), 0o644)?;
    }
    let page = output_of(&program, &["man"])?;
    put(
        &manual(stage, "seekstone"),
        &zipped(page.as_bytes())?,
        0o644,
    )?;
    for command in commands(&output_of(&program, &["help", "--all"])?) {
        let page = output_of(&program, &["man", &command])?;
        let name = format!("seekstone-{command}");
        put(&manual(stage, &name), &zipped(page.as_bytes())?, 0o644)?;
    }
    Ok(())
}

fn manual(stage: &Path, name: &str) -> PathBuf {
    stage.join(MANUAL).join(format!("{name}.1.gz"))
}

/// The commands that `help --all` names: eight columns with the group, the name, what it does.
fn commands(help: &str) -> Vec<String> {
    let names = help.lines().filter_map(|line| {
        let name = line.get(8..21)?.trim_end();
        let is_name = !name.is_empty() && name.bytes().all(|c| c.is_ascii_lowercase());
        (is_name && line[..8].ends_with(' ')).then(|| name.to_owned())
    });
    names.collect()
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let parent = path.parent().context("a file has a parent")?;
    fs::create_dir_all(parent)?;
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(())
}

fn output_of(program: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("{} cannot be started", program.display()))?;
    ensure!(
        output.status.success(),
        "{} {}: {}",
        program.display(),
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Without name and time: the same input gives the same bytes.
fn zipped(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut command = Command::new("gzip");
    command.args(["-9", "-n", "-c"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("gzip cannot be started")?;
    let mut input = child.stdin.take().context("a pipe")?;
    let bytes = bytes.to_owned();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let output = child.wait_with_output()?;
    writer
        .join()
        .map_err(|_| anyhow::anyhow!("gzip was not fed"))??;
    ensure!(output.status.success(), "gzip failed");
    Ok(output.stdout)
}

fn version() -> Result<String> {
    let text = fs::read_to_string(root().join("Cargo.toml"))?;
    let manifest: toml::Table = text.parse()?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    Ok(version.context("the workspace has a version")?.to_owned())
}

/// The newest version of glibc whose symbols a binary names; `None` of a static one.
fn glibc(binary: &Path) -> Result<Option<String>> {
    const MARK: &[u8] = b"GLIBC_2.";
    let bytes = fs::read(binary)?;
    let found = bytes.windows(MARK.len()).enumerate();
    let minors = found.filter(|(_, it)| *it == MARK).filter_map(|(at, _)| {
        let rest = &bytes[at + MARK.len()..];
        let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        std::str::from_utf8(&rest[..digits])
            .ok()?
            .parse::<u32>()
            .ok()
    });
    Ok(minors.max().map(|minor| format!("2.{minor}")))
}

fn debian(directory: &Path, stage: &Path, version: &str, libc: &str) -> Result<PathBuf> {
    let architecture = Command::new("dpkg").arg("--print-architecture").output();
    let architecture = architecture.context("dpkg cannot be started")?.stdout;
    let architecture = String::from_utf8(architecture)?.trim().to_owned();
    let files = files(stage)?;
    let bytes: u64 = files
        .iter()
        .map(|it| it.metadata().map_or(0, |it| it.len()))
        .sum();
    let control = format!(
        "Package: seekstone\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: The Seekstone developers <seekstone@localhost>\n\
         Installed-Size: {}\nDepends: libc6 (>= {libc}), libgcc-s1\n\
         Recommends: ca-certificates\nSuggests: chromium\n\
         Section: utils\nPriority: optional\n\
         Description: storage benchmark with confidence intervals\n \
         Measures how much load a disk, a file system or a simulated device carries at\n \
         the response time that is needed, and how sure that is.\n",
        bytes.div_ceil(1024)
    );
    put(&stage.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    let package = directory.join(format!("seekstone_{version}_{architecture}.deb"));
    let mut command = Command::new("dpkg-deb");
    command
        .args(["--root-owner-group", "--build"])
        .arg(stage)
        .arg(&package);
    let output = command.output().context("dpkg-deb cannot be started")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(package)
}

fn tarball(directory: &Path, stage: &Path, version: &str) -> Result<PathBuf> {
    let machine = std::env::consts::ARCH;
    let archive = directory.join(format!("seekstone-{version}-{machine}-static.tar.gz"));
    let mut command = Command::new("tar");
    command
        .args(["--owner=0", "--group=0", "-czf"])
        .arg(&archive);
    command.arg("-C").arg(stage).arg("usr");
    let output = command.output().context("tar cannot be started")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(archive)
}

fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_that_help_names() {
        let help = "Measure how much load\n\nUsage: seekstone [OPTIONS] <COMMAND>\n\n\
                    Test    run          Quick benchmark\n        trial        Run one workload\n\n\
                    Options: --color <auto|always|never>\n";
        assert_eq!(commands(help), ["run", "trial"]);
    }

    #[test]
    fn options_are_known_or_refused() {
        let found = asked(&["--binary", "/bin/true", "--out", "/tmp/x"]).expect("known");
        assert_eq!(found.binary.as_deref(), Some(Path::new("/bin/true")));
        assert!(asked(&["--binary"]).is_err());
        assert!(asked(&["--speed", "1"]).is_err());
    }
}
