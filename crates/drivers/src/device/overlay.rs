//! The file beneath a file of an overlay or another stacking file system, which has an inode of its
//! own.
//!
//! Of what is written only the upper layer counts: a file of a lower one is copied there before. Of
//! what is read, as beneath a loop device, all layers do.

use std::path::{Component, Path, PathBuf};

use super::block_layer::StorageIdentity;
use super::mounts::MountInfoLine;

/// What lies beneath a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beneath {
    /// The path is on no overlay, or its file is in a lower layer.
    Nothing,
    /// This file of the upper layer.
    File(StorageIdentity),
    /// The upper layer cannot be seen from here, as that of a container.
    Hidden(PathBuf),
}

/// What lies beneath `path`, which has no links in it, by what is mounted.
pub(super) fn beneath(path: &Path, mounts: &[MountInfoLine]) -> Beneath {
    let nearest = nearest(path, mounts.iter());
    let Some(mount) = nearest.filter(|mount| mount.kind == "overlay") else {
        return Beneath::Nothing;
    };
    let upper = mount
        .options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="));
    // Without an upper layer nothing can be written.
    let Some(upper) = upper.map(PathBuf::from) else {
        return Beneath::Nothing;
    };
    if !upper.is_dir() {
        return Beneath::Hidden(upper);
    }
    match StorageIdentity::at(&upper.join(inside(path, mount))) {
        Some(storage) => Beneath::File(storage),
        None => Beneath::Nothing,
    }
}

/// File systems that show files of others, which they may not name.
const STACKING: &[&str] = &["ecryptfs", "nfs", "nfs4", "overlay"];
const STACKING_FAMILY: &str = "fuse";

fn is_stacking(kind: &str) -> bool {
    STACKING.contains(&kind) || kind.starts_with(STACKING_FAMILY)
}

/// Whether one of `files`, at `path`, may be what a loop device reads that has been given `backing`
/// by that name, on a stacking file system of any mount namespace.
///
/// Where its layers are seen, the files of that name in them are compared. Where one is not, as
/// with FUSE or a relative path, any file may be it whose path ends as the name does inside, or
/// which has the number that the stack gives it: that of the file below, in many of them.
pub(super) fn is_read_through(
    (backing, name): (Option<StorageIdentity>, &Path),
    (files, path): (&[StorageIdentity], &Path),
    mounts: &[MountInfoLine],
) -> bool {
    let has_number = |mount: &&MountInfoLine| match backing {
        Some(StorageIdentity::File { file_system, .. }) => mount.number == file_system,
        _ => false,
    };
    let own = mounts.iter().filter(|mount| mount.process.is_none());
    let nearest = nearest(name, own);
    let numbered = mounts.iter().filter(has_number);
    let stacking = nearest.into_iter().chain(numbered);
    stacking
        .filter(|mount| is_stacking(&mount.kind))
        .any(|mount| {
            let inside = inside(name, mount);
            let layers = layers(mount);
            let is_one = |layer: &PathBuf| {
                StorageIdentity::at(&layer.join(&inside)).is_some_and(|it| files.contains(&it))
            };
            let are_seen = !layers.is_empty() && layers.iter().all(|it| it.is_dir());
            let number = backing.and_then(inode);
            let has_its_number = || number.is_some() && files.iter().any(|it| inode(*it) == number);
            let may_be_it = || path.ends_with(&inside) || has_its_number();
            layers.iter().any(is_one) || !are_seen && may_be_it()
        })
}

fn inode(storage: StorageIdentity) -> Option<u64> {
    match storage {
        StorageIdentity::File { inode, .. } => Some(inode),
        StorageIdentity::Device(_) => None,
    }
}

/// The directories of an overlay, as its own mount namespace names them.
fn layers(mount: &MountInfoLine) -> Vec<PathBuf> {
    let mut layers = Vec::new();
    for option in mount.options.split(',').filter(|_| mount.kind == "overlay") {
        let Some((key, value)) = option.split_once('=') else {
            continue;
        };
        match key {
            "upperdir" | "lowerdir+" | "datadir+" => layers.push(value),
            "lowerdir" => layers.extend(value.split(':').filter(|it| !it.is_empty())),
            _ => {}
        }
    }
    // One that is relative was so where the overlay was mounted: nobody knows where that was.
    layers
        .into_iter()
        .map(|layer| match Path::new(layer).is_absolute() {
            true => PathBuf::from(layer),
            false => PathBuf::new(),
        })
        .collect()
}

/// Of the mounts that hold `path` the one that shows it: of two on one place the later.
fn nearest<'a>(
    path: &Path,
    mounts: impl Iterator<Item = &'a MountInfoLine>,
) -> Option<&'a MountInfoLine> {
    let holding = mounts.filter(|mount| path.starts_with(&mount.point));
    holding.max_by_key(|mount| mount.point.components().count())
}

