//! Findings about plan, machine and stores.

use model::{
    AgeData, AgeWork, Batch, BlobWork, BlobsData, Cache, Cpu, Durability, Environment, Experiment,
    Filesystem, FindingKind, Flush, Generated, Library, MemoryLimit, Operation, Order, QueueData,
    RowsData, RowsWork, SampledFrom, Server, Severity, Work, Workload, record::Record, rows,
};

use super::{
    DATA, KEYS, data,
    fixture::{filesystem, record},
    kinds, sound, workload,
};
use crate::{of_machine, of_stores};

const MIB: u64 = 1 << 20;

/// Findings about a changed record that is cold as well as warm.
fn early(change: impl FnOnce(&mut Record)) -> Vec<FindingKind> {
    let mut record = sound(&[Cache::Warm, Cache::DataCold]);
    change(&mut record);
    kinds(of_stores(&record))
}

#[test]
fn a_sound_record_raises_nothing() {
    assert_eq!(early(|_| ()), []);
}

#[test]
fn an_emulated_machine_and_a_scanner_are_named() {
    let found = |os: &str, emulator: Option<&str>, defender, excludes| {
        early(|r| {
            let environment = &mut r.header.environment;
            environment.os = os.to_owned();
            environment.emulator = emulator.map(str::to_owned);
            environment.defender = defender;
            environment.defender_excludes = excludes;
        })
    };
    let by = "Wine 8.0".to_owned();
    let emulated = [FindingKind::Emulated { by }, FindingKind::DefenderUnknown];
    assert_eq!(found("windows", Some("Wine 8.0"), None, None), emulated);
    let scans = |is_seen| [FindingKind::Defender { is_seen }];
    assert_eq!(found("windows", None, Some(true), None), scans(false));
    assert_eq!(found("windows", None, Some(true), Some(false)), scans(true));
    assert_eq!(found("windows", None, Some(true), Some(true)), [FindingKind::DefenderExcludes]);
    assert_eq!(found("windows", None, Some(false), None), []);
    assert_eq!(found("linux", None, None, None), []);
}

#[test]
fn any_governor_but_performance_varies() {
    let governor = |governor: &str, machine: Option<&str>| {
        early(|r| {
            r.header.environment.cpu.governor = Some(governor.to_owned());
            r.header.environment.virtualised = machine.map(str::to_owned);
            r.header.plan.caches = vec![Cache::DataCold];
        })
    };
    let found = [FindingKind::Governor { governor: "schedutil".to_owned() }];
    assert_eq!(governor("performance", None), []);
    assert_eq!(governor("schedutil", None), found);
    assert_eq!(governor("schedutil", Some("docker container")), found);
    assert!(!governor("schedutil", Some("KVM")).contains(&found[0]));
}

#[test]
fn a_kernel_that_moves_pages_out_is_a_finding() {
    let found = early(|r| r.header.environment.memory.pages_out_after_s = Some(60));
    assert_eq!(found, [FindingKind::PagesOut { seconds: 60 }]);
}

#[test]
fn a_limited_address_space_is_a_finding() {
    let bytes = 1 << 30;
    let found = early(|r| r.header.environment.memory.address_space_bytes = Some(bytes));
    assert_eq!(found, [FindingKind::AddressSpaceLimited { bytes }]);
}

#[test]
fn keys_left_out_and_fixed_orders_are_findings() {
    let ordered = |order, count| {
        early(|r| {
            let operation = Operation::Read;
            r.header.plan.workloads[0].work =
                Work::Blobs(BlobWork { operation, order, rate: None });
            r.header.plan.workloads[0].count = count;
        })
    };
    let covered = |touched| FindingKind::KeysNotCovered { touched, keys: 10_000 };
    assert_eq!(ordered(Order::Permutation, 20_000), []);
    assert_eq!(ordered(Order::Permutation, 1_000), [covered(1_000)]);
    assert_eq!(ordered(Order::Random, 10_000), [covered(6_321)]);
    assert_eq!(ordered(Order::Asc, 10_000), [FindingKind::OrderOfInsertion]);
    assert_eq!(ordered(Order::Desc, 10_000), [FindingKind::OrderOfInsertion]);
    let limited = early(|r| data(r, |_, available| *available = 15_000));
    assert_eq!(limited, [FindingKind::KeysNotCovered { touched: 10_000, keys: 15_000 }]);
}

