//! `cargo xtask schema`: writes docs/seekstone.schema.json, the JSON Schema of what `--json`
//! writes, from the tables of docs/json-schema.md. There is one description of the form: the
//! document.
//!
//! Of a table `| key | type | meaning |` each key is a property. `?` behind a type, or "or null",
//! allows null; numbers may be null anywhere. A meaning that ends in `: *Name*`, or is that alone,
//! refers to the section of that name. A key is required unless its meaning says "absent" or
//! "left out". A key such as "`drift`.`total`" is one of the object, or of the objects in the
//! array, whose key stands above it.

use std::fs;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::source::root;

const DOCUMENT: &str = "docs/json-schema.md";
const SCHEMA: &str = "docs/seekstone.schema.json";
const TABLE: &str = "| key | type | meaning |";

/// A section of the document: its heading, the one above it, and the rows of its tables.
struct Section<'a> {
    name: &'a str,
    parent: &'a str,
    rows: Vec<[&'a str; 3]>,
    /// A section whose keys this one has, too.
    base: Option<&'a str>,
}

/// Write the schema.
pub fn schema() -> Result<()> {
    let document = fs::read_to_string(root().join(DOCUMENT))?;
    fs::write(root().join(SCHEMA), written(&document)?)?;
    println!("wrote {SCHEMA}");
    Ok(())
}

/// A fault where the schema is not that of the document.
pub fn check(faults: &mut Vec<String>) -> Result<()> {
    let document = fs::read_to_string(root().join(DOCUMENT))?;
    let expected = written(&document)?;
    if fs::read_to_string(root().join(SCHEMA)).unwrap_or_default() != expected {
        faults.push(format!(
            "{SCHEMA}: not that of {DOCUMENT}: run `cargo xtask schema`"
        ));
    }
    Ok(())
}

fn written(document: &str) -> Result<String> {
    let sections = sections(document);
    let mut definitions = Map::new();
    for section in sections.iter().filter(|it| !it.rows.is_empty()) {
        definitions.insert(id(section), object(section, &sections)?);
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What seekstone --json writes",
        "description": "A run; $defs has the other forms. Written from docs/json-schema.md.",
        "$ref": "#/$defs/Run",
        "$defs": definitions,
    });
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

fn sections(document: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut top = "";
    let mut in_table = false;
    for line in document.lines() {
        let heading = line.strip_prefix("## ").map(|name| {
            top = name;
            (name, "")
        });
        let heading = heading.or_else(|| Some((line.strip_prefix("### ")?, top)));
        if let Some((name, parent)) = heading {
            sections.push(Section {
                name,
                parent,
                rows: Vec::new(),
                base: None,
            });
        }
        let Some(section) = sections.last_mut() else {
            continue;
        };
        if let Some((base, _)) = line
            .strip_prefix("The keys of *")
            .and_then(|rest| rest.split_once('*'))
        {
            section.base = Some(base);
        }
        in_table = line == TABLE || in_table && line.starts_with('|');
        let cells = line.trim_matches('|').splitn(3, " | ").map(str::trim);
        let cells: Vec<&str> = cells.collect();
        if let (true, [key, kind, meaning]) = (in_table, cells.as_slice())
            && key.starts_with('`')
        {
            section.rows.push([*key, *kind, *meaning]);
        }
    }
    sections
}

/// The name of a definition: sections of one name beneath different headings are told apart.
fn id(section: &Section<'_>) -> String {
    let own = section.name.replace(' ', "");
    match (section.name, section.parent) {
        (
            "Workload" | "Series" | "Pass" | "Level" | "Point" | "Cell" | "Row" | "Figure",
            parent,
        ) => {
            format!("{}{own}", parent.replace(' ', ""))
        }
        _ => own,
    }
}

/// The section that a name means in another one: one beneath the same heading, or else any.
fn named<'a>(name: &str, within: &Section<'_>, sections: &'a [Section<'a>]) -> Result<String> {
    let with_table = sections.iter().filter(|it| !it.rows.is_empty());
    let of_name = || with_table.clone().filter(|it| it.name == name);
    let heading = match within.parent {
        "" => within.name,
        parent => parent,
    };
    let near = of_name().find(|it| it.parent == heading);
    let found = near.or_else(|| of_name().next());
    let found = found.with_context(|| format!("{DOCUMENT} has no section {name} with a table"))?;
    Ok(format!("#/$defs/{}", id(found)))
}

fn object(section: &Section<'_>, sections: &[Section<'_>]) -> Result<Value> {
    let mut object = json!({ "type": "object", "properties": {}, "required": [] });
    for [keys, kinds, meaning] in &section.rows {
        let kinds: Vec<&str> = kinds.split(", ").collect();
        for (at, key) in keys.split(", ").enumerate() {
            let kind = kinds.get(at).unwrap_or(&kinds[kinds.len() - 1]);
            let found = property(kind, meaning, section, sections)
                .and_then(|value| define(&mut object, key, value, meaning));
            found.with_context(|| format!("{DOCUMENT}: {key} of {}", section.name))?;
        }
    }
    if let Some(base) = section.base {
        object["allOf"] = json!([{ "$ref": named(base, section, sections)? }]);
    }
    Ok(object)
}

/// Give an object, or one within it, a property.
fn define(object: &mut Value, key: &str, value: Value, meaning: &str) -> Result<()> {
    let (above, key) = match key.rsplit_once("`.`") {
        Some((above, key)) => (above.split("`.`").collect(), key),
        None => (Vec::new(), key),
    };
    let mut object = object;
    for part in above {
        let property = object["properties"].get_mut(part.trim_matches('`'));
        object = within(property.with_context(|| format!("{part} is not defined above it"))?);
    }
    let key = key.trim_matches('`');
    object["properties"][key] = value;
    if !["absent", "left out"].iter().any(|it| meaning.contains(it)) {
        match object["required"].as_array_mut() {
            Some(required) => required.push(key.into()),
            None => object["required"] = json!([key]),
        }
    }
    Ok(())
}

