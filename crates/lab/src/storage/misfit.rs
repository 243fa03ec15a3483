//! Sizes and distances that direct I/O does not take.

use workload::{ControlSpec, MixSpec, Placement, UsersSpec};

/// A size or distance of blocks that is no multiple of `unit`.
pub(super) fn misfit(mix: &MixSpec, unit: u32) -> Option<u64> {
    let sizes = mix.sizes.iter().map(|size| u64::from(size.len));
    let mut lengths = sizes.chain([mix.addresses.region.block]);
    lengths.find(|len| !len.is_multiple_of(u64::from(unit)))
}

/// A size or distance of a control thread's operations that is no multiple of `unit`.
pub(super) fn control_misfit(control: &ControlSpec, unit: u32) -> Option<u64> {
    let lengths = control.types.iter().flat_map(|kind| {
        let offset = match kind.placement {
            Placement::Packed => 0,
            Placement::Offset(offset) => offset,
        };
        [u64::from(kind.io_size), kind.block, offset]
    });
    lengths
        .into_iter()
        .find(|len| !len.is_multiple_of(u64::from(unit)))
}

/// A size of users' I/Os that is no multiple of `unit`.
pub(super) fn user_misfit(users: &UsersSpec, unit: u32) -> Option<u64> {
    let mut sizes = users.profiles().iter().map(|profile| profile.io_size);
    let misfit = sizes.find(|size| !size.is_multiple_of(unit));
    misfit.map(u64::from)
}
