"""A file system of one file, `data`, that lies at some of its blocks: lying_file.py MOUNT LIE SEED.

LIE is honest, lost, stale, misplaced, torn, flipped or first-lost. SEED chooses the blocks, one of
eight; what is written to them is wrong every time, with first-lost the first time alone. Prints `ready` when it is mounted. The file lives in memory.
"""
import errno
import random
import stat
import sys

from fusepy import FUSE, FuseOSError, Operations

BLOCK = 4096
BLOCKS = 64


class LyingFile(Operations):
    def __init__(self, lie, seed):
        self.lie = lie
        # Never neighbours: a misplaced write lands on the block behind.
        self.liars = set(random.Random(seed).sample(range(0, BLOCKS, 2), BLOCKS // 8))
        self.data = bytearray(BLOCK * BLOCKS)
        self.written = set()

    def init(self, path):
        print("ready", flush=True)

    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/data":
            size = len(self.data)
            return {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": size,
                    "st_blocks": size // 512}
        raise FuseOSError(errno.ENOENT)

    def readdir(self, path, fh):
        return [".", "..", "data"]

    def read(self, path, size, offset, fh):
        return bytes(self.data[offset:offset + size])

    def truncate(self, path, length, fh=None):
        if length != len(self.data):
            raise FuseOSError(errno.EPERM)

    def write(self, path, data, offset, fh):
        at = 0
        while at < len(data):
            block, within = divmod(offset + at, BLOCK)
            part = data[at:at + BLOCK - within]
            self.put(block, within, part)
            at += len(part)
        return len(data)

    def fsync(self, path, datasync, fh):
        return 0

    def put(self, block, within, part):
        lies = self.lie != "honest"
        if lies and self.lie == "misplaced" and block - block % 2 in self.liars:
            # What belongs to either of two blocks goes to the other.
            block ^= 1
        elif lies and block in self.liars:
            part = self.lied(block, bytearray(part))
        begin = block * BLOCK + within
        self.data[begin:begin + len(part)] = part

    def lied(self, block, part):
        """What is stored in the place of `part`."""
        if self.lie == "lost":
            return b""
        if self.lie in ("stale", "first-lost"):
            is_first = block not in self.written
            self.written.add(block)
            return part if is_first == (self.lie == "stale") else b""
        if self.lie == "torn":
            return part[:len(part) // 2]
        part[len(part) // 2 + 300] ^= 4
        return part


if __name__ == "__main__":
    mount, lie, seed = sys.argv[1:]
    FUSE(LyingFile(lie, int(seed)), mount, foreground=True, nothreads=True, direct_io=True,
         big_writes=True)
