//! Parquet files, in a build without them.

use results::Run;
use units::LeftOut;

/// That this build has none, and how to get one that has.
pub const PARQUET_LEFT_OUT: Option<LeftOut> = Some(LEFT_OUT);
const LEFT_OUT: LeftOut = LeftOut {
    ability: "Parquet files",
    feature: "parquet",
};

/// Refuse.
///
/// # Errors
/// Always.
pub const fn parquet_figures(_: &[Run]) -> Result<Vec<u8>, LeftOut> {
    Err(LEFT_OUT)
}
