//! The studies that come with the program: those of the KP3 group, 1994 to 1999.

/// A study that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// What it is called by.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

/// A study by its name, which is that of its file.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            text: include_str!(concat!("../../../studies/", $name, ".toml")),
        }),*]
    };
}

/// All of them, by their names.
pub const SHIPPED: &[Shipped] = shipped![
    "adsm-archive",
    "adsm-retrieve",
    "backup-dlt2000",
    "backup-dlt2000-files",
    "cern-httpd",
    "compilers",
    "copy-extension",
    "copy-extension-files",
    "disk-io",
    "disk-io-axp612",
    "disk-io-served",
    "dlt2000-full",
    "dlt2000-full-files",
    "dlt2000-positioning",
    "dlt2000-positioning-files",
    "fddi-ftp",
    "fortran-options",
    "nfs-aix-linux",
    "nfs-linux",
    "paw",
    "tmscp-four-tapes",
    "tmscp-four-tapes-files",
    "virtual-io-cache",
    "virtual-io-cache-job",
];
