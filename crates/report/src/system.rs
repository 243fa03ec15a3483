//! One system among others: the paper's appendix B, from what the machine says of itself.

use results::environment::TargetKind;
use results::{FileSystemRole, Run, Status, TargetDescription, WarningCode};
use units::Bytes;

use crate::target;

/// The note of a run that another archive exported.
const IMPORTED: WarningCode = WarningCode::Imported;

/// What the name of a simulated system begins with.
const SIM_PREFIX: &str = "sim:";

/// Number, target, host, file system and date of a system.
pub(crate) fn describe(
    text: &mut String,
    number: usize,
    run: &Run,
    target: &TargetDescription,
    role: FileSystemRole,
) {
    let environment = &run.environment;
    let named = run.id.map_or_else(String::new, |id| format!(", run {id}"));
    let partial = match run.status {
        Status::Complete => "",
        Status::Partial { .. } => ", partial",
    };
    let mut notes = run.warnings.iter();
    let imported = match notes.any(|note| note.code == IMPORTED) {
        true => ", imported",
        false => "",
    };
    let memory = match role {
        FileSystemRole::Target => "",
        FileSystemRole::Memory => ", memory disk",
    };
    if target.kind == TargetKind::Simulated && role == FileSystemRole::Target {
        let given = &target.given;
        let model = given.trim_start_matches(SIM_PREFIX);
        let model = model.split('?').next().unwrap_or(model);
        text.push_str(&format!(
            "[{number}] {given}{named}{imported}{partial}\n    a simulated system, in virtual \
             time; `seekstone devices show {model}` describes it\n    measured {} with Seekstone \
             {}\n",
            environment.started_at, environment.seekstone_version
        ));
        return;
    }
    let processor = environment
        .cpu_model
        .as_deref()
        .unwrap_or("processor not known");
    let ram = environment.memory_total_bytes;
    let ram = ram.map_or_else(String::new, |bytes| format!(", {} RAM", Bytes(bytes)));
    text.push_str(&format!(
        "[{number}] {}{memory}: {}{named}{imported}{partial}\n    host {}, {processor}, \
         {} CPUs{ram}, {}\n",
        short_name(target),
        target.path,
        environment.host_name,
        environment.cpus_allowed,
        environment.kernel,
    ));
    text.push_str(&format!("    {}", target::in_brief(target)));
    if let Some(file_system) = &target.file_system {
        let options = target::mount_options(file_system);
        text.push_str(&format!("\n    mounted {options}"));
    }
    text.push_str(&format!(
        "\n    measured {} with Seekstone {}\n",
        environment.started_at, environment.seekstone_version
    ));
}

/// The file system and its device, or what a device or model is called.
pub(crate) fn short_name(target: &TargetDescription) -> String {
    match (&target.file_system, target.devices.first()) {
        (Some(file_system), Some(device)) => format!("{} {}", file_system.kind, device.name),
        (Some(file_system), None) => file_system.kind.clone(),
        (None, _) => target.given.clone(),
    }
}