#[test]
fn a_host_may_cache_if_there_is_one() {
    let host = |virtualised: &str, caches: &[Cache]| {
        early(|r| {
            r.header.environment.virtualised = Some(virtualised.to_owned());
            r.header.plan.caches = caches.to_vec();
        })
    };
    let kind = |machine: &str| [FindingKind::HostMayCache { machine: machine.to_owned() }];
    let cold = [Cache::Warm, Cache::Cold];
    assert_eq!(host("KVM", &cold), kind("KVM"));
    assert_eq!(host("KVM, docker container", &[Cache::DataCold]), kind("KVM"));
    let named = "virtual machine (Widgets, Inc.)";
    assert_eq!(host(&format!("{named}, podman container"), &cold), kind(named));
    assert_eq!(host("docker container", &cold), []);
    assert_eq!(host("KVM", &[Cache::Warm]), [FindingKind::OnlyWarm]);
    assert!(!host("KVM", &[Cache::Limited]).contains(&kind("KVM")[0]), "nothing is cold");
}

#[test]
fn a_loop_device_matters_if_a_device_is_to_be_reached() {
    let looped = |direct, caches: &[Cache], operation, class| {
        early(|r| {
            let filesystem = &mut r.header.environment.filesystems[0];
            filesystem.device = "/dev/loop7".to_owned();
            filesystem.loop_direct_io = direct;
            r.header.plan.caches = caches.to_vec();
            r.header.plan.workloads = vec![workload(operation)];
            r.stores.iter_mut().for_each(|facts| facts.durability = class);
        })
    };
    let twice = [FindingKind::CachedTwice { device: "/dev/loop7".to_owned() }];
    let (warm, cold) = ([Cache::Warm], [Cache::Cold]);
    let (none, durable) = (Durability::None, Durability::Durable);
    assert_eq!(looped(Some(false), &cold, Operation::Read, none), twice);
    assert_eq!(looped(Some(false), &warm, Operation::Update, durable), twice);
    let labelled = |direct| {
        let (kind, device) = ("ext4".to_owned(), "/dev/loop7".to_owned());
        [FindingKind::LoopDevice { kind, device, direct }]
    };
    assert_eq!(looped(Some(false), &warm, Operation::Update, none), labelled(false));
    assert_eq!(looped(Some(false), &warm, Operation::Read, durable), [FindingKind::OnlyWarm]);
    assert_eq!(looped(Some(true), &cold, Operation::Read, none), labelled(true));
    assert_eq!(looped(Some(true), &warm, Operation::Read, durable), [FindingKind::OnlyWarm]);
    assert_eq!(looped(None, &cold, Operation::Update, durable), []);
}

#[test]
fn compressible_data_matters_if_the_file_system_compresses() {
    let compressed = |how: Option<&str>, deflated| {
        early(|r| {
            r.header.environment.filesystems[0].compression = how.map(str::to_owned);
            data(r, |summary, _| summary.deflated = deflated);
        })
    };
    let kind = FindingKind::Compressible { kind: "ext4".to_owned(), ratio: 0.89 };
    assert_eq!(compressed(Some("zstd:3"), Some(0.89)), [kind]);
    assert_eq!(compressed(Some("zstd:3"), Some(0.91)), []);
    assert_eq!(compressed(Some("zstd:3"), None), []);
    assert_eq!(compressed(None, Some(0.1)), []);
    let updates = early(|r| {
        r.header.environment.filesystems[0].compression = Some("zstd".to_owned());
        data(r, |summary, _| summary.deflated = Some(0.1));
        r.header.plan.workloads = vec![workload(Operation::Update)];
    });
    assert_eq!(updates, [], "updates write random bytes");
}

