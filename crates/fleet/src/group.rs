//! Rounds in which all ranks take part, and what is said between them.
//!
//! The collective calls of MPI cannot be given up: where a rank is dead the others wait for ever,
//! and some libraries keep a processor busy meanwhile, which is the one that the load is made on.
//! So a round is made of single messages: rank 0 sends to each, and each sends to rank 0. A rank
//! that nothing is heard of is named.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use units::{Duration, Instant};

use crate::clock::Exchange;
use crate::deal::ClientShare;
use crate::fleet::{Fleet, FleetError};
use crate::letter::{Letter, LetterKind};

/// The rank that leads.
const LEADER: u32 = 0;
/// How often a rank that is busy with something else says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// How long a wait lasts before it is seen who is silent.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// For how long a rank that was asked for its clock waits for the next question before it goes on
/// with what else it does: the questions of a burst follow each other.
const LINGER: Duration = Duration::from_millis(2);

/// What ranks sent, and the first of those that did not.
pub type Living = (Vec<Option<Vec<u8>>>, Option<FleetError>);

/// A fleet, with what was heard and not asked for yet.
pub struct FleetGroup {
    fleet: Box<dyn Fleet>,
    /// For how long a rank that is waited for may be silent.
    patience: Duration,
    round: u32,
    question: u32,
    rounds: BTreeMap<(u32, u32), Vec<u8>>,
    notes: VecDeque<(u32, Vec<u8>)>,
    answer: Option<(u32, Instant)>,
    /// When this rank was last asked for its clock.
    asked: Instant,
    heard: Vec<Instant>,
    /// Ranks that were waited for in vain: nobody waits for them again before they are heard.
    given_up: BTreeSet<u32>,
    alive_sent: Instant,
}

impl FleetGroup {
    /// The ranks of a fleet. One of them that is waited for may be silent for as long as
    /// `patience`: those that are at work call [`FleetGroup::tick`] meanwhile.
    pub fn new(fleet: Box<dyn Fleet>, patience: Duration) -> Self {
        let now = fleet.now();
        Self {
            heard: vec![now; fleet.size() as usize],
            alive_sent: now,
            fleet,
            patience,
            round: 0,
            question: 0,
            rounds: BTreeMap::new(),
            notes: VecDeque::new(),
            answer: None,
            asked: Instant::START,
            given_up: BTreeSet::new(),
        }
    }

    /// Which rank this is, of how many.
    pub fn share(&self) -> ClientShare {
        ClientShare {
            rank: self.fleet.rank(),
            ranks: self.fleet.size(),
        }
    }

    /// Whether this rank leads.
    pub fn leads(&self) -> bool {
        self.fleet.rank() == LEADER
    }

    /// The present instant on this rank's clock.
    pub fn now(&self) -> Instant {
        self.fleet.now()
    }

    /// Give all ranks the bytes of rank 0; the others' are not looked at.
    ///
    /// # Errors
    /// When rank 0 is silent, or the library fails.
    pub fn broadcast(&mut self, bytes: &[u8]) -> Result<Vec<u8>, FleetError> {
        self.round += 1;
        if self.leads() {
            for rank in 1..self.fleet.size() {
                self.send(rank, LetterKind::Round, self.round, bytes)?;
            }
            return Ok(bytes.to_vec());
        }
        let mut found = self.collect(&[LEADER])?;
        Ok(found.pop().unwrap_or_default())
    }

