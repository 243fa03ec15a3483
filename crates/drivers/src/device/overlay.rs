//! The file beneath a file of an overlay file system, which has an inode of its own.
//!
//! Only the upper layer counts: a file of a lower one is copied there before it is written.

use std::path::{Component, Path, PathBuf};

use super::block_layer::Storage;
use super::mounts::Mount;

/// What lies beneath a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beneath {
    /// The path is on no overlay, or its file is in a lower layer.
    Nothing,
    /// This file of the upper layer.
    File(Storage),
    /// The upper layer cannot be seen from here, as that of a container.
    Hidden(PathBuf),
}

/// What lies beneath `path`, which has no links in it, by what is mounted.
pub(super) fn beneath(path: &Path, mounts: &[Mount]) -> Beneath {
    let holds = |mount: &&Mount| path.starts_with(&mount.point);
    // Of two mounts on one place the later one shows.
    let nearest = mounts
        .iter()
        .filter(holds)
        .max_by_key(|mount| mount.point.components().count());
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
    let inside = path.strip_prefix(&mount.point).unwrap_or(path);
    let parts = mount.root.components().chain(inside.components());
    let names = parts.filter(|part| matches!(part, Component::Normal(_)));
    match Storage::at(&upper.join(names.collect::<PathBuf>())) {
        Some(storage) => Beneath::File(storage),
        None => Beneath::Nothing,
    }
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
        let file = Storage::at(&upper.join("part/file")).unwrap();
        let mount = |root: &str, point: &str, options: String| {
            let line = format!("1 0 0:9 {root} {point} rw - overlay overlay {options}");
            Mount::parse(&line).unwrap()
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
}
