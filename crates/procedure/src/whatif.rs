//! From a measured curve to a model, its accuracy on unseen data, and predictions.
//!
//! Fits eight small models of a closed system. The choice depends on how well each predicts
//! held-out points, never on how well it fits, and no prediction is made without that score.
//! Equations, rules and limits: `docs/whatif.md`.

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
