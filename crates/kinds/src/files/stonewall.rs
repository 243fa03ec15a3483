//! A pass with a stonewall: every client works until the time is up, the furthest of all clients on
//! all hosts is found, and all go on to as many items as it has done.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;

use engine::{AtTheWall, Played, WallPart, WalledWork};
use procedure::{FileCell, FileItem};
use results::{FilePass, FileState, FileSystemRole, StonewallPass, Warning, WarningCode};
use units::{Duration, format_counted};
use workload::{BandwidthPhase, FileOp, FilesShape, MetadataPhase};

use super::run::{FilesRequest, FilesSession};
use super::subject::ClientFiles;
use host::interrupt::Interrupt;
use host::together::{no_thread, together};
use lab::bench::BenchError;

/// How many items each client made, by file system and state: what later tests find.
pub(super) type Made = BTreeMap<(FileSystemRole, FileState), u32>;

/// Each client up to the wall, and then as far as `furthest` makes of what the furthest of them
/// did; of no number, when one of them does not go on.
pub(super) fn played_to_wall(
    hands: &mut [ClientFiles],
    work: &(dyn Fn(u32) -> WalledWork + Sync),
    wall: Duration,
    interrupt: &Interrupt,
    furthest: impl FnOnce(Option<u32>) -> Option<u32>,
) -> Result<Vec<(Played, WallPart)>, BenchError> {
    let (at_wall, reached) = channel::<Option<u32>>();
    let mut go_on = Vec::new();
    let clients: Vec<_> = (0_u32..)
        .zip(hands.iter_mut())
        .map(|(client, hand)| {
            let at_wall = at_wall.clone();
            let (sender, receiver) = channel::<Option<u32>>();
            go_on.push(sender);
            move || {
                let mut stops = || interrupt.is_raised().is_some();
                let client = AtTheWall::reach(hand.driver(), work(client), wall, &mut stops);
                // Who hears it is there until all clients have ended.
                let _ = at_wall.send(client.items());
                // A client that panics is missed only when no other could still speak.
                drop(at_wall);
                let to = receiver.recv().ok().flatten();
                client.wear_out(hand.driver(), to, &mut stops)
            }
        })
        .collect();
    drop(at_wall);
    let lead = move || {
        let each = go_on.iter().map(|_| reached.recv().ok().flatten());
        let all: Option<Vec<u32>> = each.collect::<Vec<_>>().into_iter().collect();
        let to = furthest(all.and_then(|all| all.into_iter().max()));
        for client in go_on {
            // One that has panicked hears nothing.
            let _ = client.send(to);
        }
    };
    let ((), joined) =
        together(clients, lead).map_err(|error| BenchError::Refused(no_thread(&error)))?;
    let joined = joined.into_iter();
    Ok(joined
        .map(|played| played.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        .collect())
}

/// The clients of one host at the wall.
pub(super) fn at_the_wall(parts: &[WallPart]) -> Option<StonewallPass> {
    let began = parts.iter().map(|it| it.began).min()?;
    let ended = parts.iter().map(|it| it.ended).max()?;
    let items = || parts.iter().map(|it| u64::from(it.items));
    Some(StonewallPass {
        elapsed_ns: ended.since(began).as_nanos(),
        items: items().sum(),
        bytes: parts.iter().map(|it| it.bytes).sum(),
        items_least: items().min()?,
        items_most: items().max()?,
    })
}

/// The hosts at the wall: each with how late it began, nanoseconds.
pub(super) fn walls_merged(all: &[(u64, StonewallPass)]) -> Option<StonewallPass> {
    let began = all.iter().map(|(late, _)| *late).min()?;
    let ended = all.iter().map(|(late, it)| late + it.elapsed_ns).max()?;
    Some(StonewallPass {
        elapsed_ns: ended - began,
        items: all.iter().map(|(_, it)| it.items).sum(),
        bytes: all.iter().map(|(_, it)| it.bytes).sum(),
        items_least: all.iter().map(|(_, it)| it.items_least).min()?,
        items_most: all.iter().map(|(_, it)| it.items_most).max()?,
    })
}

impl FilesRequest {
    /// When clients stop in a pass of this test; `None` where it has no stonewall.
    pub(super) fn wall_of(&self, cell: &FileCell) -> Option<Duration> {
        let makes = matches!(
            cell.item,
            FileItem::Metadata(MetadataPhase::Create) | FileItem::Bandwidth(BandwidthPhase::Write)
        );
        self.stonewall.filter(|_| makes)
    }

    /// What a client of this host makes, item by item.
    pub(super) fn walled_work(&self, shape: FilesShape, here: u32) -> WalledWork {
        let client = self.metadata_client(here);
        let items = shape.most();
        match shape {
            FilesShape::Tree(tree) => WalledWork {
                before: Box::new(std::iter::empty()),
                item: Box::new(move |n| tree.script_of(MetadataPhase::Create, client, n..n + 1)),
                items,
                after: Box::new(std::iter::empty()),
            },
            FilesShape::Transfers(spec) => WalledWork {
                before: spec.begin(BandwidthPhase::Write, client, shape.bytes()),
                item: Box::new(move |n| Box::new(spec.transfer(BandwidthPhase::Write, client, n))),
                items,
                after: Box::new(std::iter::once(FileOp::Close)),
            },
        }
    }

    /// How far the furthest client of all hosts came; `None` when one does not go on.
    pub(super) fn furthest(&self, here: Option<u32>) -> Option<u32> {
        match &self.bench.ranks {
            // What fails here fails again when the ranks tell what they measured.
            Some(ranks) => ranks.furthest(here).ok().flatten(),
            None => here,
        }
    }
}

impl FilesSession<'_> {
    /// A doubt about passes in which a client had done everything before the wall.
    pub(super) fn not_reached(&self) -> Option<Warning> {
        let shape = self.request.shape()?;
        let limit = u64::from(shape.most());
        let (items, option) = match shape {
            FilesShape::Tree(_) => ("files", "more --files"),
            FilesShape::Transfers(_) => ("transfers", "a larger --file-size"),
        };
        let passes = self.played.values().flat_map(|row| &row.passes);
        let walls: Vec<StonewallPass> = passes.filter_map(|pass| pass.stonewall).collect();
        let early = walls.iter().filter(|wall| wall.items_most >= limit);
        let early = early.count();
        (early > 0).then(|| {
            let text = format!(
                "In {early} of {} a client had made all of its {limit} {items} before the \
                 stonewall. It stopped nobody, or only the slower clients",
                format_counted(walls.len() as u64, "pass"),
            );
            Warning::warn(WarningCode::StonewallNotReached, text)
                .advise(format!("ask for {option}, or an earlier --stonewall"))
        })
    }
}

/// How many items each client had made, when this pass was over.
pub(super) fn made_in(pass: &FilePass) -> Option<u32> {
    let most = pass.stonewall?.items_most;
    u32::try_from(most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second host began last and stopped first, and the whole time is that of both.
    #[test]
    fn hosts_at_the_wall_are_one() {
        let wall = |elapsed_ns, items, items_least, items_most| StonewallPass {
            elapsed_ns,
            items,
            bytes: items * 10,
            items_least,
            items_most,
        };
        let all = [(20, wall(1_000, 70, 30, 40)), (50, wall(900, 25, 10, 15))];
        let merged = walls_merged(&all).expect("two hosts");
        assert_eq!(
            merged,
            StonewallPass {
                bytes: 950,
                ..wall(1_000, 95, 10, 40)
            }
        );
        assert_eq!(walls_merged(&[]), None);
    }
}
