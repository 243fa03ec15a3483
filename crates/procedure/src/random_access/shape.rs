//! Defines the cells: sweeps through one base cell, or all combinations.

use results::RandomKind;
use units::Bytes;

/// Minimum number of blocks in a file, or in its default smallest span.
pub const BLOCKS_MIN: u64 = 8;
/// Default factor from one span, block size or depth to the next.
const SPAN_FACTOR: u64 = 4;
const BLOCKS_DEFAULT: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];
const DEPTHS_DEFAULT: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// More cells than this would take days.
const CELLS_MAX: usize = 4096;

/// One kind of operation with fixed settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellPlan {
    /// The kind of operation.
    pub kind: RandomKind,
    /// Bytes from the start of the file over which they are spread.
    pub span: u64,
    /// Bytes of one operation.
    pub block: u64,
    /// Operations outstanding all the time.
    pub depth: u32,
}

/// Requested values from which cells are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomShape {
    /// Kinds of operations.
    pub kinds: Vec<RandomKind>,
    /// Spans, `None` for the whole file; from a few blocks to the whole file by default.
    pub spans: Option<Vec<Option<Bytes>>>,
    /// Block sizes; 4 to 256 KiB by default.
    pub blocks: Option<Vec<Bytes>>,
    /// Depths; 1 to 32 by default.
    pub depths: Option<Vec<u32>>,
    /// Whether to measure all combinations, rather than one sweep at a time.
    pub is_crossed: bool,
}

/// The cells on a file of known size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepCells {
    /// Bytes of the file in use: whole blocks of every size.
    pub size: u64,
    /// Span, block size and depth of the base cell, which all sweeps share.
    pub base: (u64, u64, u32),
    /// Reads before writes, ascending.
    pub plans: Vec<CellPlan>,
}

/// Why the cells are not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The file has too few blocks.
    #[error(
        "{size} holds fewer than {BLOCKS_MIN} blocks of {block}, too few for random \
         access. Use a larger file (or --size), or smaller --blocks"
    )]
    TooSmall {
        /// Bytes of the file.
        size: Bytes,
        /// The largest block, or the least common multiple of all.
        block: Bytes,
    },
    /// A span exceeds the file.
    #[error("--spans {span}: only {size} is in use. Use a smaller span, `all`, or a larger --size")]
    SpanBeyond {
        span: Bytes,
        /// Bytes of the file.
        size: Bytes,
    },
    /// A span is not a multiple of the block.
    #[error("--spans {span} is not a multiple of the block size, {block}")]
    SpanUneven {
        span: Bytes,
        /// Bytes of an operation.
        block: Bytes,
    },
    /// A value is given more than once.
    #[error("{option} names {value} twice")]
    Twice { option: &'static str, value: String },
    /// There are too many combinations.
    #[error("{cells} cells are too many (at most {CELLS_MAX}): use fewer values, or drop --cross")]
    TooMany {
        /// Number of combinations.
        cells: usize,
    },
}

impl RandomShape {
    /// The cells on a file of `size` bytes.
    ///
    /// # Errors
    /// If a value does not fit the file or the others.
    pub fn cells(&self, size: Bytes) -> Result<SweepCells, ShapeError> {
        let blocks = self.blocks(size)?;
        let unit = blocks
            .iter()
            .fold(1, |unit, &block| common_multiple(unit, block));
        let whole = size.0 / unit * unit;
        let largest = blocks[blocks.len() - 1];
        if whole / largest < BLOCKS_MIN {
            let block = Bytes(largest.max(unit.min(size.0)));
            return Err(ShapeError::TooSmall { size, block });
        }
        let spans = self.spans(whole, blocks[0])?;
        let given = self.depths.clone().unwrap_or(DEPTHS_DEFAULT.to_vec());
        let depths = ascending("--depths", given, u32::to_string)?;
        let base = (spans[spans.len() - 1], blocks[0], depths[0]);
        let count = self.kinds.len() * spans.len() * blocks.len() * depths.len();
        if self.is_crossed && count > CELLS_MAX {
            return Err(ShapeError::TooMany { cells: count });
        }
        let mut plans = Vec::new();
        for &kind in &self.kinds {
            let plan = |span, block, depth| CellPlan {
                kind,
                span,
                block,
                depth,
            };
            if self.is_crossed {
                for &span in &spans {
                    // A span that is not a multiple of the block has no such cell.
                    for &block in blocks.iter().filter(|&&block| span.is_multiple_of(block)) {
                        plans.extend(depths.iter().map(|&depth| plan(span, block, depth)));
                    }
                }
                continue;
            }
            plans.extend(spans.iter().map(|&span| plan(span, base.1, base.2)));
            plans.extend(blocks.iter().map(|&block| plan(base.0, block, base.2)));
            plans.extend(depths.iter().map(|&depth| plan(base.0, base.1, depth)));
        }
        plans.sort_unstable();
        plans.dedup();
        Ok(SweepCells {
            size: whole,
            base,
            plans,
        })
    }