    /// Bring the bytes of all ranks to rank 0, which gets them in the order of the ranks; the
    /// others get nothing, and do not wait.
    ///
    /// # Errors
    /// When a rank is silent, or the library fails.
    pub fn gather(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, FleetError> {
        self.round += 1;
        if !self.leads() {
            self.send(LEADER, LetterKind::Round, self.round, bytes)?;
            return Ok(Vec::new());
        }
        let others: Vec<u32> = (1..self.fleet.size()).collect();
        let mut all = vec![bytes.to_vec()];
        all.extend(self.collect(&others)?);
        Ok(all)
    }

    /// The same where ranks may be dead: nothing of those that are silent, and which was the first.
    ///
    /// # Errors
    /// When the library fails, or a rank sends something else.
    pub fn gather_living(&mut self, bytes: &[u8]) -> Result<Living, FleetError> {
        self.round += 1;
        let others: Vec<u32> = (1..self.fleet.size()).collect();
        // They were at work until now, and said that they are alive: silence has counted since.
        let begun = self.fleet.now();
        let since = begun
            .as_nanos()
            .saturating_sub(self.patience.as_nanos() / 4 * 3);
        let (found, silent) = self.collect_living(&others, Instant(since))?;
        let mut all = vec![Some(bytes.to_vec())];
        all.extend(found);
        Ok((all, silent))
    }

    /// Go on when all ranks are here. Never in a section that is timed.
    ///
    /// # Errors
    /// When a rank is silent, or the library fails.
    pub fn barrier(&mut self) -> Result<(), FleetError> {
        self.all_reduce(0, u64::max).map(drop)
    }

    /// Give all ranks what `join` makes of their numbers, in the order of the ranks.
    ///
    /// # Errors
    /// On all ranks, when one is silent or sends no number, or the library fails.
    pub fn all_reduce(&mut self, own: u64, join: fn(u64, u64) -> u64) -> Result<u64, FleetError> {
        if !self.leads() {
            self.gather(&own.to_le_bytes())?;
            let sent = self.broadcast(&[])?;
            return match sent.is_empty() {
                true => Err(unexpected(LEADER, "no number, as a rank is missing")),
                false => number(LEADER, &sent),
            };
        }
        let joined = self.joined(own, join);
        // The others wait for an answer, and would be waited for in the next round.
        let sent = joined.as_ref().map(|it| it.to_le_bytes().to_vec());
        self.broadcast(&sent.unwrap_or_default())?;
        joined
    }

    /// What `join` makes of the numbers that all ranks send to this one.
    fn joined(&mut self, own: u64, join: fn(u64, u64) -> u64) -> Result<u64, FleetError> {
        let all = self.gather(&own.to_le_bytes())?;
        (0..)
            .zip(&all)
            .skip(1)
            .try_fold(own, |joined, (rank, bytes)| {
                Ok(join(joined, number(rank, bytes)?))
            })
    }

    /// Send a rank something outside of rounds.
    ///
    /// # Errors
    /// When the library fails.
    pub fn note(&mut self, to: u32, bytes: &[u8]) -> Result<(), FleetError> {
        self.send(to, LetterKind::Note, 0, bytes)
    }

    /// Send all other ranks something outside of rounds.
    ///
    /// # Errors
    /// When the library fails.
    pub fn note_all(&mut self, bytes: &[u8]) -> Result<(), FleetError> {
        (0..self.fleet.size())
            .filter(|rank| *rank != self.fleet.rank())
            .collect::<Vec<_>>()
            .into_iter()
            .try_for_each(|rank| self.note(rank, bytes))
    }

    /// The next note, if one comes before `until`, and who sent it.
    ///
    /// # Errors
    /// When the library fails.
    pub fn next_note(&mut self, until: Instant) -> Result<Option<(u32, Vec<u8>)>, FleetError> {
        while self.notes.is_empty() && self.poll(until)? {}
        Ok(self.notes.pop_front())
    }

    /// Say that this rank is alive where it has not for a while, answer questions, and take what
    /// has come.
    ///
    /// # Errors
    /// When the library fails.
    pub fn tick(&mut self) -> Result<(), FleetError> {
        loop {
            let lingers = self.fleet.now().since(self.asked) < LINGER;
            let until = if lingers && self.asked > Instant::START {
                self.asked + LINGER
            } else {
                Instant::START
            };
            if !self.poll(until)? {
                break;
            }
        }
        let now = self.fleet.now();
        if now.since(self.alive_sent) < ALIVE_EVERY {
            return Ok(());
        }
        self.alive_sent = now;
        let to = if self.leads() {
            1..self.fleet.size()
        } else {
            LEADER..LEADER + 1
        };
        for rank in to {
            self.send(rank, LetterKind::Alive, 0, &[])?;
        }
        Ok(())
    }

    /// The first of those ranks that nothing was heard of since `since`, for longer than patience,
    /// or that was found so before.
    pub fn silent_since(&mut self, since: Instant, ranks: &[u32]) -> Option<FleetError> {
        let now = self.fleet.now();
        ranks.iter().find_map(|&rank| {
            let heard = self.heard[rank as usize];
            let is_silent = now.since(heard.max(since)) > self.patience;
            if is_silent {
                self.given_up.insert(rank);
            }
            let silent = now.since(heard);
            let is_given_up = self.given_up.contains(&rank);
            is_given_up.then_some(FleetError::Silent { rank, silent })
        })
    }

    /// Ask a rank for its clock, `times` times in a row. It must be waiting meanwhile.
    ///
    /// # Errors
    /// When the rank is silent, or the library fails.
    pub fn read_clock(&mut self, rank: u32, times: u32) -> Result<Vec<Exchange>, FleetError> {
        let mut burst = Vec::with_capacity(times as usize);
        for _ in 0..times.max(1) {
            let asked = self.ask(rank)?;
            let exchange = loop {
                if let Some(exchange) = self.answer(asked, self.fleet.now() + LOOK_EVERY)? {
                    break exchange;
                }
                if let Some(silent) = self.silent_since(asked, &[rank]) {
                    return Err(silent);
                }
            };
            burst.push(exchange);
        }
        Ok(burst)
    }

    /// The same of a rank that is at work and looks up now and then: the answers that come before
    /// `until`, without the first, which waited for it to look up.
    ///
    /// # Errors
    /// When the library fails.
    pub fn glance_at_clock(
        &mut self,
        rank: u32,
        times: u32,
        until: Instant,
    ) -> Result<Vec<Exchange>, FleetError> {
        let mut burst = Vec::with_capacity(times as usize);
        for index in 0..=times {
            let asked = self.ask(rank)?;
            match self.answer(asked, until)? {
                Some(exchange) if index > 0 => burst.push(exchange),
                Some(_) => {}
                None => break,
            }
        }
        Ok(burst)
    }

    /// Part from the others: no message comes or goes after it.
    ///
    /// # Errors
    /// When the library fails.
    pub fn leave(&mut self) -> Result<(), FleetError> {
        self.fleet.leave()
    }

    /// End all ranks at once with that exit code.
    pub fn abort(&mut self, code: i32) {
        self.fleet.abort(code);
    }

    /// Ask a rank for its clock; when, on this one.
    fn ask(&mut self, rank: u32) -> Result<Instant, FleetError> {
        self.question += 1;
        let asked = self.fleet.now();
        self.send(rank, LetterKind::Ask, self.question, &[])?;
        Ok(asked)
    }

    /// The answer to the last question, if it comes before `until`.
    fn answer(&mut self, asked: Instant, until: Instant) -> Result<Option<Exchange>, FleetError> {
        while self.poll(until)? {
            // Before anything else: what is done before it is read makes the round trip longer.
            let heard = self.fleet.now();
            if let Some((_, answered)) = self.answer.take_if(|it| it.0 == self.question) {
                return Ok(Some(Exchange {
                    asked,
                    answered,
                    heard,
                }));
            }
        }
        Ok(None)
    }

    /// What those ranks send in this round, in their order.
    fn collect(&mut self, ranks: &[u32]) -> Result<Vec<Vec<u8>>, FleetError> {
        let (found, silent) = self.collect_living(ranks, self.fleet.now())?;
        match silent {
            Some(silent) => Err(silent),
            None => Ok(found.into_iter().flatten().collect()),
        }
    }

    /// The same of those that are not silent since `begun`, and the first that is.
    fn collect_living(&mut self, ranks: &[u32], begun: Instant) -> Result<Living, FleetError> {
        let mut found: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        loop {
            self.take_round(&mut found)?;
            let missing = ranks.iter().filter(|rank| !found.contains_key(rank));
            let missing: Vec<u32> = missing.copied().collect();
            let mut silent = None;
            let mut has_hope = false;
            for rank in &missing {
                let found = self.silent_since(begun, &[*rank]);
                has_hope |= found.is_none();
                silent = silent.or(found);
            }
            if !has_hope {
                let all = ranks.iter().map(|rank| found.remove(rank)).collect();
                return Ok((all, silent));
            }
            if self.poll(self.fleet.now() + LOOK_EVERY)? {
                while self.poll(Instant::START)? {}
            }
            self.tick()?;
        }
    }

    /// Take what has come of this round.
    fn take_round(&mut self, found: &mut BTreeMap<u32, Vec<u8>>) -> Result<(), FleetError> {
        while let Some(entry) = self.rounds.first_entry() {
            let (number, rank) = *entry.key();
            if number > self.round {
                break;
            }
            let body = entry.remove();
            if number < self.round {
                let what = format!("a letter of round {number} in round {}", self.round);
                return Err(FleetError::Unexpected { rank, what });
            }
            found.insert(rank, body);
        }
        Ok(())
    }

    /// Take one message, if one comes before `until`; whether one came.
    fn poll(&mut self, until: Instant) -> Result<bool, FleetError> {
        let Some(message) = self.fleet.receive(until)? else {
            return Ok(false);
        };
        let from = message.from;
        let unexpected = |what: &str| FleetError::Unexpected {
            rank: from,
            what: what.into(),
        };
        let letter =
            Letter::from_bytes(&message.bytes).ok_or_else(|| unexpected("no letter of ours"))?;
        let now = self.fleet.now();
        let heard = self.heard.get_mut(from as usize);
        *heard.ok_or_else(|| unexpected("a letter without being one of us"))? = now;
        self.given_up.remove(&from);
        match letter.kind {
            LetterKind::Round => {
                self.rounds.insert((letter.number, from), letter.body);
            }
            LetterKind::Note => self.notes.push_back((from, letter.body)),
            LetterKind::Ask => {
                self.asked = now;
                let own = now.as_nanos().to_le_bytes();
                self.send(from, LetterKind::Answer, letter.number, &own)?;
            }
            LetterKind::Answer => {
                let answered = number(from, &letter.body)?;
                self.answer = Some((letter.number, Instant(answered)));
            }
            LetterKind::Alive => {}
        }
        Ok(true)
    }

    fn send(
        &mut self,
        to: u32,
        kind: LetterKind,
        number: u32,
        body: &[u8],
    ) -> Result<(), FleetError> {
        let letter = Letter {
            kind,
            number,
            body: body.to_vec(),
        };
        self.fleet.send(to, &letter.to_bytes())
    }
}

fn number(rank: u32, bytes: &[u8]) -> Result<u64, FleetError> {
    let bytes = bytes.try_into().map_err(|_| {
        let what = format!("{} bytes where a number was asked for", bytes.len());
        unexpected(rank, &what)
    })?;
    Ok(u64::from_le_bytes(bytes))
}

fn unexpected(rank: u32, what: &str) -> FleetError {
    FleetError::Unexpected {
        rank,
        what: what.to_owned(),
    }
}
