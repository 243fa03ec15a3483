//! Every table that the five documents have published, and where each figure of it is accounted
//! for: next to a simulated one, in a test, in a definition, or nowhere, with the reason.

mod diskmbps;
mod diskrand;
mod kp3;
mod rpt;

/// A table, or a log with figures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedTable {
    pub document: &'static str,
    pub place: &'static str,
    /// Its figures, without those that say what was run.
    pub figures: usize,
    /// What becomes of them.
    pub parts: &'static [TablePart],
}

/// Figures of a table that have the same lot.
#[derive(Clone, Copy, Debug)]
pub struct TablePart {
    /// How many there are. None where a row stands next to the document's words.
    pub figures: usize,
    /// Which ones.
    pub which: &'static str,
    /// What becomes of them.
    pub account: FigureAccount,
}

/// What becomes of published figures.
#[derive(Clone, Copy, Debug)]
pub enum FigureAccount {
    /// They stand in rows of `seekstone devices validate`, which judges them or says why not.
    Compared {
        /// Title of the table there.
        title: &'static str,
        /// Its rows; all of them where none is named. A row may stand for several figures of a log.
        rows: &'static [&'static str],
    },
    /// They follow from others, or a definition was made of them.
    Given(&'static str),
    /// A test has them.
    Tested(&'static str),
    /// No model gives them, for this reason.
    Unreached(&'static str),
}

/// Every table, document by document.
pub fn published_tables() -> impl Iterator<Item = &'static PublishedTable> {
    let documents = [rpt::TABLES, diskmbps::TABLES, diskrand::TABLES, kp3::TABLES];
    documents.into_iter().flatten()
}

const fn compared(figures: usize, title: &'static str, rows: &'static [&'static str]) -> TablePart {
    TablePart {
        figures,
        which: "",
        account: FigureAccount::Compared { title, rows },
    }
}

const fn given(figures: usize, which: &'static str, why: &'static str) -> TablePart {
    TablePart {
        figures,
        which,
        account: FigureAccount::Given(why),
    }
}

const fn tested(figures: usize, which: &'static str, test: &'static str) -> TablePart {
    TablePart {
        figures,
        which,
        account: FigureAccount::Tested(test),
    }
}

const fn unreached(figures: usize, which: &'static str, why: &'static str) -> TablePart {
    TablePart {
        figures,
        which,
        account: FigureAccount::Unreached(why),
    }
}
