//! One system among others: the paper's appendix B, from what the machine says of itself.

use results::environment::TargetKind;
use results::{FileSystemRole, Run, Status, TargetDescription, WarningCode};
use units::Bytes;

use crate::target;

/// The note of a run that another archive exported.
const IMPORTED: WarningCode = WarningCode::Imported;

/// What a model is made of, line by line, by the name of the target; nothing where it is unknown.
pub type DescribeModel<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Number, target, host, file system and date of a system; of a model what it is made of.
pub(crate) fn describe(
    text: &mut String,
    number: usize,
    run: &Run,
    (target, role): (&TargetDescription, FileSystemRole),
    models: DescribeModel<'_>,
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
        text.push_str(&format!(
            "[{number}] {given}{named}{imported}{partial}\n    a simulated system, in virtual \
             time\n"
        ));
        text.extend(models(given).iter().map(|line| format!("    {line}\n")));
        text.push_str(&format!(
            "    measured {} with Seekstone {}\n",
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