#[test]
fn measuring_warm_only_is_a_finding_if_there_are_files() {
    let warm = |change: fn(&mut Record)| {
        let mut record = sound(&[Cache::Warm]);
        change(&mut record);
        kinds(of_stores(&record))
    };
    assert_eq!(warm(|_| ()), [FindingKind::OnlyWarm]);
    assert_eq!(warm(|r| r.header.plan.workloads = vec![workload(Operation::Update)]), []);
    assert_eq!(warm(|r| r.stores[0].apparent_bytes = 0), [FindingKind::OnlyWarm]);
    assert_eq!(warm(|r| r.stores.iter_mut().for_each(|facts| facts.apparent_bytes = 0)), []);
}

#[test]
fn reads_in_batches_of_one_are_a_finding() {
    let batch = |batch| early(|r| r.header.plan.workloads[0].batch = batch);
    assert_eq!(batch(Batch::Of(1)), [FindingKind::ReadsAlone]);
    assert_eq!(batch(Batch::Of(2)), []);
    assert_eq!(batch(Batch::All), []);
}

#[test]
fn more_workers_than_processors_are_a_finding_unless_they_sleep() {
    let workers = |threads, processes, rate| {
        early(|r| {
            let (operation, order) = (Operation::Read, Order::Permutation);
            let work = Work::Blobs(BlobWork { operation, order, rate });
            r.header.environment.cpu.count = 4;
            r.header.plan.workloads[0] =
                Workload { work, threads, processes, ..workload(operation) };
        })
    };
    assert_eq!(workers(2, 2, None), []);
    let kind = FindingKind::WorkersOutnumberCpus { workers: 6, cpus: 4 };
    assert_eq!(workers(3, 2, None), [kind]);
    assert_eq!(workers(8, 1, Some(100.0)), []);
}

#[test]
fn stores_on_different_file_systems_are_a_finding_unless_that_is_what_is_compared() {
    let second = |kind: &str, device: &str, mount: &str, on: Option<&str>| {
        early(|r| {
            r.header.environment.filesystems.push(filesystem(kind, device, "/mnt"));
            r.stores[1].mount = Some(mount.to_owned());
            r.header.plan.targets[1].on = on.map(str::to_owned);
        })
    };
    let differs = |filesystem: &str| {
        let (filesystem, baseline) = (filesystem.to_owned(), "ext4 (/dev/vda, mounted on /)");
        [FindingKind::FilesystemDiffers { filesystem, baseline: baseline.to_owned() }]
    };
    let (xfs, other) = ("xfs (/dev/vda, mounted on /mnt)", "ext4 (/dev/vdb, mounted on /mnt)");
    assert_eq!(second("xfs", "/dev/vda", "/mnt", None), differs(xfs));
    assert_eq!(second("ext4", "/dev/vdb", "/mnt", None), differs(other));
    assert_eq!(second("xfs", "/dev/vdb", "/", None), [], "the other has no store");
    assert_eq!(second("ext4", "/dev/vda", "/mnt", None), [], "the same, mounted twice");
    assert_eq!(second("xfs", "/dev/vdb", "/mnt", Some("xfs")), []);
}

#[test]
fn few_values_that_hold_half_of_the_bytes_are_a_finding() {
    let half = |half_in| {
        early(|r| {
            data(r, |summary, _| {
                summary.half_in = half_in;
                summary.largest = 60_000_000;
            });
        })
    };
    let (keys, largest) = (KEYS, 60_000_000);
    let few = |values| [FindingKind::FewValuesHoldMost { values, keys, largest }];
    assert_eq!(half(Some(1)), few(1));
    assert_eq!(half(Some(KEYS / 20)), few(KEYS / 20));
    assert_eq!(half(Some(KEYS / 20 + 1)), []);
    assert_eq!(half(Some(0)), [], "without bytes there is no half of them");
    assert_eq!(half(None), []);
}

#[test]
fn a_readahead_of_which_the_memory_given_holds_few_is_a_finding() {
    let given = |limit_bytes, readahead_bytes| {
        early(|r| {
            r.header.plan.memory = Some(MemoryLimit { limit_bytes, ..MemoryLimit::default() });
            r.header.environment.filesystems[0].readahead_bytes = readahead_bytes;
        })
    };
    let (readahead, memory) = (8 * MIB, 128 * MIB - 1);
    let large = [FindingKind::ReadaheadLarge { readahead, memory }];
    assert_eq!(given(Some(memory), Some(readahead)), large);
    assert_eq!(given(Some(128 * MIB), Some(readahead)), []);
    assert_eq!(given(Some(memory), None), []);
    assert_eq!(given(None, Some(readahead)), [], "only the caches of the engines are equal");
}

