//! The devices and machines that are built in: texts, to be printed, copied and edited.

/// Names and texts, in the order of lists.
const DEVICES: [(&str, &str); 45] = [
    ("ppro", include_str!("../../../devices/ppro.toml")),
    ("ppro-dos", include_str!("../../../devices/ppro-dos.toml")),
    ("p100", include_str!("../../../devices/p100.toml")),
    ("i486", include_str!("../../../devices/i486.toml")),
    ("lan-ppro", include_str!("../../../devices/lan-ppro.toml")),
    ("lan-p100", include_str!("../../../devices/lan-p100.toml")),
    ("axp612", include_str!("../../../devices/axp612.toml")),
    ("tmscp", include_str!("../../../devices/tmscp.toml")),
    (
        "raid5-rz28",
        include_str!("../../../devices/raid5-rz28.toml"),
    ),
    ("rt11", include_str!("../../../devices/rt11.toml")),
    ("fireball", include_str!("../../../devices/fireball.toml")),
    ("st5850a", include_str!("../../../devices/st5850a.toml")),
    ("st3250a", include_str!("../../../devices/st3250a.toml")),
    ("st15150n", include_str!("../../../devices/st15150n.toml")),
    ("rz26", include_str!("../../../devices/rz26.toml")),
    ("rz28", include_str!("../../../devices/rz28.toml")),
    ("ra80", include_str!("../../../devices/ra80.toml")),
    ("rk05", include_str!("../../../devices/rk05.toml")),
    ("rk07", include_str!("../../../devices/rk07.toml")),
    ("rl02", include_str!("../../../devices/rl02.toml")),
    ("rd51", include_str!("../../../devices/rd51.toml")),
    ("rd52", include_str!("../../../devices/rd52.toml")),
    ("rd53", include_str!("../../../devices/rd53.toml")),
    ("hp97560", include_str!("../../../devices/hp97560.toml")),
    ("rx01", include_str!("../../../devices/rx01.toml")),
    ("rx02", include_str!("../../../devices/rx02.toml")),
    ("floppy", include_str!("../../../devices/floppy.toml")),
    ("cdrom8", include_str!("../../../devices/cdrom8.toml")),
    ("cdrom4", include_str!("../../../devices/cdrom4.toml")),
    ("dlt2000", include_str!("../../../devices/dlt2000.toml")),
    ("vm", include_str!("../../../devices/vm.toml")),
    (
        "st4000nm0023",
        include_str!("../../../devices/st4000nm0023.toml"),
    ),
    (
        "st8000as0002",
        include_str!("../../../devices/st8000as0002.toml"),
    ),
    ("nvme", include_str!("../../../devices/nvme.toml")),
    ("qvo870", include_str!("../../../devices/qvo870.toml")),
    ("m2-warm", include_str!("../../../devices/m2-warm.toml")),
    ("aws-gp2", include_str!("../../../devices/aws-gp2.toml")),
    ("aws-gp3", include_str!("../../../devices/aws-gp3.toml")),
    ("aws-st1", include_str!("../../../devices/aws-st1.toml")),
    ("aws-sc1", include_str!("../../../devices/aws-sc1.toml")),
    ("azure-p10", include_str!("../../../devices/azure-p10.toml")),
    ("azure-e10", include_str!("../../../devices/azure-e10.toml")),
    (
        "ethernet10",
        include_str!("../../../devices/ethernet10.toml"),
    ),
    (
        "ethernet10-p100",
        include_str!("../../../devices/ethernet10-p100.toml"),
    ),
    ("fddi", include_str!("../../../devices/fddi.toml")),
];

/// The names of all built-in devices and machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

/// The text of a built-in device or machine.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    let found = DEVICES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
