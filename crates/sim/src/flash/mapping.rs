//! The mapping of user pages to flash pages, and the cost of cleaning.
//!
//! Each die is a separate log: pages are appended, and the page's previous copy becomes invalid.
//! When free blocks run out, a block is cleaned: its valid pages are appended again, and it is
//! erased. Cleaning the oldest block first (FIFO) under uniform random writes has a known cost: W =
//! a / (a + w(-a e^-a)) pages programmed for each page written, with a = physical over user pages
//! and w the principal branch of Lambert's function. Source: P. Desnoyers, "Analytic Models of SSD
//! Write Performance", ACM TOS 10(2), 2014.

use std::collections::VecDeque;

/// No page.
const NONE: u32 = u32::MAX;

/// Choice of the block to clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// The block filled first.
    Fifo,
    /// The block with the fewest valid pages.
    Greedy,
}

/// The pages of one die.
#[derive(Clone, Debug)]
pub struct DieMapping {
    pages_per_block: u32,
    /// Flash page of each user page.
    places: Vec<u32>,
    /// User page of each flash page.
    owners: Vec<u32>,
    /// Number of valid pages in each block.
    worth: Vec<u32>,
    free: Vec<u32>,
    /// Full blocks, in the order in which they became full.
    full: VecDeque<u32>,
    open: u32,
    /// Next page of the open block.
    next: u32,
    cleaning: Cleaning,
    reserve: usize,
}

/// Work of a die caused by a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Pages moved, each read and programmed.
    pub moved: u32,
    /// Blocks erased.
    pub erased: u32,
}

impl DieMapping {
    /// An empty log of `blocks` blocks. Cleaning starts when at most `reserve` blocks are free.
    pub fn new(
        blocks: u32,
        pages_per_block: u32,
        user_pages: u32,
        reserve: u32,
        cleaning: Cleaning,
    ) -> Self {
        assert!(reserve >= 1, "cleaning needs a block to move pages to");
        let room = u64::from(blocks - reserve - 1) * u64::from(pages_per_block);
        assert!(u64::from(user_pages) < room, "cleaning needs spare pages");
        Self {
            pages_per_block,
            places: vec![NONE; user_pages as usize],
            owners: vec![NONE; (blocks * pages_per_block) as usize],
            worth: vec![0; blocks as usize],
            free: (1..blocks).rev().collect(),
            full: VecDeque::new(),
            open: 0,
            next: 0,
            cleaning,
            reserve: reserve as usize,
        }
    }

    /// Writes a user page.
    pub fn write(&mut self, page: u32) -> Effort {
        let mut effort = Effort::default();
        while self.next == self.pages_per_block && self.free.len() <= self.reserve {
            effort.moved += self.clean();
            effort.erased += 1;
        }
        self.append(page);
        effort
    }

    fn append(&mut self, page: u32) {
        if self.next == self.pages_per_block {
            self.full.push_back(self.open);
            self.open = self.free.pop().expect("cleaning left a free block");
            self.next = 0;
        }
        let old = self.places[page as usize];
        if old != NONE {
            self.owners[old as usize] = NONE;
            self.worth[(old / self.pages_per_block) as usize] -= 1;
        }
        let place = self.open * self.pages_per_block + self.next;
        self.places[page as usize] = place;
        self.owners[place as usize] = page;
        self.worth[self.open as usize] += 1;
        self.next += 1;
    }

    /// Cleans a block. Returns the number of pages moved.
    fn clean(&mut self) -> u32 {
        let index = match self.cleaning {
            Cleaning::Fifo => 0,
            Cleaning::Greedy => {
                let worth = |index: &usize| self.worth[self.full[*index] as usize];
                (0..self.full.len()).min_by_key(worth).unwrap_or(0)
            }
        };
        let block = self.full.remove(index).expect("a full block to clean");
        let mut moved = 0;
        for place in block * self.pages_per_block..(block + 1) * self.pages_per_block {
            let owner = self.owners[place as usize];
            if owner != NONE {
                self.append(owner);
                moved += 1;
            }
        }
        self.free.push(block);
        moved
    }
}

/// Write amplification under uniform random writes and FIFO cleaning.
pub fn fifo_write_amplification(spare_factor: f64) -> f64 {
    let a = spare_factor;
    let argument = -a * (-a).exp();
    // Newton's method for w e^w = argument on the branch above -1.
    let mut w = argument;
    for _ in 0..100 {
        let power = f64::exp(w);
        w -= (w * power - argument) / (power * (w + 1.0));
    }
    a / (a + w)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{Purpose, Stream};

    /// Write amplification in steady state.
    fn amplification(spare: f64, cleaning: Cleaning) -> (f64, f64) {
        let (blocks, pages) = (512, 64);
        let user = (f64::from((blocks - 2) * pages) / spare) as u32;
        let mut log = DieMapping::new(blocks, pages, user, 1, cleaning);
        let mut stream = Stream::new(7, 0, Purpose::Device);
        (0..user).for_each(|page| {
            log.write(page);
        });
        let mut moved = 0_u64;
        let rounds = 10 * u64::from(user);
        for round in 0..2 * rounds {
            let effort = log.write(stream.below(u64::from(user)) as u32);
            if round >= rounds {
                moved += u64::from(effort.moved);
            }
        }
        let usable = f64::from((blocks - 1) * pages);
        (1.0 + moved as f64 / rounds as f64, usable / f64::from(user))
    }

    #[test]
    fn fifo_cleaning_costs_what_theory_says_and_greedy_costs_less() {
        for spare in [1.07, 1.28] {
            let (found, factor) = amplification(spare, Cleaning::Fifo);
            let theory = fifo_write_amplification(factor);
            assert!(
                (found / theory - 1.0).abs() < 0.03,
                "{spare}: {found} and not {theory}"
            );
            let (greedy, _) = amplification(spare, Cleaning::Greedy);
            assert!(greedy < found, "{spare}: greedy {greedy}, FIFO {found}");
        }
    }

    #[test]
    fn theory_is_the_published_table() {
        let published = [(1.07, 8.0), (1.28, 2.6)];
        for (spare, about) in published {
            let found = fifo_write_amplification(spare);
            assert!((found / about - 1.0).abs() < 0.1, "{spare}: {found}");
        }
    }

    #[test]
    fn a_log_that_is_filled_in_order_is_cleaned_for_nothing() {
        let mut log = DieMapping::new(64, 16, 700, 2, Cleaning::Fifo);
        let moved: u32 = (0..7000).map(|round| log.write(round % 700).moved).sum();
        assert_eq!(moved, 0);
    }
}
