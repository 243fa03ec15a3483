//! The full-screen display: draws what a run says of itself, and passes keys on.
