//! Keys of a machine's file system.

use crate::definition::form::{DefinitionKey, Form, keys, needed, optional, or};
use crate::rt11::{Allocation, Rt11Spec, SEGMENTS_MAX};

keys! {
    TYPE = needed("type", "which system: \"rt11\"");
    SEGMENTS = optional("directory-segments", "from 1 to 31 (default: by the size of the volume)");
    ALLOCATION = or("allocation", "exact",
        "what a new file is given: \"exact\", or \"half\" of the largest empty area");
    CACHE = or("system-cache", "0", "bytes of the system's cache, such as \"64 KiB\", or 0");
    REQUEST = needed("cpu-request", "of a call of the system, such as \"0.5 ms\"");
    TRANSFER = needed("cpu-transfer", "of a transfer's handler, such as \"0.5 ms\"");
    OPEN = needed("cpu-open", "of the program to open or close, such as \"5 ms\"");
    ENTRY = needed("cpu-entry", "to look at an entry of the directory, such as \"50 us\"");
    CACHE_BLOCK = needed("cpu-cache-block",
        "to look for a block in the cache and copy it, such as \"1.5 ms\"");
    ELEMENT = needed("element", "bytes of a formatted data element, such as 8");
    CPU_ELEMENT = needed("cpu-element", "to format an element, such as \"1 ms\"");
}

/// Parses a file system.
pub fn read(form: &mut Form<'_, '_>) -> Option<Rt11Spec> {
    form.whole(|form| {
        form.word(&TYPE, &[("rt11", ())]);
        Rt11Spec {
            segments: form.maybe(&SEGMENTS, |form, key| {
                form.count(key, 1..=SEGMENTS_MAX as u64) as usize
            }),
            allocation: form.word(
                &ALLOCATION,
                &[("exact", Allocation::Exact), ("half", Allocation::Half)],
            ),
            cache: form.size(&CACHE),
            cpu_request: form.span(&REQUEST),
            cpu_transfer: form.span(&TRANSFER),
            cpu_open: form.span(&OPEN),
            cpu_entry: form.span(&ENTRY),
            cpu_cache_block: form.span(&CACHE_BLOCK),
            element: form.count(&ELEMENT, 1..=512),
            cpu_element: form.span(&CPU_ELEMENT),
        }
    })
}
