//! docs/reference/hpc-options.md has the answer to every option, as the tables of options do.

use std::path::Path;

use hpc::{HpcAnswer, HpcOption, IO500_SECTIONS, IOR_OPTIONS, MDTEST_OPTIONS};

/// Put a table between its marks, or compare it, without `WRITE_DOCUMENTS=1`.
fn check(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/hpc-options.md");
    let text = std::fs::read_to_string(&path).expect("docs/reference/hpc-options.md");
    let begin = format!("<!-- {name}: written by the test `document` of crates/hpc -->\n\n");
    let end = format!("\n<!-- end of {name} -->\n");
    let (before, rest) = text.split_once(&begin).expect("where the options begin");
    let (found, after) = rest.split_once(&end).expect("where they end");
    if std::env::var_os("WRITE_DOCUMENTS").is_some() {
        let text = format!("{before}{begin}{expected}{end}{after}");
        std::fs::write(&path, text).expect("docs/reference/hpc-options.md can be written");
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

/// The table of a program's options, as Markdown.
fn options_table<S>(table: &[HpcOption<S>]) -> String {
    let mut text = String::from("| option | name | here |\n| --- | --- | --- |\n");
    for option in table {
        let value = if option.has_value { " N" } else { "" };
        let flag = match option.flag {
            "" => String::new(),
            flag => format!("`{flag}{value}`"),
        };
        let name = match option.name {
            "" => String::new(),
            name => format!("`{name}`"),
        };
        let here = match option.answer {
            HpcAnswer::Same => "same".to_owned(),
            HpcAnswer::Differs(why) => format!("differs: {why}"),
            HpcAnswer::Refused(why) => format!("refused: {why}"),
        };
        text.push_str(&format!("| {flag} | {name} | {here} |\n"));
    }
    text
}
