//! Words and options of other tools, and what does the same here: the rows of `habits.txt`.

/// What the operands of dd begin with that name what it works on.
pub const DD: [&str; 7] = ["if=", "of=", "bs=", "count=", "oflag=", "iflag=", "conv="];

/// A row.
#[derive(Clone, Copy)]
pub struct Habit {
    /// Whose it is, or what it is of.
    pub of: &'static str,
    /// Words that are typed.
    pub typed: &'static str,
    /// What does the same here.
    pub ours: &'static str,
}

/// Rows of a kind, such as `option`.
pub fn habits(kind: &str) -> impl Iterator<Item = Habit> {
    include_str!("habits.txt").lines().filter_map(move |row| {
        let columns: Vec<&str> = row.splitn(4, " | ").collect();
        let [of_kind, of, typed, ours] = columns.try_into().ok()?;
        (of_kind == kind).then_some(Habit { of, typed, ours })
    })
}

/// The first row of a kind that stands for a word, and is of what it must be.
pub fn habit_of(kind: &str, word: &str, is_of: impl Fn(&str) -> bool) -> Option<Habit> {
    let is_typed = |it: &Habit| it.typed.split(' ').any(|typed| typed == word);
    habits(kind).find(|it| is_typed(it) && is_of(it.of))
}

/// The row of a kind that stands for a word.
pub fn habit(kind: &str, word: &str) -> Option<Habit> {
    habit_of(kind, word, |_| true)
}
