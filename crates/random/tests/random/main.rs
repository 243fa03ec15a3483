//! Streams and distributions against theory. Every seed is fixed, and named when a test fails.

mod gaps;
mod permutations;
mod refused;
mod statistics;
mod steps;
mod streams;
mod zipf;
