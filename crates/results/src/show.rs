//! How a screen shows a table: what of it there is room for, and in which form. Pages and files
//! have all of it.

use serde::{Deserialize, Serialize};

/// What a kind of measurement says about the look of one of its tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Show {
    /// In which form.
    #[serde(skip_serializing_if = "TableShape::is_rows")]
    pub shape: TableShape,
    /// Whether only those who ask for everything see it on a screen.
    #[serde(skip_serializing_if = "is_false")]
    pub is_detail: bool,
    /// Whether the trials that it sums up stand on a screen, too.
    #[serde(skip_serializing_if = "is_false")]
    pub with_trials: bool,
    /// The factor whose levels have a heading and a table each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouped_by: Option<String>,
    /// The factor whose levels have columns of their own, side by side; not for those who ask for
    /// everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_by_side: Option<String>,
    /// The metrics of the columns, the most important first; empty: all but details.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Rows that a screen has room for: the first, the last, and some between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_max: Option<usize>,
    /// The metric that is drawn as a bar, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<String>,
    /// The metric that is a ratio to something: it is drawn with its interval around 1, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around_one: Option<String>,
    /// Whether columns for which there is no room stand in further tables below.
    #[serde(skip_serializing_if = "is_false")]
    pub in_parts: bool,
    /// Whether percentiles of all its rows are drawn on a page, in one picture for each time.
    #[serde(skip_serializing_if = "is_false")]
    pub by_nines: bool,
    /// Whether its rows are ranked by their headline on a page, the best first.
    #[serde(skip_serializing_if = "is_false")]
    pub is_ranked: bool,
    /// What else is drawn on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plot: Option<PlotOf>,
    /// What a repetition is called: those who ask for everything see each. None: they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
}

/// The form of a table on a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableShape {
    /// A line for each row.
    #[default]
    Rows,
    /// A line for each level of one factor, a column for each of another, and the headline figure
    /// in each cell; not for those who ask for everything.
    Matrix {
        /// The factor of the lines.
        down: String,
        /// The factor of the columns.
        across: String,
        /// Factors whose levels have columns of their own, too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        besides: Vec<String>,
        /// The metric that stands behind each headline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        each: Option<String>,
    },
    /// A line for each metric, a column for each row.
    Metrics,
}

/// A line for each level of a factor: metrics over another metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlotOf {
    /// What the picture shows.
    pub title: String,
    /// The metric of the axis across.
    pub x: String,
    /// The metrics of the lines, all in one unit: the first with its intervals.
    pub y: Vec<String>,
    /// The factor that has a picture for each of its levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl TableShape {
    fn is_rows(&self) -> bool {
        *self == Self::Rows
    }
}

impl Show {
    /// Whether a table is shown as every table is.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Only for those who ask for everything.
    #[must_use]
    pub fn detail() -> Self {
        Self {
            is_detail: true,
            ..Self::default()
        }
    }

    /// Beside the trials that it sums up.
    #[must_use]
    pub fn with_trials(mut self) -> Self {
        self.with_trials = true;
        self
    }

    /// With these columns.
    #[must_use]
    pub fn columns(mut self, columns: &str) -> Self {
        self.columns = columns.split(' ').map(str::to_owned).collect();
        self
    }

    /// With a table for each level of that factor.
    #[must_use]
    pub fn grouped_by(mut self, factor: &str) -> Self {
        self.grouped_by = Some(factor.to_owned());
        self
    }

    /// With columns for each level of that factor.
    #[must_use]
    pub fn side_by_side(mut self, factor: &str) -> Self {
        self.side_by_side = Some(factor.to_owned());
        self
    }

    /// With at most so many rows, and that metric as a bar.
    #[must_use]
    pub fn at_most(mut self, rows: usize) -> Self {
        self.rows_max = Some(rows);
        self
    }

    /// With a bar for that metric.
    #[must_use]
    pub fn bar(mut self, metric: &str) -> Self {
        self.bar = Some(metric.to_owned());
        self
    }

    /// With that metric around 1.
    #[must_use]
    pub fn around_one(mut self, ratio: &str) -> Self {
        self.around_one = Some(ratio.to_owned());
        self
    }

    /// With every column and its interval, in as many tables as that takes.
    #[must_use]
    pub fn in_parts(mut self) -> Self {
        self.in_parts = true;
        self
    }

    /// With the levels of two factors as lines and columns.
    #[must_use]
    pub fn matrix(self, down: &str, across: &str) -> Self {
        let [down, across] = [down, across].map(str::to_owned);
        let shape = TableShape::Matrix {
            down,
            across,
            besides: Vec::new(),
            each: None,
        };
        Self { shape, ..self }
    }

    /// The same matrix with a column for each level of these factors, too, and with that metric
    /// behind each headline.
    #[must_use]
    pub fn with_each(mut self, factors: &[&str], metric: &str) -> Self {
        if let TableShape::Matrix { besides, each, .. } = &mut self.shape {
            besides.extend(factors.iter().map(|it| (*it).to_owned()));
            *each = Some(metric.to_owned());
        }
        self
    }

    /// With a line for each metric.
    #[must_use]
    pub fn by_metric(mut self) -> Self {
        self.shape = TableShape::Metrics;
        self
    }

    /// With each repetition, under that name, for those who ask for everything.
    #[must_use]
    pub fn each(mut self, repetition: &str) -> Self {
        self.each = Some(repetition.to_owned());
        self
    }

    /// With a picture.
    #[must_use]
    pub fn plot(mut self, plot: PlotOf) -> Self {
        self.plot = Some(plot);
        self
    }
}

/// Whether it is left out of the JSON form.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
pub(crate) fn is_false(it: &bool) -> bool {
    !*it
}