    fn blocks(&self, size: Bytes) -> Result<Vec<u64>, ShapeError> {
        let Some(given) = &self.blocks else {
            let fitting = BLOCKS_DEFAULT.into_iter();
            let fitting: Vec<u64> = fitting
                .filter(|block| size.0 / block >= BLOCKS_MIN)
                .collect();
            return if fitting.is_empty() {
                let block = Bytes(BLOCKS_DEFAULT[0]);
                Err(ShapeError::TooSmall { size, block })
            } else {
                Ok(fitting)
            };
        };
        let given = given.iter().map(|block| block.0).collect();
        ascending("--blocks", given, |&block| Bytes(block).to_string())
    }

    fn spans(&self, whole: u64, block: u64) -> Result<Vec<u64>, ShapeError> {
        let Some(given) = &self.spans else {
            let first = BLOCKS_MIN * block;
            let parts = std::iter::successors(Some(first), |span| span.checked_mul(SPAN_FACTOR));
            let parts = parts.take_while(|&span| span < whole);
            return Ok(parts.chain([whole]).collect());
        };
        let size = Bytes(whole);
        let mut spans = Vec::new();
        for span in given {
            let Some(span) = *span else {
                spans.push(whole);
                continue;
            };
            if span > size {
                return Err(ShapeError::SpanBeyond { span, size });
            }
            if !span.0.is_multiple_of(block) {
                let block = Bytes(block);
                return Err(ShapeError::SpanUneven { span, block });
            }
            spans.push(span.0);
        }
        let spans = ascending("--spans", spans, |&span| Bytes(span).to_string())?;
        self.refuse_uneven(&spans)?;
        Ok(spans)
    }

    /// In a sweep of block sizes, all must divide the largest span.
    fn refuse_uneven(&self, spans: &[u64]) -> Result<(), ShapeError> {
        let blocks = self.blocks.iter().flatten();
        let span = spans[spans.len() - 1];
        for &block in blocks.filter(|_| !self.is_crossed) {
            if !span.is_multiple_of(block.0) {
                let span = Bytes(span);
                return Err(ShapeError::SpanUneven { span, block });
            }
        }
        Ok(())
    }
}

/// The values in ascending order, without duplicates.
fn ascending<T: Ord>(
    option: &'static str,
    mut values: Vec<T>,
    name: impl Fn(&T) -> String,
) -> Result<Vec<T>, ShapeError> {
    values.sort_unstable();
    match values.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let value = name(&pair[0]);
            Err(ShapeError::Twice { option, value })
        }
        None => Ok(values),
    }
}

