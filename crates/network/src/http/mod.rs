//! Pages over HTTP/1.1: a document with its inlined objects.

mod clients;
mod connection;
mod exchange;
mod inlined;
mod load;
mod measure;
mod plan;
pub(crate) mod response;

pub use exchange::{Body, HttpAnswer, HttpRequest, HttpServer, NoAnswer};
pub use inlined::find_inlined;
pub use load::{LoadError, load};
pub use measure::measure;
pub(crate) use measure::thread_cpu;
pub use plan::{PageOutcome, PagePlan, Reuse, Until};
