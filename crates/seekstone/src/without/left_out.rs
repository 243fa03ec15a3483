//! Abilities that a build may leave out: each is a feature of this package.

use units::LeftOut;

/// The full screen of `rab` and `rpt`.
#[cfg(not(feature = "screen"))]
pub const SCREEN: LeftOut = LeftOut {
    ability: "full screen",
    feature: "screen",
};

/// `serve` and `--live`.
#[cfg(not(feature = "web"))]
pub const WEB: LeftOut = LeftOut {
    ability: "pages for a browser (serve, --live)",
    feature: "web",
};
