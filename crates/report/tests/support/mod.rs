//! What tests of several reports share.

const SCHEMA: &str = include_str!("../../../../docs/json-schema.md");

/// Every key of a JSON text of ours is named in docs/json-schema.md.
#[track_caller]
pub fn assert_documented(text: &str) {
    for line in text.lines() {
        let key = line
            .trim()
            .strip_prefix('"')
            .and_then(|it| it.split_once("\":"));
        if let Some((key, _)) = key {
            assert!(
                SCHEMA.contains(&format!("`{key}`")),
                "{key} is not documented"
            );
        }
    }
}
