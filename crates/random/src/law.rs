//! Why a law cannot be built: an invalid parameter.

/// A parameter outside its law's bounds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{name} is {value}, and must be {bounds}")]
pub struct LawError {
    /// Name of the parameter.
    pub name: &'static str,
    /// The given value.
    pub value: f64,
    /// The allowed range.
    pub bounds: &'static str,
}

/// Allowed range of a finite number above zero.
pub(crate) const POSITIVE: &str = "above zero and finite";

/// The value, if it is finite and within its bounds.
pub(crate) fn checked(
    name: &'static str,
    value: f64,
    bounds: &'static str,
    is_allowed: impl FnOnce(f64) -> bool,
) -> Result<f64, LawError> {
    if value.is_finite() && is_allowed(value) {
        return Ok(value);
    }
    Err(LawError {
        name,
        value,
        bounds,
    })
}

/// A finite number above zero.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, LawError> {
    checked(name, value, POSITIVE, |value| value > 0.0)
}
