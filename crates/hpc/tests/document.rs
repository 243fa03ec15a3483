//! docs/hpc.md holds the answer to every option, as the tables of options have it.

use std::path::Path;

use hpc::{IO500_SECTIONS, IOR_OPTIONS, MDTEST_OPTIONS, options_table};

/// Put a table between its marks, or compare it, without `WRITE_DOCUMENTS=1`.
fn check(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hpc.md");
    let text = std::fs::read_to_string(&path).expect("docs/hpc.md");
    let begin = format!("<!-- {name}: written by the test `document` of crates/hpc -->\n\n");
    let end = format!("\n<!-- end of {name} -->\n");
    let (before, rest) = text.split_once(&begin).expect("where the options begin");
    let (found, after) = rest.split_once(&end).expect("where they end");
    if std::env::var_os("WRITE_DOCUMENTS").is_some() {
        let text = format!("{before}{begin}{expected}{end}{after}");
        std::fs::write(&path, text).expect("docs/hpc.md can be written");
        return;
    }
    assert_eq!(
        found, expected,
        "WRITE_DOCUMENTS=1 cargo test -p hpc --test document writes it"
    );
}

#[test]
fn the_document_has_the_answer_to_every_option() {
    check("ior", &options_table(IOR_OPTIONS));
    check("mdtest", &options_table(MDTEST_OPTIONS));
    let sections = IO500_SECTIONS.iter();
    let sections =
        sections.map(|(name, options)| format!("`[{name}]`\n\n{}", options_table(options)));
    check("io500", &sections.collect::<Vec<_>>().join("\n"));
}