/// The object that a property is where it is not null, or each in its array.
fn within(property: &mut Value) -> &mut Value {
    let known = match property.get("anyOf") {
        Some(_) => &mut property["anyOf"][0],
        None => property,
    };
    if known["type"] == "array" {
        known["items"]["type"] = "object".into();
        return &mut known["items"];
    }
    known
}

fn property(
    kind: &str,
    meaning: &str,
    section: &Section<'_>,
    sections: &[Section<'_>],
) -> Result<Value> {
    let bare = kind.trim_end_matches('?').trim_end_matches(" or null");
    let is_nullable = bare != kind;
    let referred = reference(meaning);
    let referred = referred
        .map(|name| named(name, section, sections))
        .transpose()?;
    let items = |kind: &str| json!({ "type": "array", "items": simple(kind) });
    let estimate = json!({ "$ref": "#/$defs/Estimate" });
    let mut value = match bare {
        "object" if referred.is_none() => json!({ "type": "object" }),
        "object" => json!({ "$ref": referred }),
        "array" => match referred {
            Some(referred) => json!({ "type": "array", "items": { "$ref": referred } }),
            None => json!({ "type": "array" }),
        },
        "estimate" | "*Estimate*" => estimate,
        "array of estimates" => json!({ "type": "array", "items": estimate }),
        "array of text" => items("text"),
        "array of integers" => items("integer"),
        "array of 3 numbers" => items("number"),
        "text or object" => json!({ "type": ["string", "object"] }),
        "text" => match words(meaning) {
            Some(words) if !is_nullable => json!({ "enum": words }),
            _ => simple("text"),
        },
        "integer" | "number" | "boolean" => simple(bare),
        other => bail!("the type {other:?} is not known"),
    };
    if is_nullable {
        value = json!({ "anyOf": [value, { "type": "null" }] });
    }
    value["description"] = meaning.into();
    Ok(value)
}

fn simple(kind: &str) -> Value {
    match kind {
        "text" => json!({ "type": "string" }),
        // A number without a finite value is null.
        "number" => json!({ "type": ["number", "null"] }),
        other => json!({ "type": other }),
    }
}

/// The section that a meaning refers to.
fn reference(meaning: &str) -> Option<&str> {
    let sentence = meaning.split(['.', ';']).next()?.trim();
    match sentence.strip_prefix('*') {
        Some(rest) => Some(rest.split_once('*')?.0),
        None => sentence.rsplit_once(": *")?.1.strip_suffix('*'),
    }
}

/// The words that a meaning lists, when it lists nothing else.
fn words(meaning: &str) -> Option<Vec<&str>> {
    let parts = meaning.replace(", or ", ", ").replace(" or ", ", ");
    let is_word = |part: &str| {
        let word = part.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
        word.is_some_and(|it| it.bytes().all(|c| c.is_ascii_lowercase() || c == b'-'))
    };
    let all = parts.split(", ").all(is_word);
    let listed = meaning.split('`').skip(1).step_by(2).collect();
    all.then_some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
## Run

| key | type | meaning |
| --- | --- | --- |
| `schema` | integer | version |
| `parts` | array | in their order: *Part*; see below |
| `first`, `last` | number, text? | first and last; absent where there is one |
| `trend` | object? | how it changed; null where it is not known |
| `trend`.`total` | number | in all |
| `steps` | array | one for each step |
| `steps`.`name` | text | absent where it has none |

### Part

The keys of *Estimate*, and:

| key | type | meaning |
| --- | --- | --- |
| `kind` | text | `read` or `write` |

## Estimate

| key | type | meaning |
| --- | --- | --- |
| `value` | number | the estimate |
";

    #[test]
    fn tables_become_definitions() {
        let schema: Value =
            serde_json::from_str(&written(SAMPLE).expect("a schema")).expect("JSON");
        let run = &schema["$defs"]["Run"];
        assert_eq!(
            run["required"],
            json!(["schema", "parts", "trend", "steps"])
        );
        let trend = &run["properties"]["trend"]["anyOf"][0];
        assert_eq!(trend["required"], json!(["total"]));
        let step = &run["properties"]["steps"]["items"];
        assert_eq!(step["properties"]["name"]["type"], "string");
        assert!(step.get("required").is_none());
        assert_eq!(run["properties"]["schema"]["type"], "integer");
        let parts = &run["properties"]["parts"];
        assert_eq!(parts["items"]["$ref"], "#/$defs/Part");
        assert_eq!(
            run["properties"]["first"]["type"],
            json!(["number", "null"])
        );
        let last = &run["properties"]["last"]["anyOf"];
        assert_eq!(last, &json!([{ "type": "string" }, { "type": "null" }]));
        let part = &schema["$defs"]["Part"];
        assert_eq!(part["allOf"][0]["$ref"], "#/$defs/Estimate");
        assert_eq!(part["properties"]["kind"]["enum"], json!(["read", "write"]));
    }

    #[test]
    fn a_document_with_an_unknown_type_or_section_is_refused() {
        for (from, to) in [
            ("integer", "whole number"),
            ("*Part*", "*Piece*"),
            ("`trend`.", "`trends`."),
        ] {
            let document = SAMPLE.replacen(from, to, 1);
            assert!(written(&document).is_err(), "{to}");
        }
    }
}
