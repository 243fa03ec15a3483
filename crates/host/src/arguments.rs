//! The command-line arguments, for the record.

/// The arguments of this process after the first `left_out`, counting its own name as the first.
/// Invalid UTF-8 is recorded with the replacement character.
pub fn typed_arguments(left_out: usize) -> Vec<String> {
    let typed = std::env::args_os().skip(left_out);
    typed.map(|it| it.to_string_lossy().into_owned()).collect()
}
