//! What the user typed, for the record.

/// The arguments of this process after the first `left_out`, of which the first is its own name.
/// What is no text is recorded with the replacement character where it is none.
#[must_use]
pub fn typed_arguments(left_out: usize) -> Vec<String> {
    let typed = std::env::args_os().skip(left_out);
    typed.map(|it| it.to_string_lossy().into_owned()).collect()
}
