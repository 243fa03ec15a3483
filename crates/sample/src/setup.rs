//! An invented setup, and workloads of each kind of client.

use results::{RunSetting, SettingOrigin, Setup};
use workload::{
    AddressSpec, ClientSpec, Content, ControlSpec, Durability, FilesPhase, FilesSpec, Gap,
    GapShape, LoadFactor, Mix, MixSpec, OperationSize, Pacing, Partition, Pattern, Placement,
    Records, Region, TargetId, ThreadType, UserProfile, UsersSpec, WalkStart,
};

/// Request of the check-up, as resolved.
pub fn setup() -> Setup {
    let mut setup = Setup::new("run", 8213)
        .with("target", ".")
        .with("budget", "110s")
        .with("size", "4GiB");
    setup.settings.push(RunSetting {
        name: "clients-max".into(),
        values: vec!["256".into()],
        origin: SettingOrigin::Default,
    });
    setup.keep_text("mine.toml", "name = \"mine\"\n");
    setup
}

/// Random 4 KiB reads by clients without think time.
pub fn reads() -> ClientSpec {
    ClientSpec::Mix(MixSpec {
        addresses: AddressSpec {
            region: Region {
                target: TargetId(0),
                offset: 0,
                len: 4 << 30,
                block: 4096,
            },
            partition: Partition::Contending,
            pattern: Pattern::Uniform,
            start: WalkStart::Random,
        },
        mix: Mix::READ,
        sizes: vec![OperationSize {
            len: 4096,
            weight: 1,
        }],
        durability: Durability::Volatile,
        pacing: Pacing::Closed { think: Gap::NONE },
        operations: None,
        spread: None,
    })
}

/// Workloads of every kind of client.
pub fn all_clients() -> Vec<ClientSpec> {
    let think = Gap {
        shape: GapShape::Exponential,
        mean_ns: 1e9,
    };
    let users = UserProfile {
        name: "clerk".into(),
        users: 3,
        ios: 5,
        io_size: 4096,
        reads: 2,
        writes: 1,
        think,
        cpu_ns: 1_000_000,
        memory: 0,
        load: LoadFactor::Exponential,
        records: Records::New,
        transactions: Some(100),
    };
    let users = UsersSpec::new(TargetId(0), 1 << 30, Some(10.0), vec![users]);
    vec![
        reads(),
        ClientSpec::Files(FilesSpec {
            phase: FilesPhase::Make,
            first: TargetId(7),
            count: 20,
            len: 4096,
        }),
        ClientSpec::Control(ControlSpec {
            target: TargetId(0),
            len: 1 << 30,
            types: vec![ThreadType {
                name: "database".into(),
                count: 2,
                partition: Partition::Interleaved,
                block: 8192,
                shares: 50,
                io_size: 4096,
                placement: Placement::Offset(512),
                reads: 2,
                writes: 1,
                pattern: Pattern::Hyperbolic { alpha: 0.5 },
                clock: Some(think),
                ios_per_message: 100,
            }],
            content: Content::default(),
        }),
        ClientSpec::Users(users.expect("a valid profile")),
    ]
}
