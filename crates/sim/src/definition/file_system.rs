//! Keys of a machine's file system.

use crate::definition::form::{DefinitionKey, Form, needed, optional, or};
use crate::rt11::{Allocation, Rt11Spec, SEGMENTS_MAX};

const TYPE: DefinitionKey = needed("type", "which system: \"rt11\"");
const SEGMENTS: DefinitionKey = optional(
    "directory-segments",
    "from 1 to 31 (default: by the size of the volume)",
);
const ALLOCATION: DefinitionKey = or(
    "allocation",
    "exact",
    "what a new file is given: \"exact\", or \"half\" of the largest empty area",
);
const CACHE: DefinitionKey = or(
    "system-cache",
    "0",
    "bytes of the system's cache, such as \"64 KiB\", or 0",
);
const REQUEST: DefinitionKey = needed("cpu-request", "of a call of the system, such as \"0.5 ms\"");
const TRANSFER: DefinitionKey = needed(
    "cpu-transfer",
    "of a transfer's handler, such as \"0.5 ms\"",
);
const OPEN: DefinitionKey = needed(
    "cpu-open",
    "of the program to open or close, such as \"5 ms\"",
);
const ENTRY: DefinitionKey = needed(
    "cpu-entry",
    "to look at an entry of the directory, such as \"50 us\"",
);
const CACHE_BLOCK: DefinitionKey = needed(
    "cpu-cache-block",
    "to look for a block in the cache and copy it, such as \"1.5 ms\"",
);
const ELEMENT: DefinitionKey = needed("element", "bytes of a formatted data element, such as 8");
const CPU_ELEMENT: DefinitionKey = needed("cpu-element", "to format an element, such as \"1 ms\"");

/// Parses a file system.
pub fn read(form: &mut Form<'_, '_>) -> Option<Rt11Spec> {
    let is_known = form.word(&TYPE, &[("rt11", ())]);
    let has_segments = form.has(&SEGMENTS);
    let segments = form.count(&SEGMENTS, 1..=SEGMENTS_MAX as u64);
    let allocations = [("exact", Allocation::Exact), ("half", Allocation::Half)];
    let allocation = form.word(&ALLOCATION, &allocations);
    let cache = form.size(&CACHE);
    let (request, transfer) = (form.span(&REQUEST), form.span(&TRANSFER));
    let (open, entry) = (form.span(&OPEN), form.span(&ENTRY));
    let cache_block = form.span(&CACHE_BLOCK);
    let element = form.count(&ELEMENT, 1..=512);
    let cpu_element = form.span(&CPU_ELEMENT);
    is_known?;
    if has_segments && segments.is_none() {
        return None;
    }
    Some(Rt11Spec {
        segments: segments.map(|segments| segments as usize),
        allocation: allocation?,
        cache: cache?,
        cpu_request: request?,
        cpu_transfer: transfer?,
        cpu_open: open?,
        cpu_entry: entry?,
        cpu_cache_block: cache_block?,
        element: element?,
        cpu_element: cpu_element?,
    })
}
