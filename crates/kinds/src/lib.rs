//! The kinds of measurement: what each asks of a laboratory, and what it gives.

pub mod application;
pub mod check_up;
pub mod depth;
mod feed;
pub mod files;
pub mod fio_jobs;
pub mod iolog;
pub mod measure;
pub mod positioning;
pub mod rab;
pub mod random_access;
pub mod replay;
mod session;
pub mod single_load;
pub mod ssd;
pub mod stage;
pub mod timing;
pub mod transactions;
pub mod transfer;
