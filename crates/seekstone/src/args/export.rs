//! `seekstone runs export`: the forms.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::forms::{FORMS, RunForm, form_named};

/// Reads `--form`.
pub fn form_parser() -> impl TypedValueParser<Value = &'static RunForm> {
    let forms = FORMS.iter().map(|form| {
        let value = PossibleValue::new(form.name).help(form.about);
        value.aliases(form.aliases)
    });
    PossibleValuesParser::new(forms).try_map(|name| form_named(&name).ok_or("no form"))
}
