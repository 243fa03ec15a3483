//! What the kernel says of mounts, swap space and arrays, by which a device in use is known.

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    drivers::readers::kernel_tables(text);
}
