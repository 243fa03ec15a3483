//! The studies that come with the program: those of the KP3 group, 1994 to 1999.

/// Their names and texts.
pub const SHIPPED: [(&str, &str); 24] = units::named_texts![
    "../../../studies/": "adsm-archive" "adsm-retrieve" "backup-dlt2000" "backup-dlt2000-files"
    "cern-httpd" "compilers" "copy-extension" "copy-extension-files" "disk-io" "disk-io-axp612"
    "disk-io-served" "dlt2000-full" "dlt2000-full-files" "dlt2000-positioning"
    "dlt2000-positioning-files" "fddi-ftp" "fortran-options" "nfs-aix-linux" "nfs-linux" "paw"
    "tmscp-four-tapes" "tmscp-four-tapes-files" "virtual-io-cache" "virtual-io-cache-job"
];