#[test]
fn a_server_is_compared_with_a_library_over_a_socket() {
    let served = |servers: [Option<Server>; 2]| {
        early(|r| {
            for (facts, server) in r.stores.iter_mut().zip(servers) {
                facts.server = server;
            }
        })
    };
    let (started, existing) = (Some(Server::Started), Some(Server::Existing));
    assert_eq!(served([None, None]), []);
    assert_eq!(served([None, started]), [FindingKind::OverSocket]);
    assert_eq!(served([started, started]), []);
    assert_eq!(served([started, existing]), [FindingKind::ServerUnseen]);
    assert_eq!(served([existing, None]), [FindingKind::OverSocket, FindingKind::ServerUnseen]);
}

#[test]
fn own_memory_matters_as_far_as_there_is_data_for_it() {
    let own = |bytes, baseline, of| {
        early(|r| {
            data(r, |summary, _| summary.bytes = of);
            r.stores[0].memory_bytes = Some(baseline);
            r.stores[1].memory_bytes = Some(bytes);
        })
    };
    let differs = |bytes, baseline| [FindingKind::MemoryDiffers { bytes, baseline }];
    assert_eq!(own(17 * MIB, 0, DATA), differs(17 * MIB, 0));
    assert_eq!(own(16 * MIB, 0, DATA), []);
    assert_eq!(own(0, 17 * MIB, DATA), differs(0, 17 * MIB));
    assert_eq!(own(100 * MIB, 0, 1001 * MIB), [], "less than a tenth of the data");
    assert_eq!(own(100 * MIB, 0, 999 * MIB), differs(100 * MIB, 0));
    assert_eq!(own(1000 * MIB, 200 * MIB, DATA), [], "either holds all");
    let unknown = early(|r| {
        r.stores[0].memory_bytes = None;
        r.stores[1].memory_bytes = Some(DATA);
    });
    assert_eq!(unknown, []);
}

#[test]
fn a_flush_that_no_drive_can_do_matters_if_updates_are_flushed() {
    let flush = |p50_ns, device: &str, class, operation| {
        early(|r| {
            let filesystem = &mut r.header.environment.filesystems[0];
            filesystem.mount = "/mnt".to_owned();
            filesystem.device = device.to_owned();
            filesystem.flush = Some(Flush { p50_ns, ..Flush::default() });
            r.header.plan.workloads = vec![workload(operation)];
            r.stores.iter_mut().for_each(|facts| facts.durability = class);
        })
    };
    let (update, durable) = (Operation::Update, Durability::Durable);
    let kind = [FindingKind::FlushTooFast { p50_ns: 9_999, mount: "/mnt".to_owned() }];
    assert_eq!(flush(9_999, "/dev/vda", durable, update), kind);
    assert_eq!(flush(9_999, "/dev/vda", Durability::Consistent, update), kind);
    assert_eq!(flush(10_000, "/dev/vda", durable, update), []);
    assert_eq!(flush(9_999, "/dev/pmem0", durable, update), []);
    assert_eq!(flush(9_999, "/dev/vda", Durability::None, update), []);
    assert_eq!(flush(9_999, "/dev/vda", durable, Operation::Read), []);
}

