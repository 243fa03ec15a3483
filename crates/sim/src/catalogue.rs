//! Built-in devices and machines, as texts to print, copy and edit.

/// Names and texts, in the order of lists.
const DEVICES: [(&str, &str); 45] = units::named_texts![
    "../../../devices/": "ppro" "ppro-dos" "p100" "i486" "lan-ppro" "lan-p100" "axp612" "tmscp"
    "raid5-rz28" "rt11" "fireball" "st5850a" "st3250a" "st15150n" "rz26" "rz28" "ra80" "rk05"
    "rk07" "rl02" "rd51" "rd52" "rd53" "hp97560" "rx01" "rx02" "floppy" "cdrom8" "cdrom4"
    "dlt2000" "vm" "st4000nm0023" "st8000as0002" "nvme" "qvo870" "m2-warm" "aws-gp2" "aws-gp3"
    "aws-st1" "aws-sc1" "azure-p10" "azure-e10" "ethernet10" "ethernet10-p100" "fddi"
];

/// The names of all built-in devices and machines.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

/// The text of a built-in device or machine.
pub fn text(name: &str) -> Option<&'static str> {
    let found = DEVICES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
