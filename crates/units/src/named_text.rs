//! Texts that come with the program, each called as its file is.

/// The text of `folder/name.toml` behind its name.
#[macro_export]
macro_rules! named_text {
    ($folder:literal $name:literal) => {
        ($name, include_str!(concat!($folder, $name, ".toml")))
    };
}

/// Those of a folder, in the order of lists.
#[macro_export]
macro_rules! named_texts {
    ($folder:literal: $($name:literal)+) => {
        [$($crate::named_text!($folder $name)),+]
    };
}
