//! What a browser asks the server of an archive for.

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(ids) = report::runs_asked(text) {
        assert!(
            (2..=report::RUNS_COMPARED_MAX).contains(&ids.len()),
            "{ids:?}"
        );
        assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    }
}
