//! What the kernel says of mounts, swap space and arrays, by which a device in use is known.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| drivers::readers::kernel_tables(text));
