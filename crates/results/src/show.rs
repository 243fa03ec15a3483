//! Layout of a table on screen: which columns and rows, and in which form. Pages and files have all
//! of them.

use serde::{Deserialize, Serialize};

/// Layout of a table, declared by its kind of measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Show {
    /// Form of the table.
    #[serde(skip_serializing_if = "TableShape::is_rows")]
    pub shape: TableShape,
    /// Whether it is shown only with `--all`.
    #[serde(skip_serializing_if = "is_false")]
    pub is_detail: bool,
    /// Whether the trials that it summarises are also shown.
    #[serde(skip_serializing_if = "is_false")]
    pub with_trials: bool,
    /// Factor whose levels get a table with a heading each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grouped_by: Option<String>,
    /// Factor whose levels get columns side by side, except with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_by_side: Option<String>,
    /// Metrics of the columns, the most important first. Empty means all except details.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Maximum number of rows: the first, the last, and some between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_max: Option<usize>,
    /// Metric that is also drawn as a bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<String>,
    /// Ratio that is also drawn with its interval around 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around_one: Option<String>,
    /// Whether columns that do not fit continue in further tables below.
    #[serde(skip_serializing_if = "is_false")]
    pub in_parts: bool,
    /// Whether the percentiles of all its rows are plotted on a page, in one plot per time.
    #[serde(skip_serializing_if = "is_false")]
    pub by_nines: bool,
    /// Whether rows are ranked by their headline on a page, the best first.
    #[serde(skip_serializing_if = "is_false")]
    pub is_ranked: bool,
    /// Additional plot on a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plot: Option<PlotOf>,
    /// What a repetition is called: those who ask for everything see each. None: they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
}

/// Form of a table on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableShape {
    /// A line per row.
    #[default]
    Rows,
    /// A line per level of one factor, a column per level of another, and the headline in each
    /// cell; not with `--all`.
    Matrix {
        /// Factor of the lines.
        down: String,
        /// Factor of the columns.
        across: String,
        /// Additional factors whose levels get columns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        besides: Vec<String>,
        /// Metric shown after each headline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        each: Option<String>,
    },
    /// A line per metric, a column per row.
    Metrics,
}

/// A plot of metrics over another metric, with a line per level of a factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlotOf {
    /// Title.
    pub title: String,
    /// Metric of the x axis.
    pub x: String,
    /// Metrics of the lines, all in one unit. The first has intervals.
    pub y: Vec<String>,
    /// Factor with a separate plot for each level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl TableShape {
    fn is_rows(&self) -> bool {
        *self == Self::Rows
    }
}

impl Show {
    /// Whether all settings are the defaults.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Shown only with `--all`.
    pub fn detail() -> Self {
        Self {
            is_detail: true,
            ..Self::default()
        }
    }

    /// Shown beside the trials that it summarises.
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

    /// At most `rows` rows, with that metric as a bar.
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

    /// With that ratio drawn around 1.
    #[must_use]
    pub fn around_one(mut self, ratio: &str) -> Self {
        self.around_one = Some(ratio.to_owned());
        self
    }

    /// With all columns and intervals, in as many tables as needed.
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

    /// The same matrix with additional column factors, and that metric after each headline.
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

    /// Lists each repeat with `--all`, under that name.
    #[must_use]
    pub fn each(mut self, repetition: &str) -> Self {
        self.each = Some(repetition.to_owned());
        self
    }

    /// With a plot.
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
