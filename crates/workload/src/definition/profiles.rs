//! Parses user profiles from TOML, with all mistakes and their lines.

use toml::de::DeValue;
use toml_reader::TomlFaults;
use units::Duration;

use crate::definition::keys::{WorkloadKey, WorkloadSection, key, keys};
use crate::definition::notation::NotationError;
use crate::definition::reader::{check_keys, read_table};
use crate::definition::values::{Noted, WorkloadTable, typed};
use crate::mix::{Gap, GapShape};
use crate::users::{LoadFactor, NO_USERS, Records, UserProfile, check_profiles};

keys! {
    PROFILE = key("profile", "a table that begins with [[profile]]", "");
    NAME = key("name", "what reports call it", "\"enquiry\"");
    USERS = key("users", "a whole number of users", "30");
    IOS = key("ios", "a whole number of I/Os of one transaction", "20");
    IO = key("io", "the size of an I/O", "\"4KiB\"");
    MIX = key("mix", "reads:writes, such as \"2:1\"", "\"1:0\"");
    THINK = key("think",
        "\"TIME\", \"TIME:constant\", \"TIME:uniform\" or \"TIME:exponential\"", "\"5s\"");
    CPU = key("cpu",
        "processor work of one transaction: a time, or units as in \"0.5units\"", "\"10ms\"");
    MEMORY = key("memory", "the memory of each user", "\"1MiB\"");
    LOAD_FACTOR = key("load-factor", "\"constant\" or \"exponential\"", "\"exponential\"");
    NEW_RECORDS = key("new-records", "true or false", "true");
    TRANSACTIONS = key("transactions",
        "a whole number of transactions after which a user leaves", "100");
}

const TOP: WorkloadSection = WorkloadSection {
    place: "a file of profiles",
    belongs: "above the first [[profile]]",
    keys: &[PROFILE],
};
const ONE: WorkloadSection = WorkloadSection {
    place: "[[profile]]",
    belongs: "below [[profile]]",
    keys: &[
        NAME,
        USERS,
        IOS,
        IO,
        MIX,
        THINK,
        CPU,
        MEMORY,
        LOAD_FACTOR,
        NEW_RECORDS,
        TRANSACTIONS,
    ],
};

/// Parses user profiles, where one unit of CPU work is `unit`; `file_name` is for messages only.
///
/// # Errors
/// All mistakes that can be found at once, with their lines.
// fuzzed: profiles
pub fn parse_profiles(
    text: &str,
    file_name: &str,
    unit: Duration,
) -> Result<Vec<UserProfile>, TomlFaults> {
    read_table(text, file_name, |top| {
        check_keys(top, &TOP, &ONE);
        let tables = top.tables(&PROFILE, NO_USERS);
        let located = tables.into_iter().filter_map(|(index, table)| {
            let profile = read_one(&table, index, unit).ok()?;
            Some((table.line, profile))
        });
        let located: Vec<(usize, UserProfile)> = located.collect();
        check_all(top, &located);
        Ok(located.into_iter().map(|(_, profile)| profile).collect())
    })
}

fn read_one(table: &WorkloadTable<'_>, index: usize, unit: Duration) -> Result<UserProfile, Noted> {
    check_keys(table, &ONE, &TOP);
    let counted = |key, value| table.within(key, value, 0..=u32::MAX.into());
    let name = table.name(&NAME);
    let users = counted(&USERS, table.integer(&USERS));
    let ios = table.required(&IOS, counted(&IOS, table.integer(&IOS)));
    let io_size = counted(&IO, table.size(&IO));
    let mix = table.notation(&MIX, parse_mix);
    let think = table.notation(&THINK, parse_think);
    let cpu_ns = table.notation(&CPU, |text| parse_cpu(text, unit));
    let memory = table.within(&MEMORY, table.size(&MEMORY), 0..=i64::MAX);
    let loads = [
        ("constant", LoadFactor::Constant),
        ("exponential", LoadFactor::Exponential),
    ];
    let load = table.choice(&LOAD_FACTOR, &loads);
    let records = match table.value(&NEW_RECORDS) {
        None | Some(DeValue::Boolean(false)) => Ok(Records::Repeat),
        Some(DeValue::Boolean(true)) => Ok(Records::New),
        Some(other) => Err(table.refuse(&NEW_RECORDS, &typed(other))),
    };
    let transactions = table.integer(&TRANSACTIONS);
    let transactions = table.within(&TRANSACTIONS, transactions, 1..=i64::MAX);
    let (reads, writes) = mix?.unwrap_or((1, 0));
    Ok(UserProfile {
        name: name?.unwrap_or_else(|| format!("profile {}", index + 1)),
        users: users?.unwrap_or(1) as u32,
        ios: ios? as u32,
        io_size: io_size?.unwrap_or(4096) as u32,
        reads,
        writes,
        think: think?.unwrap_or(Gap::NONE),
        cpu_ns: cpu_ns?.unwrap_or(0),
        memory: memory?.unwrap_or(0).cast_unsigned(),
        load: load?.unwrap_or(LoadFactor::Constant),
        records: records?,
        transactions: transactions?.map(i64::cast_unsigned),
    })
}

