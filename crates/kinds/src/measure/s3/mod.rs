//! Object stores that speak Amazon's S3: where a bucket is, with which keys, what is asked of it,
//! and the prefix that is a run's own.
//!
//! `rusty-s3` signs requests (AWS signature version 4, in the address) and reads its answers. Our
//! own client sends them, so that every time is the server's and none is a library's.

mod account;
mod address;
mod client;
mod fault;
mod left_over;
mod prefix;
mod store;

pub use client::{Backoff, ListedObject, PutCondition, S3Client, S3Options};
pub use fault::S3Fault;
pub use left_over::BucketLeftovers;
pub use prefix::{KEYS_BEGIN, RunPrefix};
pub use store::open_bucket;
