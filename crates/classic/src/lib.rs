//! The classic programs' files, procedures and arithmetic, as their documents state them.