#[test]
fn an_sqlite_that_flushes_with_fsync_matters_if_it_is_flushed() {
    let built = |option: &str, engine: &str, operation| {
        early(|r| {
            let loaded = (option == "loaded").then(|| "./old.so".to_owned());
            let options = vec!["THREADSAFE=2".to_owned(), option.to_owned()];
            let (name, version) = ("SQLite".to_owned(), "3.50.0".to_owned());
            r.header.environment.os = "linux".to_owned();
            r.header.environment.libraries =
                vec![Library { loaded, options, ..Library::new(name, version) }];
            r.header.plan.targets[1].engine = engine.to_owned();
            r.header.plan.workloads = vec![workload(operation)];
            r.stores.iter_mut().for_each(|facts| facts.durability = Durability::Durable);
        })
    };
    let found = [FindingKind::FlushesWithFsync];
    assert_eq!(built("TEMP_STORE=1", "sqlite", Operation::Update), found);
    assert_eq!(built("TEMP_STORE=1", "sqlite", Operation::Read), []);
    assert_eq!(built("TEMP_STORE=1", "lmdb", Operation::Update), []);
    assert_eq!(built("HAVE_FDATASYNC=1", "sqlite", Operation::Update), []);
    assert_eq!(built("loaded", "sqlite", Operation::Update), [], "it does not report that option");
}

#[test]
fn data_should_be_larger_than_the_processors_cache_and_smaller_than_memory() {
    let cache = |bytes| early(|r| r.header.environment.cpu.last_level_cache_bytes = Some(bytes));
    assert_eq!(cache(DATA), []);
    assert_eq!(
        cache(DATA + 1),
        [FindingKind::FitsCpuCache { bytes: DATA, cache: DATA + 1, all: None }]
    );
    let sample_of = |all: u64| {
        early(|r| {
            r.header.environment.cpu.last_level_cache_bytes = Some(DATA + 1);
            let Experiment::Blobs(BlobsData { sampled_from, .. }) = &mut r.header.plan.experiment
            else {
                panic!()
            };
            *sampled_from = Some(SampledFrom { count: 1_000, bytes: all });
        })
    };
    let fits = |bytes, all| FindingKind::FitsCpuCache { bytes, cache: DATA + 1, all };
    assert_eq!(sample_of(DATA), [fits(DATA, None)]);
    let sample = fits(DATA, Some(DATA + 1));
    assert_eq!(sample.severity(), Severity::Warning);
    assert_eq!(sample_of(DATA + 1), [sample]);
    let memory = |bytes| early(|r| r.header.environment.memory.available_bytes = Some(bytes));
    let (bytes, available) = (2 * DATA, 2 * DATA - 1);
    assert_eq!(memory(2 * DATA), []);
    assert_eq!(memory(available), [FindingKind::MemorySmall { bytes, available }]);
    let one_store = |r: &mut Record| {
        r.header.environment.memory.available_bytes = Some(available);
        r.header.plan.targets.iter_mut().for_each(|target| target.location = "a.db".to_owned());
    };
    assert!(!early(one_store).contains(&FindingKind::MemorySmall { bytes, available }));
    let as_found = early(|r| {
        r.header.environment.memory.available_bytes = Some(available);
        r.header.environment.cpu.last_level_cache_bytes = Some(DATA + 1);
        r.header.plan.caches = vec![Cache::AsFound];
    });
    assert_eq!(as_found, [], "memory need not hold it, and the device is slower than any cache");
}

#[test]
fn a_file_system_that_is_not_a_disks_own_is_unusual() {
    let on = |kind: &str| early(|r| r.header.environment.filesystems[0].kind = kind.to_owned());
    for unusual in ["tmpfs", "overlay", "fuse.sshfs"] {
        let kind =
            FindingKind::UnusualFilesystem { kind: unusual.to_owned(), mount: "/".to_owned() };
        assert_eq!(on(unusual).first(), Some(&kind));
    }
    assert_eq!(on("xfs"), []);
    assert_eq!(on("fuseblk"), []);
}

#[test]
fn a_machine_fit_for_measuring_has_no_findings() {
    let direct = Filesystem { loop_direct_io: Some(true), ..Filesystem::default() };
    assert_eq!(on_machine("performance", Some("podman container"), direct), []);
}

#[test]
fn each_hindrance_of_a_machine_is_a_finding() {
    let in_memory = Filesystem { kind: "tmpfs".to_owned(), ..Filesystem::default() };
    let tmpfs = on_machine("powersave", None, in_memory);
    assert!(matches!(
        *tmpfs,
        [FindingKind::Governor { .. }, FindingKind::UnusualFilesystem { .. }]
    ));
    let looped = Filesystem { loop_direct_io: Some(false), ..Filesystem::default() };
    let looped = on_machine("performance", Some("KVM"), looped);
    assert!(matches!(*looped, [FindingKind::HostMayCache { .. }, FindingKind::CachedTwice { .. }]));
}

