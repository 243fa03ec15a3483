//! A batch script for Slurm.

use super::{Launch, SlurmBatch};

/// How long before its time is up the ranks are asked to end: what they measured is then kept.
const SIGNAL_AHEAD_S: u32 = 60;

/// The script; `srun` starts the ranks, so that no `mpirun` is needed.
pub(super) fn script(launch: &Launch, batch: &SlurmBatch, ranks: u32) -> String {
    let Launch {
        name,
        hosts,
        ranks_per_host,
        time,
        command,
    } = launch;
    let seconds = time.as_nanos().div_ceil(1_000_000_000);
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Half of a short time is left for measuring.
    let ahead = u128::from(SIGNAL_AHEAD_S).min(u128::from(seconds) / 2);
    let partition = batch.partition.as_ref();
    let partition = partition.map_or(String::new(), |it| format!("#SBATCH --partition={it}\n"));
    let plugin = batch.plugin.as_ref();
    let plugin = plugin.map_or(String::new(), |it| format!(" --mpi={it}"));
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    format!(
        "#!/bin/bash\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --nodes={hosts}\n\
         #SBATCH --ntasks={ranks}\n\
         #SBATCH --ntasks-per-node={ranks_per_host}\n\
         #SBATCH --exclusive\n\
         #SBATCH --time={hours:02}:{minutes:02}:{rest:02}\n\
         #SBATCH --output={name}-%j.out\n\
         # In time to keep what was measured as a partial run.\n\
         #SBATCH --signal=INT@{ahead}\n\
         {partition}\
         set -euo pipefail\n\
         # Unbound: workers may use every processor of their host.\n\
         srun{plugin} --cpu-bind=none seekstone {}\n",
        command.join(" ")
    )
}

/// A word as the shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "%+,-./:=@_".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    #[test]
    fn a_batch_script_asks_for_whole_hosts_and_starts_by_srun() {
        let launch = Launch {
            name: "nfs".into(),
            hosts: 4,
            ranks_per_host: 2,
            time: Duration::from_secs(5401),
            command: ["trial", "/mnt/a b", "--goal", "p99 <= 2ms", "it's"]
                .map(str::to_owned)
                .to_vec(),
        };
        let batch = SlurmBatch {
            partition: Some("short".into()),
            plugin: Some("pmi2".into()),
        };
        let expected = "\
#!/bin/bash
#SBATCH --job-name=nfs
#SBATCH --nodes=4
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=2
#SBATCH --exclusive
#SBATCH --time=01:30:01
#SBATCH --output=nfs-%j.out
# In time to keep what was measured as a partial run.
#SBATCH --signal=INT@60
#SBATCH --partition=short
set -euo pipefail
# Unbound: workers may use every processor of their host.
srun --mpi=pmi2 --cpu-bind=none seekstone trial '/mnt/a b' --goal 'p99 <= 2ms' 'it'\\''s'
";
        assert_eq!(launch.slurm(&batch).expect("a script"), expected);
    }
}
