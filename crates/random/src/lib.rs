//! One seeded stream per (seed, client, purpose), and the distributions drawn from it.
//!
//! Everything here is fixed: the generator is PCG64, and bounded draws, logarithms and
//! distributions are implemented here, so that an archived seed gives the same operations on every
//! machine and with every version of any library. Constructors of laws return an error for invalid
//! parameters. Knows nothing about clocks or operations.

mod arithmetic;
mod exponential;
mod gap;
mod law;
mod log_normal;
mod permutation;
mod places;
mod step;
mod stream;
mod zipf;

pub use exponential::standard_exponential;
pub use gap::{GapProcess, GapShape};
pub use law::LawError;
pub use log_normal::LogNormal;
pub use permutation::Permutation;
pub use places::{AroundMiddle, SelfSimilar};
pub use step::{ExponentialStep, ParetoStep, wrap_step};
pub use stream::{Purpose, Stream};
pub use zipf::Zipf;
