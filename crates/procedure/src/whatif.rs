//! From a measured curve to a model, its scores on data that it did not see, and predictions.
//!
//! Eight small models of a closed system are fitted. The choice goes by how well each predicts
//! points that were left out, never by how well it fits those it saw; and no prediction is made
//! without that score. Equations, rules and limits: `docs/whatif.md`.

mod cache;
mod evidence;
mod fit;
mod model;
mod network;
mod predict;
mod score;

pub use cache::{CacheClasses, cache_classes};
pub use evidence::{Evidence, EvidenceError, LoadPoint, curve_evidence, evidence};
pub use network::ProcessorDemand;
pub use predict::{Inquiry, QuestionError, SystemChange, WhatIfQuestion};
pub use score::{Analysis, GROUPS_MIN, RMS_MAX};
