"""A file system that lies at some of its blocks: lying_file.py MOUNT LIE SEED.

LIE is honest, lost, stale, misplaced, torn, flipped or first-lost. SEED chooses the blocks, one of
eight in each file; what is written to them is wrong every time, with first-lost the first time
alone. It begins with one file, `data`, of 64 blocks; others can be made, and those that are named
like the large files of `seekstone files` lie at the same blocks. A file that is removed and made
again is another one to an honest file system; with stale, its lying blocks keep what they held.
Prints `ready` when it is mounted. All lives in memory.
"""
import errno
import os.path
import random
import re
import stat
import sys

from fusepy import FUSE, FuseOSError, Operations

BLOCK = 4096
BLOCKS = 64
LIARS = re.compile("data|[bs][0-9]{4}")


class LyingFiles(Operations):
    def __init__(self, lie, seed):
        self.lie = lie
        # Never neighbours: a misplaced write lands on the block behind.
        self.liars = set(random.Random(seed).sample(range(0, BLOCKS, 2), BLOCKS // 8))
        self.files = {"/data": bytearray(BLOCK * BLOCKS)}
        self.directories = {"/"}
        self.removed = {}
        self.written = set()

    def init(self, path):
        print("ready", flush=True)

    def getattr(self, path, fh=None):
        if path in self.directories:
            return {"st_mode": stat.S_IFDIR | 0o700, "st_nlink": 2}
        size = len(self.file(path))
        return {"st_mode": stat.S_IFREG | 0o600, "st_nlink": 1, "st_size": size,
                "st_blocks": -(-size // 512)}

    def file(self, path):
        if path not in self.files:
            raise FuseOSError(errno.ENOENT)
        return self.files[path]

    def readdir(self, path, fh):
        entries = [*self.files, *(self.directories - {"/"})]
        return [".", "..", *(os.path.basename(it) for it in entries if os.path.dirname(it) == path)]

    def mkdir(self, path, mode):
        self.directories.add(path)

    def rmdir(self, path):
        if len(self.readdir(path, None)) > 2:
            raise FuseOSError(errno.ENOTEMPTY)
        self.directories.remove(path)

    def create(self, path, mode, fi=None):
        self.files[path] = bytearray()
        return 0

    def unlink(self, path):
        self.removed[path] = self.file(path)
        del self.files[path]

    def rename(self, old, new):
        self.files[new] = self.file(old)
        del self.files[old]

    def chmod(self, path, mode):
        return 0

    def utimens(self, path, times=None):
        return 0

    def statfs(self, path):
        return {"f_bsize": BLOCK, "f_frsize": BLOCK, "f_blocks": 1 << 20, "f_bfree": 1 << 20,
                "f_bavail": 1 << 20, "f_files": 1 << 20, "f_ffree": 1 << 20, "f_favail": 1 << 20}

    def read(self, path, size, offset, fh):
        return bytes(self.file(path)[offset:offset + size])

    def truncate(self, path, length, fh=None):
        data = self.file(path)
        del data[length:]
        data.extend(bytes(length - len(data)))

    def write(self, path, data, offset, fh):
        size = max(len(self.file(path)), offset + len(data))
        self.truncate(path, size)
        at = 0
        while at < len(data):
            block, within = divmod(offset + at, BLOCK)
            part = data[at:at + BLOCK - within]
            self.put(path, block, within, part)
            at += len(part)
        return len(data)

    def fsync(self, path, datasync, fh):
        return 0

    def put(self, path, block, within, part):
        lies = self.lie != "honest" and LIARS.fullmatch(os.path.basename(path))
        if lies and self.lie == "misplaced" and block - block % 2 in self.liars:
            # What belongs to either of two blocks goes to the other.
            block ^= 1
        elif lies and block in self.liars:
            part = self.lied(path, block, bytearray(part))
        begin = block * BLOCK + within
        data = self.files[path]
        data.extend(bytes(max(0, begin + len(part) - len(data))))
        data[begin:begin + len(part)] = part

    def lied(self, path, block, part):
        """What is stored in the place of `part`."""
        if self.lie == "lost":
            return b""
        if self.lie in ("stale", "first-lost"):
            is_first = (path, block) not in self.written
            self.written.add((path, block))
            if self.lie == "stale" and path in self.removed:
                return self.removed[path][block * BLOCK:][:len(part)]
            return part if is_first == (self.lie == "stale") else b""
        if self.lie == "torn":
            return part[:len(part) // 2]
        part[len(part) // 2 + 300] ^= 4
        return part


if __name__ == "__main__":
    mount, lie, seed = sys.argv[1:]
    FUSE(LyingFiles(lie, int(seed)), mount, foreground=True, nothreads=True, direct_io=True,
         big_writes=True)
