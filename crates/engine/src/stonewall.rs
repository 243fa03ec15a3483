//! Work that ends at a stonewall, with wear-out, as IOR and mdtest have it: each client works until
//! a time is up, then all go on as far as the furthest of them came. So a client that is slow has
//! no less to do than the others, and the whole says what the slowest takes.
//!
//! Who the furthest is, the caller finds out between the two parts: a client knows of itself alone.

use std::fmt;

use units::{Duration, Instant};
use workload::FileScript;

use crate::files::{FileDriver, PlayEnd, Played, Playing};

/// What a client does, item by item.
pub struct WalledWork {
    /// Calls before the first item.
    pub before: FileScript,
    /// The calls of an item, by its number.
    pub item: Box<dyn Fn(u32) -> FileScript + Send>,
    /// Items at most.
    pub items: u32,
    /// Calls after the last item.
    pub after: FileScript,
}

/// What was done when the time was up: items are whole, so the last may end a little later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallPart {
    /// When the first call began.
    pub began: Instant,
    /// When the last item ended.
    pub ended: Instant,
    /// Items that were done.
    pub items: u32,
    /// Bytes moved.
    pub bytes: u64,
}

/// A client at the wall, which waits for how far to go on.
pub struct AtTheWall {
    work: WalledWork,
    playing: Playing,
    part: WallPart,
}

impl fmt::Debug for AtTheWall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.part.fmt(f)
    }
}

impl AtTheWall {
    /// Work until `wall` after the first call, a call fails, or `is_stopped` says so.
    pub fn reach(
        driver: &mut dyn FileDriver,
        mut work: WalledWork,
        wall: Duration,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Self {
        let mut playing = Playing::begin(driver);
        playing.go_on(driver, &mut work.before, is_stopped);
        let mut items = 0;
        while items < work.items && playing.ended.since(playing.began) < wall {
            playing.go_on(driver, &mut (work.item)(items), is_stopped);
            if playing.end != PlayEnd::Whole {
                break;
            }
            items += 1;
        }
        let part = WallPart {
            began: playing.began,
            ended: playing.ended,
            items,
            bytes: playing.bytes,
        };
        Self {
            work,
            playing,
            part,
        }
    }

    /// How many items are done; `None` when this client does not go on.
    pub fn items(&self) -> Option<u32> {
        (self.playing.end == PlayEnd::Whole).then_some(self.part.items)
    }

    /// Go on to as many items as the `furthest` client has done, and to the end; where there is
    /// none, because a client failed, to the end at once.
    pub fn wear_out(
        mut self,
        driver: &mut dyn FileDriver,
        furthest: Option<u32>,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> (Played, WallPart) {
        // What it took to learn how far is no part of the next call.
        self.playing.wait(driver);
        let to = furthest.unwrap_or(self.part.items).min(self.work.items);
        for item in self.part.items..to {
            self.playing
                .go_on(driver, &mut (self.work.item)(item), is_stopped);
        }
        self.playing.go_on(driver, &mut self.work.after, is_stopped);
        (self.playing.end(driver), self.part)
    }
}
