//! What a target is by its name is told by `units::TargetName` alone.

use crate::source::Source;

/// Where the names are told apart.
const HOME: &str = "crates/units/src/target_name.rs";
/// How the names of targets without storage begin, as a test for them would write it.
const BEGINNINGS: [&str; 2] = ["\"sim:\"", "\"null:\""];
/// Files that look at a name themselves, and why.
const ALLOWED: [(&str, &str); 1] = [("crates/report/src/target.rs", SHOWN)];
const SHOWN: &str = "the target of a run that is over is a text to be shown";

/// No file but that of `TargetName` looks at how a name begins.
pub fn target_names(sources: &[Source], faults: &mut Vec<String>) {
    let product = sources
        .iter()
        .filter(|it| it.is_product() && it.krate != "xtask");
    for source in product {
        let name = source.path.display().to_string();
        let is_allowed = ALLOWED.iter().any(|(path, _)| *path == name);
        match (test_in(source), is_allowed) {
            (Some(line), false) if name != HOME => faults.push(format!(
                "{name}:{line}: looks at how a target's name begins: ask `units::TargetName`"
            )),
            (None, true) => faults.push(format!(
                "{name} looks at no target's name any more: take it out of ALLOWED"
            )),
            _ => {}
        }
    }
}

/// The line that looks at the beginning of a name.
fn test_in(source: &Source) -> Option<usize> {
    let mut lines = source.product_lines();
    let found = lines.find(|(_, line)| {
        let is_code = !line.trim_start().starts_with("//");
        is_code && BEGINNINGS.iter().any(|it| line.contains(it))
    });
    found.map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_for_the_beginning_is_found_and_a_whole_name_is_none() {
        let found = |text: &str| {
            test_in(&Source {
                path: "crates/a/src/b.rs".into(),
                krate: "a".into(),
                text: text.into(),
            })
        };
        assert_eq!(
            found("fn f() {\n    name.starts_with(\"sim:\")\n}\n"),
            Some(2)
        );
        assert_eq!(found("const NULL: &str = \"null:\";\n"), Some(1));
        assert_eq!(found("// \"sim:\"\nlet name = \"sim:nvme\";\n"), None);
        assert_eq!(found("#[cfg(test)]\nlet name = \"sim:\";\n"), None);
    }
}
