//! Invented transactions of users.

use results::{
    StandardRow, StandardTable, SystemSample, SystemSeries, TransactionLoad, Transactions,
    UserSearchOutcome, UserSearchResult, UserSearchStep, UserTimes,
};

use sample::{estimate, run};

/// One load of two profiles, a search, and a standard test.
pub fn transactions() -> Transactions {
    let of_sample = run().measurements.remove(0);
    let times = |name: &str, users, transactions: u64| UserTimes {
        name: name.into(),
        users,
        transactions,
        per_second: transactions as f64 / 60.5,
        bytes_each: 20_480.5,
        sample_mean_ns: 1e9 + 0.5,
        sample_95_ns: 4e9 + 0.5,
        from_start: of_sample.service.clone(),
        from_due: of_sample.response.clone(),
    };
    let load = TransactionLoad {
        measurement: "transactions".into(),
        users: 32,
        elapsed_ns: 60_500_000_000,
        per_second_whole: 5.6,
        per_second_steady: estimate(6.0, 0.03),
        all: times("all", 32, 340),
        profiles: vec![times("light", 30, 300), times("heavy", 2, 40)],
        cpu_each_ns: Some(11_200_000.5),
        cpu_work_each_ns: 10_000_000.5,
        cpu_share: Some(0.035),
        device_busy_share: Some(0.81),
        device_queue: Some(4.5),
        storage_queue: 4.4,
        reads_per_second: 107.5,
        writes_per_second: 0.5,
        device_reads_per_second: Some(64.6),
        device_writes_per_second: Some(1.5),
        page_cache_share: Some(0.33),
        minor_faults_per_second: Some(64.1),
        major_faults_per_second: Some(0.5),
        file_cache_bytes: Some(13_467_462.0),
        think_ns: 5e9 + 0.5,
        users_by_law: estimate(31.7, 0.03),
        response_by_law: estimate(1.24e9, 0.05),
        series: Some(series()),
    };
    Transactions {
        ramp_per_second: Some(32.5),
        loads: vec![load],
        search: Some(UserSearchResult {
            share: 0.95,
            limit_ns: 200_000_000,
            meets: 96,
            misses: Some(104),
            steps: vec![UserSearchStep {
                users: 96,
                is_final: true,
                percentile: estimate(1.9e8, 0.02),
                within: Some(estimate(0.97, 0.01)),
                outcome: UserSearchOutcome::Meets,
            }],
        }),
        standard: Some(StandardTable {
            section: "9.4".into(),
            title: "CPU load and I/O load, no think time".into(),
            columns: ["PC", "Tasks", "TPS"].map(String::from).to_vec(),
            rows: vec![StandardRow {
                machine: "486".into(),
                tasks: "4".into(),
                cells: vec!["0.77".into()],
                fault: "its 95 % value lies below its mean".into(),
            }],
        }),
    }
}

fn series() -> SystemSeries {
    SystemSeries {
        interval_ns: 30_000_000_000,
        samples: vec![sample(1, 160), sample(2, 180)],
    }
}

/// An interval of half a minute in which everything was counted.
fn sample(number: u64, transactions: u64) -> SystemSample {
    SystemSample {
        end_ns: number * 30_000_000_000,
        length_ns: 30_000_000_000,
        transactions,
        per_second: transactions as f64 / 30.0,
        response_mean_ns: Some(1.24e9 + 0.5),
        cpu_share: Some(0.679),
        cpu_own_share: Some(0.035),
        device_busy_share: Some(0.81),
        device_queue: Some(4.5),
        device_transfer_ns: Some(6.3e7 + 0.5),
        device_reads_per_second: Some(64.1),
        device_writes_per_second: Some(0.5),
        device_bytes_per_second: Some(287_517.5),
        page_cache_misses_per_second: Some(74.2),
        minor_faults_per_second: Some(105.3),
        major_faults_per_second: Some(0.5),
        file_cache_bytes: Some(13_467_462.0),
    }
}
