//! What users type and read: parsing, printing, and the way back.

mod parsing;
mod printing;
mod round_trip;
