//! The recipes of `watch`: what they name exists, and those who read them can.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{PROGRAM, Scratch, is_installed};
use serde_json::Value;
use yaml_rust2::YamlLoader;

fn recipe(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/watch");
    fs::read_to_string(path.join(name)).expect("a recipe")
}

/// Every option exists: the help of `watch` names it.
#[track_caller]
fn check_options<'a>(words: impl Iterator<Item = &'a str>) {
    let help = Command::new(PROGRAM).args(["watch", "--help"]).output();
    let help = String::from_utf8(help.expect("help").stdout).expect("text");
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 3, "{options:?}");
    for option in options {
        assert!(help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")));
    }
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = recipe("seekstone-watch@.service");
    let start = unit.lines().find_map(|it| it.strip_prefix("ExecStart="));
    check_options(start.expect("a command").split(' '));
    if !is_installed("systemd-analyze") {
        return;
    }
    let scratch = Scratch::new();
    let path: PathBuf = scratch.path("seekstone-watch@.service");
    fs::write(&path, unit.replace("/usr/bin/seekstone", PROGRAM)).expect("a file");
    let mut verify = Command::new("systemd-analyze");
    let verified = verify.args(["verify", "--man=no"]).arg(&path).output();
    let verified = verified.expect("an answer");
    let said = String::from_utf8_lossy(&verified.stderr);
    let about: Vec<&str> = said.lines().filter(|it| it.contains("seekstone")).collect();
    assert_eq!(about, Vec::<&str>::new(), "{said}");
}

#[test]
fn the_daemon_set_names_options_and_volumes_that_exist() {
    let documents = YamlLoader::load_from_str(&recipe("daemonset.yaml")).expect("YAML");
    let [set] = &documents[..] else {
        panic!("one document");
    };
    assert_eq!(set["kind"].as_str(), Some("DaemonSet"));
    let labels = &set["spec"]["template"]["metadata"]["labels"];
    assert_eq!(set["spec"]["selector"]["matchLabels"], *labels);
    let pod = &set["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let arguments = container["args"].as_vec().expect("arguments").iter();
    check_options(arguments.filter_map(|it| it.as_str()));
    let names = |of: &yaml_rust2::Yaml| -> BTreeSet<String> {
        let listed = of.as_vec().expect("a list").iter();
        listed
            .map(|it| it["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
}

/// What the dashboard asks for is what `watch` serves.
#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let board: Value = serde_json::from_str(&recipe("grafana.json")).expect("JSON");
    let watch = watch::TargetWatch::new(units::Duration::from_secs(1), 0);
    let mut watch = watch;
    for counter in watch::WatchCounter::ALL {
        watch.count(counter, 1);
    }
    let served = report::watch_metrics([("/data", &watch)].into_iter(), 1);
    let panels = board["panels"].as_array().expect("panels");
    let mut asked = 0;
    for panel in panels {
        for target in panel["targets"].as_array().expect("targets") {
            let expr = target["expr"].as_str().expect("an expression");
            let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
            let names = expr.split(|it: char| !is_name(it));
            for name in names.filter(|it| it.starts_with("seekstone_")) {
                let ends = ["_bucket", "_total", ""];
                let family = ends.iter().find_map(|end| name.strip_suffix(end));
                let declared = format!("# TYPE {} ", family.expect("a name"));
                assert!(served.contains(&declared), "{name}: {served}");
                asked += 1;
            }
        }
    }
    assert!(asked >= panels.len(), "{asked}");
}
