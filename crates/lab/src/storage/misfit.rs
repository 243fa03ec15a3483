//! Sizes and distances that direct I/O does not take.

use workload::{ClientSpec, Placement};

/// A size or distance of the operations of a workload on one target that is no multiple of `unit`.
pub(super) fn misfit(spec: &ClientSpec, unit: u32) -> Option<u64> {
    let is_misfit = |len: &u64| !len.is_multiple_of(u64::from(unit));
    match spec {
        ClientSpec::Mix(mix) => {
            let sizes = mix.sizes.iter().map(|size| u64::from(size.len));
            let mut lengths = sizes.chain([mix.addresses.region.block]);
            lengths.find(is_misfit)
        }
        ClientSpec::Control(control) => {
            let mut lengths = control.types.iter().flat_map(|kind| {
                let offset = match kind.placement {
                    Placement::Packed => 0,
                    Placement::Offset(offset) => offset,
                };
                [u64::from(kind.io_size), kind.block, offset]
            });
            lengths.find(is_misfit)
        }
        ClientSpec::Users(users) => {
            let mut sizes = users.profiles().iter().map(|it| u64::from(it.io_size));
            sizes.find(is_misfit)
        }
        ClientSpec::Own(own) => Some(u64::from(own.unit)).filter(is_misfit),
        ClientSpec::Files(_) | ClientSpec::Jobs(_) => None,
    }
}
