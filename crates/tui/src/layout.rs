//! Positions of the windows: rectangles that share their edges.
//!
//! At 80 x 24 the windows of the 1995 screen fill the display. More rows first show more of the
//! workloads, then the precision and the warnings, then the curve; a wide display has the curve on
//! the right.

use ratatui::layout::Rect;
use results::live::Live;

use crate::summary;
use crate::view::ViewState;

/// Minimum size for the windows.
const WIDTH_MIN: u16 = 80;
const HEIGHT_MIN: u16 = 23;
/// From this size on, the curve is on the right.
const WIDTH_BESIDE: u16 = 150;
const HEIGHT_BESIDE: u16 = 30;
/// Minimum width of a curve on the right.
const CURVE_COLUMNS: u16 = 90;
/// Columns of the windows on the left.
const LEFT_COLUMNS: (u16, u16) = (80, summary::FULL_COLUMNS + 2);
/// From this width on, with enough rows, the curve is below the tables.
const WIDTH_BELOW: u16 = 100;
const CURVE_ROWS: u16 = 10;
/// Rows inside the windows.
const STATUS_ROWS: u16 = 4;
const VERBOSE_ROWS: u16 = 5;
const OPERATOR_ROWS: u16 = 1;
/// Rows kept for the precision beside a curve.
const PRECISION_KEPT: u16 = 8;
/// Minimum rows of a precision window.
const PRECISION_ROWS: u16 = 3;
/// Width inside the state window.
const STATE_COLUMNS: u16 = 11;

/// Windows with their frames. Neighbours have their common edge in both rectangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowFrames {
    pub status: Rect,
    pub configuration: Rect,
    pub summary: Option<Rect>,
    pub verbose: Option<Rect>,
    pub curve: Option<Rect>,
    pub precision: Option<Rect>,
    pub operator: Rect,
    pub state: Rect,
    /// The last row, without a frame; empty if there is no space for it.
    pub foot: Rect,
}

/// Rows inside the windows that are stacked; zero for absent ones.
struct WindowRows {
    summary: u16,
    verbose: u16,
    extra: u16,
}

impl WindowFrames {
    /// The windows for a display of this size; `None` if they do not fit.
    pub(crate) fn of(area: Rect, live: &Live, view: &ViewState) -> Option<Self> {
        if area.width < WIDTH_MIN || area.height < HEIGHT_MIN {
            return None;
        }
        // One row less than 24, as with a multiplexer's status line, removes the foot.
        let foot_rows = u16::from(area.height > HEIGHT_MIN);
        let body = Rect {
            height: area.height - foot_rows,
            ..area
        };
        let foot = Rect {
            y: body.bottom(),
            height: foot_rows,
            ..area
        };
        if area.width >= WIDTH_BESIDE && area.height >= HEIGHT_BESIDE {
            let columns = (area.width - CURVE_COLUMNS).clamp(LEFT_COLUMNS.0, LEFT_COLUMNS.1);
            let (left, right) = halves(body, columns);
            let mut plan = Self::stacked(left, foot, &rows(left, live, PRECISION_KEPT));
            plan.curve = Some(right);
            return Some(plan);
        }
        let has_room = area.width >= WIDTH_BELOW;
        let curve_rows = if has_room { CURVE_ROWS } else { 0 };
        let rows = rows(body, live, curve_rows);
        let has_curve = has_room && rows.extra >= CURVE_ROWS;
        let mut plan = Self::stacked(body, foot, &rows);
        if has_curve {
            plan.below();
        } else if view.shows_curve {
            plan.instead();
        }
        Some(plan)
    }

    fn stacked(body: Rect, foot: Rect, rows: &WindowRows) -> Self {
        let mut top = body.y;
        let mut window = |inside: u16| {
            let area = Rect {
                y: top,
                height: inside + 2,
                ..body
            };
            // The lower edge is the next window's upper one.
            top += inside + 1;
            area
        };
        let head = window(STATUS_ROWS);
        let summary = window(rows.summary);
        let verbose = window(rows.verbose);
        let precision = (rows.extra > 0).then(|| window(rows.extra));
        let bottom = window(OPERATOR_ROWS);
        let (status, configuration) = halves(head, head.width / 2);
        let (operator, state) = halves(bottom, bottom.width - STATE_COLUMNS - 1);
        Self {
            status,
            configuration,
            summary: Some(summary),
            verbose: Some(verbose),
            curve: None,
            precision,
            operator,
            state,
            foot,
        }
    }

    /// The curve is beside the precision.
    fn below(&mut self) {
        let Some(area) = self.precision else { return };
        let (curve, precision) = halves(area, area.width - area.width / 3);
        self.curve = Some(curve);
        self.precision = Some(precision);
    }

    /// The curve replaces the tables.
    fn instead(&mut self) {
        let tables = self.summary.take().into_iter().chain(self.verbose.take());
        self.curve = tables.reduce(Rect::union);
    }
}

/// Splits into a left part of this width and the rest, with the edge in both.
fn halves(area: Rect, columns: u16) -> (Rect, Rect) {
    let left = Rect {
        width: columns,
        ..area
    };
    let x = left.right() - 1;
    (
        left,
        Rect {
            x,
            width: area.right() - x,
            ..area
        },
    )
}

/// Distributes the rows: the summary gets what it can use as long as the window below keeps
/// `reserved` rows.
fn rows(body: Rect, live: &Live, reserved: u16) -> WindowRows {
    let frames = 5;
    let others = STATUS_ROWS + VERBOSE_ROWS + OPERATOR_ROWS + frames;
    let room = body.height - others;
    let spare = room.saturating_sub(summary::ROWS_MIN);
    let kept = if spare > reserved { reserved + 1 } else { 0 };
    let (named, plain) = summary::wanted_rows(live, body.width - 2);
    let fits = named <= summary::ROWS_MIN + spare - kept;
    let wanted = if fits { named } else { plain };
    let more = wanted.saturating_sub(summary::ROWS_MIN).min(spare - kept);
    let left_over = spare - more;
    let (extra, unused) = if left_over > PRECISION_ROWS {
        (left_over - 1, 0)
    } else {
        (0, left_over)
    };
    WindowRows {
        summary: summary::ROWS_MIN + more + unused,
        verbose: VERBOSE_ROWS,
        extra,
    }
}
