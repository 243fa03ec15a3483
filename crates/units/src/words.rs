//! Enumerations whose variants are words of reports, files and command lines.

/// Declare an enumeration with the word of each variant: `ALL` has its variants in their order, and
/// `name` gives the word; where each has a second text, `title` gives that.
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
            #[must_use]
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
            /// All of them, in their order.
            pub const ALL: [Self; <[&str]>::len(&[$($word),+])] = [$(Self::$variant),+];

            /// Its word in reports, files and command lines.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
    };
}