fn common_multiple(a: u64, b: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (a / divisor(a, b)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn shape() -> RandomShape {
        RandomShape {
            kinds: vec![RandomKind::Read],
            spans: None,
            blocks: None,
            depths: None,
            is_crossed: false,
        }
    }

    fn bytes(values: &[u64]) -> Vec<Bytes> {
        values.iter().map(|&value| Bytes(value)).collect()
    }

    #[track_caller]
    fn refused(shape: &RandomShape, size: u64, expected: &str) {
        let error = shape.cells(Bytes(size)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn sweeps_meet_in_one_cell() {
        let cells = shape().cells(Bytes(64 * MIB)).expect("default cells");
        assert_eq!(cells.base, (64 * MIB, 4096, 1));
        let kib = |cell: &CellPlan| (cell.span >> 10, cell.block >> 10, cell.depth);
        let found: Vec<_> = cells.plans.iter().map(kib).collect();
        let whole = 64 << 10;
        let expected = [
            (32, 4, 1),
            (128, 4, 1),
            (512, 4, 1),
            (2048, 4, 1),
            (8192, 4, 1),
            (32_768, 4, 1),
            (whole, 4, 1),
            (whole, 4, 2),
            (whole, 4, 4),
            (whole, 4, 8),
            (whole, 4, 16),
            (whole, 4, 32),
            (whole, 16, 1),
            (whole, 64, 1),
            (whole, 256, 1),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn one_value_fixes_and_all_is_the_whole_file() {
        let shape = RandomShape {
            spans: Some(vec![None, Some(Bytes(MIB))]),
            blocks: Some(bytes(&[8192])),
            depths: Some(vec![4]),
            ..shape()
        };
        // Half a block at the end is left out.
        let cells = shape.cells(Bytes(16 * MIB + 4096)).expect("cells");
        assert_eq!(cells.size, 16 * MIB);
        let found: Vec<_> = cells
            .plans
            .iter()
            .map(|it| (it.span, it.block, it.depth))
            .collect();
        assert_eq!(found, [(MIB, 8192, 4), (16 * MIB, 8192, 4)]);
    }

    #[test]
    fn all_combinations_leave_out_spans_without_whole_blocks() {
        let shape = RandomShape {
            kinds: vec![RandomKind::Read, RandomKind::Write],
            spans: Some(vec![Some(Bytes(32 << 10)), None]),
            blocks: Some(bytes(&[4096, 65_536])),
            depths: Some(vec![1, 8]),
            is_crossed: true,
        };
        let cells = shape.cells(Bytes(MIB)).expect("cells");
        assert_eq!(cells.plans.len(), 2 * (2 + 2 * 2));
        assert!(cells.plans.iter().all(|cell| cell.span >= cell.block));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let with_blocks = |blocks: &[u64]| RandomShape {
            blocks: Some(bytes(blocks)),
            ..shape()
        };
        let with_spans = |spans: &[u64]| RandomShape {
            spans: Some(spans.iter().map(|&span| Some(Bytes(span))).collect()),
            ..shape()
        };
        refused(
            &shape(),
            16 << 10,
            "16 KiB holds fewer than 8 blocks of 4 KiB",
        );
        refused(
            &with_blocks(&[MIB]),
            4 * MIB,
            "4 MiB holds fewer than 8 blocks of 1 MiB",
        );
        refused(
            &with_blocks(&[4096, 4096]),
            MIB,
            "--blocks names 4 KiB twice",
        );
        refused(
            &with_spans(&[2 * MIB]),
            MIB,
            "--spans 2 MiB: only 1 MiB is in use",
        );
        refused(
            &with_spans(&[6000]),
            MIB,
            "is not a multiple of the block size, 4 KiB",
        );
        let spans = [Some(Bytes(MIB)), None];
        let twice = RandomShape {
            spans: Some(spans.to_vec()),
            ..shape()
        };
        refused(&twice, MIB, "--spans names 1 MiB twice");
        let depths = RandomShape {
            depths: Some(vec![3, 3]),
            ..shape()
        };
        refused(&depths, MIB, "--depths names 3 twice");
        let uneven = RandomShape {
            spans: Some(vec![Some(Bytes(32 << 10))]),
            ..with_blocks(&[4096, 65_536])
        };
        refused(
            &uneven,
            MIB,
            "--spans 32 KiB is not a multiple of the block size, 64 KiB",
        );
        let many = RandomShape {
            depths: Some((1..=500).collect()),
            is_crossed: true,
            ..shape()
        };
        refused(&many, 64 * MIB, "are too many");
    }
}
