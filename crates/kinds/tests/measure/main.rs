//! The measurements of a study: what each gives, what it leaves behind, and what it refuses.

mod archive;
mod backup;
mod cache;
mod command;
mod copy;
mod documented;
mod interrupted;
mod mail;
mod models;
mod positioning;
mod settings;
mod streams;
mod support;
mod transfer;
mod wal;