/// The path of a file from the root of the file system that is mounted.
fn inside(path: &Path, mount: &MountInfoLine) -> PathBuf {
    let inside = path.strip_prefix(&mount.point).unwrap_or(path);
    let parts = mount.root.components().chain(inside.components());
    let names = parts.filter(|part| matches!(part, Component::Normal(_)));
    names.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_of_the_upper_layer_is_found() {
        let scratch = tempfile::tempdir().unwrap();
        let upper = scratch.path().join("upper");
        fs::create_dir_all(upper.join("part")).unwrap();
        fs::write(upper.join("part/file"), "x").unwrap();
        let file = StorageIdentity::at(&upper.join("part/file")).unwrap();
        let mount = |root: &str, point: &str, options: String| {
            let line = format!("1 0 0:9 {root} {point} rw - overlay overlay {options}");
            MountInfoLine::parse(&line).unwrap()
        };
        let options = format!("rw,lowerdir=/l,upperdir={},workdir=/w", upper.display());
        let mounts = [
            mount("/", "/", "rw,lowerdir=/l".to_owned()),
            mount("/", "/merged", options.clone()),
            mount("/part", "/bound", options),
            mount("/", "/hidden", "rw,upperdir=/no/such/upper".to_owned()),
        ];
        let check = |path: &str, expected| {
            assert_eq!(beneath(Path::new(path), &mounts), expected, "{path}");
        };
        check("/merged/part/file", Beneath::File(file));
        check("/bound/file", Beneath::File(file));
        check("/merged/part/other", Beneath::Nothing);
        check("/elsewhere", Beneath::Nothing);
        let hidden = PathBuf::from("/no/such/upper");
        check("/hidden/file", Beneath::Hidden(hidden));
    }

    /// Bug: a file in a lower layer, which a loop device read through an overlay, was overwritten
    /// under the mounted file system.
    #[test]
    fn what_a_loop_device_reads_through_a_stack_is_found() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        for layer in ["upper", "low", "lower"] {
            fs::create_dir_all(at(layer).join("part")).unwrap();
        }
        fs::write(at("lower/part/disk.img"), "x").unwrap();
        fs::write(at("lower/part/other.img"), "x").unwrap();
        let mount = |kind: &str, options: &str| {
            MountInfoLine::parse(&format!("1 0 0:9 / /merged rw - {kind} {kind} {options}"))
                .unwrap()
        };
        let numbered = |minor, inode| StorageIdentity::File {
            file_system: super::super::block_layer::DeviceNumber { major: 0, minor },
            inode,
        };
        let backing = |minor| numbered(minor, 5);
        let check = |mount: &MountInfoLine, given: (u32, &str), file: &str, expected: bool| {
            let path = at(file);
            let files = [StorageIdentity::at(&path).unwrap()];
            let backing = (Some(backing(given.0)), Path::new(given.1));
            let found = is_read_through(backing, (&files, &path), std::slice::from_ref(mount));
            assert_eq!(found, expected, "{mount:?} {given:?} {file}");
        };
        let (disk, other) = ("lower/part/disk.img", "lower/part/other.img");
        let lower = format!("{}:{}", at("low").display(), at("lower").display());
        let seen = mount(
            "overlay",
            &format!("rw,lowerdir={lower},upperdir={}", at("upper").display()),
        );
        let plus = format!(
            "rw,lowerdir+={},lowerdir+={}",
            at("low").display(),
            at("lower").display()
        );
        let unnamed = mount("overlay", "rw,lowerdir=low:lower,upperdir=upper");
        for stack in [&seen, &mount("overlay", &plus), &unnamed] {
            // By its path, or by its number from another mount namespace.
            check(stack, (7, "/merged/part/disk.img"), disk, true);
            check(stack, (9, "/part/disk.img"), disk, true);
            check(stack, (9, "/part/disk.img"), other, false);
            check(stack, (7, "/elsewhere/part/disk.img"), disk, false);
        }
        for kind in ["fuse.bindfs", "ecryptfs", "nfs4"] {
            check(&mount(kind, "rw"), (9, "/merged/part/disk.img"), disk, true);
            check(
                &mount(kind, "rw"),
                (9, "/merged/part/disk.img"),
                other,
                false,
            );
        }
        check(
            &mount("ext4", "rw"),
            (9, "/merged/part/disk.img"),
            disk,
            false,
        );
        // Bug: another name of the file was not refused where the layers are not seen.
        let other = at("lower/part/other.img");
        let files = [StorageIdentity::at(&other).unwrap()];
        let read = (
            Some(numbered(9, inode(files[0]).unwrap())),
            Path::new("/part/disk.img"),
        );
        for (mount, expected) in [(&unnamed, true), (&seen, false)] {
            let found = is_read_through(read, (&files, &other), std::slice::from_ref(mount));
            assert_eq!(found, expected, "{mount:?}");
        }
    }
}
