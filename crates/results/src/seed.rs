//! Seeds in JSON as text, since readers that keep numbers as doubles lose digits of 64 bits. For
//! `#[serde(with = ...)]`. Numbers, as earlier versions wrote them, are also read.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum SeedForm {
    Text(String),
    Number(u64),
}

pub fn serialize<S: Serializer>(seed: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(seed)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match SeedForm::deserialize(from)? {
        SeedForm::Number(seed) => Ok(seed),
        SeedForm::Text(text) => text
            .parse()
            .map_err(|_| D::Error::custom(format!("{text:?} is no seed"))),
    }
}