fn on_machine(
    governor: &str,
    virtualised: Option<&str>,
    filesystem: Filesystem,
) -> Vec<FindingKind> {
    of_machine(&Environment {
        cpu: Cpu { governor: Some(governor.to_owned()), ..Cpu::default() },
        virtualised: virtualised.map(str::to_owned),
        filesystems: vec![filesystem],
        ..Environment::default()
    })
}

/// Servers are compared with libraries by intent where rows and tasks are measured, and data has no
/// size there.
#[test]
fn each_experiment_has_the_findings_that_matter_to_it() {
    let of = |experiment: Experiment, work| {
        early(|r| {
            r.header.environment.cpu.last_level_cache_bytes = Some(u64::MAX);
            r.header.plan.experiment = experiment;
            r.header.plan.workloads[0].work = work;
            r.stores[1].server = Some(Server::Existing);
            r.stores[1].durability = Durability::Durable;
        })
    };
    let differs =
        FindingKind::DurabilityDiffers { class: Durability::Durable, baseline: Durability::None };
    let (operation, own_databases) = (rows::RowOperation::Insert, false);
    let rows = of(
        Experiment::Rows(RowsData { rows: 10 }),
        Work::Rows(RowsWork { operation, own_databases }),
    );
    assert_eq!(rows, std::slice::from_ref(&differs));
    let tasks =
        of(Experiment::Queue(QueueData { tasks: 10, rewrites: 1, output: 10 }), Work::Queue);
    assert_eq!(tasks, std::slice::from_ref(&differs));
    let data = Generated { seed: 1, count: 10, size: 10, random_percent: 100, variance: 0 };
    let summary = *sound(&[Cache::Warm]).header.plan.experiment.summary().unwrap();
    let ageing = Work::Age(AgeWork { operation: Operation::Insert, age: 0 });
    let ageing = of(Experiment::Age(AgeData { data, summary }), ageing);
    assert_eq!(ageing, [differs, FindingKind::OverSocket, FindingKind::ServerUnseen]);
}

#[test]
fn a_build_in_the_program_is_no_shared_library() {
    let mut record = record(&["sqlite", "sqlite lib=./new.so", "files"], 100);
    let library = |loaded: Option<&str>, options: &[&str]| Library {
        loaded: loaded.map(str::to_owned),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        ..Library::new("SQLite", "3.50.0")
    };
    record.header.environment.libraries = vec![
        library(None, &["COMPILER=gcc-12", "THREADSAFE=1"]),
        library(Some("./new.so"), &["COMPILER=clang", "THREADSAFE=1", "ENABLE_FTS5"]),
    ];
    let found = |record: &Record| {
        let all = of_stores(record).into_iter();
        let linked = all.filter(|of| matches!(of.kind, FindingKind::LinkedDifferently { .. }));
        linked.map(|of| (of.target.unwrap(), of.kind.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(found(&record), [], "neither has the setting");
    record.header.plan.targets[1].settings.set("lib", "./new.so");
    let [(target, sentence)] = &found(&record)[..] else { panic!("{:?}", found(&record)) };
    assert_eq!(target, "sqlite lib=./new.so");
    assert!(sentence.contains("other compile options (ENABLE_FTS5); "), "{sentence}");
    record.header.plan.targets[0].settings.set("lib", "./old.so");
    assert_eq!(found(&record), [], "both are shared");
}

#[test]
fn a_size_that_is_rounded_is_in_effect() {
    let asked = |effect: &str| {
        early(|r| {
            r.header.plan.targets[1].settings.set("mmap", "2147483648".to_owned());
            r.stores[1].in_effect.set("mmap", effect.to_owned());
        })
    };
    assert_eq!(asked("2147418112"), []);
    for other in ["2097152000", "0", "off"] {
        assert!(matches!(asked(other)[..], [FindingKind::SettingNotInEffect { .. }]), "{other}");
    }
}