/// Reports violations at the profile that causes them.
fn check_all(top: &WorkloadTable<'_>, located: &[(usize, UserProfile)]) {
    let all: Vec<UserProfile> = located.iter().map(|(_, profile)| profile.clone()).collect();
    if all.is_empty() {
        return;
    }
    for error in check_profiles(&all).err().unwrap_or_default() {
        let mut owners = located.iter().rev();
        let owner = owners.find(|(_, profile)| profile.name == error.profile);
        let line = owner.map_or(1, |(line, _)| *line);
        top.file.note(line, error.to_string());
    }
}

fn parse_mix(text: &str) -> Result<(u32, u32), NotationError> {
    let number = |text: &str| text.trim().parse().map_err(|_| NotationError::Form);
    let (reads, writes) = text.split_once(':').ok_or(NotationError::Form)?;
    Ok((number(reads)?, number(writes)?))
}

fn parse_think(text: &str) -> Result<Gap, NotationError> {
    let (span, law) = text.split_once(':').unwrap_or((text, "exponential"));
    let shape = match law.trim() {
        "constant" => GapShape::Constant,
        "uniform" => GapShape::Uniform,
        "exponential" => GapShape::Exponential,
        _ => return Err(NotationError::Form),
    };
    Ok(match span.parse().map_err(NotationError::Unit)? {
        Duration::ZERO => Gap::NONE,
        span => Gap::new(shape, span),
    })
}

fn parse_cpu(text: &str, unit: Duration) -> Result<u64, NotationError> {
    let trimmed = text.trim();
    let units = trimmed
        .strip_suffix("units")
        .or(trimmed.strip_suffix("unit"));
    let Some(units) = units else {
        let time: Duration = trimmed.parse().map_err(NotationError::Unit)?;
        return Ok(time.as_nanos());
    };
    match units.trim().parse::<f64>() {
        Ok(units) if (0.0..=1e6).contains(&units) => {
            Ok((units * unit.as_nanos() as f64).round() as u64)
        }
        _ => Err(NotationError::Form),
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use crate::users::CPU_UNIT_NS;

    /// A file of two profiles, as the documentation shows it.
    const EXAMPLE: &str = include_str!("example_profiles.toml");
    const UNIT: Duration = Duration::from_nanos(CPU_UNIT_NS);

    #[test]
    fn a_unit_is_what_it_is_said_to_be() {
        let unit = Duration::from_millis(100);
        let profiles = parse_profiles(EXAMPLE, "example", unit).expect("an example");
        let work: Vec<u64> = profiles.iter().map(|profile| profile.cpu_ns).collect();
        assert_eq!(work, [100_000_000, 300_000_000]);
    }

    #[test]
    fn the_example_is_read() {
        let profiles = parse_profiles(EXAMPLE, "example", UNIT).expect("a valid example");
        let listed: Vec<_> = profiles
            .iter()
            .map(|it| (it.name.as_str(), it.users, it.ios, it.cpu_ns, it.memory))
            .collect();
        let kib = Bytes::from_kib(10).as_u64();
        assert_eq!(
            listed,
            [
                ("light", 30, 20, CPU_UNIT_NS, kib),
                ("heavy", 2, 60, 3 * CPU_UNIT_NS, kib)
            ]
        );
        assert_eq!(profiles[1].think.mean_ns, 4e9);
        assert_eq!(profiles[0].load, LoadFactor::Exponential);
    }

    fn check(text: &str, expected: &str) {
        let error = parse_profiles(text, "users.toml", UNIT).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        check(
            "",
            "users.toml:1: there are no users. Give at least one profile",
        );
        check(
            "[[profile]]\nios = 5\nthnk = \"5s\"\n",
            "users.toml:3: unknown key \"thnk\", did you mean \"think\"?: [[profile]] takes name, \
             users, ios, io, mix, think, cpu, memory, load-factor, new-records, transactions",
        );
        check(
            "[[profile]]\nname = \"a\"\nios = 0\n\n[[profile]]\nname = \"b\"\nios = 1\nusers = 0\n",
            "users.toml:1: profile \"a\": I/Os per transaction 0 must lie between 1 and 1000000\n\
             users.toml:5: profile \"b\": users 0 must lie between 1 and 100000",
        );
        check(
            "[[profile]]\nios = 1\ncpu = \"5 parsecs\"\n",
            "users.toml:3: cpu: unknown unit \"parsecs\" in \"5 parsecs\". Times take ns, us, ms, \
             s, min, h, d, alone or from large to small as in 1m30s",
        );
        check(
            "[[profile]]\nios = 1\nname = \"a\"\n[[profile]]\nios = 1\nname = \"a\"\n",
            "users.toml:4: profile \"a\" is given twice",
        );
    }
}
