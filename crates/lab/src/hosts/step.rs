//! What hosts do to their test files between trials.

use drivers::Checking;
use units::Bytes;

use super::wire::Step;
use crate::laboratory::LaboratoryError;
use crate::storage::StorageLaboratory;

/// Take a step on this host.
///
/// # Errors
/// When there is no space, or the system refuses.
pub(crate) fn take_step(local: &mut StorageLaboratory, step: Step) -> Result<(), LaboratoryError> {
    match step {
        Step::LayOut { size, cached } => local.lay_out(Bytes(size), Bytes(cached))?,
        Step::VerifyFromNow => local.verify_from_now(),
        Step::WriteRecords => local.write_for(Checking::Record),
        Step::ReadUnchecked => local.check_reads(None),
        Step::Settle => local.settle_main()?,
    }
    Ok(())
}
