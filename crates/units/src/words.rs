//! Enumerations whose variants are words in reports, files and command lines.

/// Declares an enumeration with the word of each variant: `ALL` has its variants in order, `name`
/// returns the word, and `title` the second text if each has one.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$of:meta])* $variant:ident = $word:literal: $title:literal),+ $(,)?
        }
    ) => {
        $crate::words! {
            $(#[$meta])*
            pub enum $name { $($(#[$of])* $variant = $word),+ }
        }

        impl $name {
            /// What it is, in words.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title),+
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$of])* $variant),+
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: [Self; <[&str]>::len(&[$($word),+])] = [$(Self::$variant),+];

            /// Its word in reports, files and command lines.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
    };
}
