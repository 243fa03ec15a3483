//! `verify=` of fio's jobs: what was written is read back; a file that was changed behind the
//! program's back is found out, with class, offset, expected and found.

use std::os::unix::fs::FileExt as _;

use crate::support::{self, Ended, Scratch};

const BYTES: u64 = 1 << 20;

struct Scene {
    scratch: Scratch,
}

impl Scene {
    fn new() -> Self {
        let scratch = Scratch::new();
        std::fs::write(scratch.path("data"), vec![0x11; BYTES as usize]).expect("a file");
        Self { scratch }
    }

    fn fio(&self, options: &[&str]) -> Ended {
        let fixed = [
            "fio",
            "--no-save",
            "--overwrite",
            "--quiet",
            "--output-format=json",
            "--name=a",
            "--bs=4k",
            "--filename=data",
            "--size=1m",
            "--verify=crc32c",
        ];
        support::finish(self.scratch.seekstone(fixed.iter().chain(options)))
    }

    fn write(&self) {
        let ended = self.fio(&["--rw=randwrite", "--iodepth=8", "--ioengine=libaio"]);
        ended.check(&[], 0, "");
        assert_eq!(ended.json()["jobs"][0]["error"], 0);
    }

    fn file(&self) -> std::fs::File {
        let mut options = std::fs::File::options();
        let opened = options
            .read(true)
            .write(true)
            .open(self.scratch.path("data"));
        opened.expect("the file")
    }

    fn block(&self, number: u64) -> Vec<u8> {
        let mut block = vec![0; 4096];
        self.file()
            .read_exact_at(&mut block, number * 4096)
            .expect("a block");
        block
    }

    fn put(&self, offset: u64, bytes: &[u8]) {
        self.file().write_all_at(bytes, offset).expect("a write");
    }

    /// A job that reads it all says so, with fio's error number.
    fn check(&self, said: &str) {
        let ended = self.fio(&["--rw=read"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
        assert_eq!(json["jobs"][0]["error"], 84, "EILSEQ, as fio has it");
    }
}

#[test]
fn what_was_written_is_read_back_and_found_sound() {
    let scene = Scene::new();
    scene.write();
    let ended = scene.fio(&["--rw=read"]);
    ended.check(&[], 0, "");
    let ended = scene.fio(&["--rw=randrw", "--loops=3", "--norandommap"]);
    ended.check(&[], 0, "");
}

#[test]
fn a_flipped_bit_is_told() {
    let scene = Scene::new();
    scene.write();
    let mut block = scene.block(9);
    block[700] ^= 4;
    scene.put(9 * 4096, &block);
    scene.check(
        "data: flipped at offset 37376 (512 bytes): expected a write to this place, found checksum",
    );
}

#[test]
fn a_block_of_another_place_is_told() {
    let scene = Scene::new();
    scene.write();
    scene.put(5 * 4096, &scene.block(7));
    scene.check("data: misplaced at offset 20480 (4096 bytes)");
}

#[test]
fn a_block_that_was_never_written_is_told() {
    let scene = Scene::new();
    scene.write();
    scene.put(3 * 4096, &[0; 4096]);
    scene.check(
        "data: lost at offset 12288 (4096 bytes): expected a write to this place, found zeroes",
    );
}

/// The writes are of 8 KiB and of one run; the second half of the first one is put back.
#[test]
fn a_torn_write_is_told() {
    let scene = Scene::new();
    scene.write();
    let jobs = "[global]\nfilename=data\nsize=1m\nbs=8k\nrw=write\nverify=md5\n[a]\n[b]\n\
                stonewall\nio_size=8k\noffset=8k\nsize=8k\n";
    std::fs::write(scene.scratch.path("jobs.fio"), jobs).expect("a job file");
    let args = ["fio", "jobs.fio", "--no-save", "--overwrite", "--quiet"];
    let ended = support::finish(scene.scratch.seekstone(args));
    ended.check(&[], 0, "");
    // A whole header of an earlier write of the same run stands where the later one was.
    let (early, late) = (scene.block(0), scene.block(2));
    let mut sector = late[512..1024].to_vec();
    let sequence = u64::from_le_bytes(early[16..24].try_into().expect("eight bytes"));
    sector[16..24].copy_from_slice(&sequence.to_le_bytes());
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&sector[..4]), &sector[8..]);
    sector[4..8].copy_from_slice(&checksum.to_le_bytes());
    scene.put(8192 + 512, &sector);
    scene.check(
        "data: torn at offset 8704 (512 bytes): expected a write to this place, found write 1",
    );
}

#[test]
fn what_cannot_be_verified_is_refused() {
    let scene = Scene::new();
    let refused = |options: &[&str], said: &str| {
        let ended = scene.fio(options);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    };
    refused(&["--rw=write", "--bs=1000"], "whole sectors of 512 bytes");
    refused(
        &["--rw=write", "--dedupe_percentage=10"],
        "leave dedupe_percentage out",
    );
    refused(
        &["--rw=write", "--filename=sim:nvme"],
        "models and files do not go together: data, sim:nvme",
    );
    let model = [
        "--rw=write",
        "--filename=sim:nvme",
        "--size=1m",
        "--verify=md5",
    ];
    let words = [&["fio", "--name=a"], &model[..]].concat();
    scene.scratch.check(&words, 2, "a target that holds data");
    refused(&["--rw=write", "--verify=md6"], "none of fio's methods");
}
