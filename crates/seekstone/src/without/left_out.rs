//! Abilities that a build may leave out: each is a feature of this package.

use units::LeftOut;

/// The full screen of `rab` and `rpt`.
#[cfg(not(feature = "screen"))]
pub const SCREEN: LeftOut = LeftOut {
    ability: "full screen",
    feature: "screen",
};

/// The classic programs, their logs, and `devices validate`.
#[cfg(not(feature = "vintage"))]
pub const VINTAGE: LeftOut = LeftOut {
    ability: "programs of 1995 to 1997 (rpt, transact, diskmbps, diskrand, together), their logs \
              and devices validate",
    feature: "vintage",
};

/// `serve` and `--live`.
#[cfg(not(feature = "web"))]
pub const WEB: LeftOut = LeftOut {
    ability: "pages for a browser (serve, --live)",
    feature: "web",
};
