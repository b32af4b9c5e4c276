//! What a user can ask `storemark run` for.

use model::{
    Batch, BlobWork, Cache, Durability, Generated, LostHost, Meanwhile, Mix, Operation, Order,
    Roles, Ycsb,
};

use crate::{
    common::{HdrOption, JudgeOption, Output, Placing, Running, caches},
    generated::{DEFAULT_DATA, DataSource},
    options::options,
    shared_setting::SharedSetting,
    value::{
        Amount, GivenValue, Integer, Name, Rate, Share, Size, Text, Time, UpTo, given_value,
        given_values,
    },
};

/// The generated data for YCSB: as many bytes as [`DEFAULT_DATA`], in records of YCSB's size.
const YCSB_DATA: Generated =
    Generated { seed: 0, count: 40_000, size: Ycsb::RECORD, variance: 0, random_percent: 100 };

options! {
    /// Measures one target, or compares several
    pub struct BlobsSpec {
        targets = "What to measure; none: files, the other engines of this program, each with the \
            settings that read fastest, and pack. One may be a plan file or a record, which is \
            measured as it says";
        ..source: DataSource,
        ..data: DataOptions,
        ..work: WorkOptions,
        ..clients: ClientOptions,
        ..settings: SharedSettings,
        ..running: Running,
        ..placing: Placing,
        ..ways: Ways,
        ..shown: Output,
        ..extras: Extras,
    }

    /// Which values are generated, and which of them are touched.
    pub struct DataOptions under "Data" {
        /// Blobs in a generated dataset
        keys: Vec<GivenValue<Size>> = "N",
        /// As many blobs as fit into so many bytes together
        bytes: Vec<GivenValue<Size>> = "BYTES",
        /// Their middle size in bytes
        size: Vec<GivenValue<Size>> = "BYTES",
        /// How far sizes vary to either side
        variance: Vec<GivenValue<Size>> = "BYTES",
        /// Generate values that compress to this share of their size, 0.01 to 1, for filling and
        /// for updates
        compressible: Option<GivenValue<Share>> = "SHARE",
        /// Measure N of the values, a sample stratified by size; default: all, or without --rounds as
        /// many as fit into the time
        sample: Option<GivenValue<Size>> = "N",
        /// Largest integer key to touch
        max_id: Vec<GivenValue<Integer>> = "KEY" [allow_hyphen_values = true],
    }

    /// What is done with the values.
    pub struct WorkOptions under "Workload" {
        /// Measure reading (the default for stores of your own)
        read: bool,
        /// Measure overwriting each blob by random bytes of its size, on a scratch copy
        update: bool,
        /// Mix operations, each drawn by its share in percent, as in read=95,update=5: of read,
        /// update, insert, delete, scan (1 to 100 values in key order), rmw (read, then update) and
        /// stat (the length of a value)
        mix: Option<GivenValue<Mix>>,
        /// Mixes of the Yahoo! Cloud Serving Benchmark, a to f, on values of 1,000 bytes (its
        /// records have 10 fields of 100; here a record is one value); several letters are a
        /// workload each
        ycsb: Vec<GivenValue<Ycsb>> = "LETTERS",
        /// Sessions with different work at the same time: NAME=SESSIONS[:WORD…][@RATE], separated by
        /// commas, as in readers=4,writers=1@1k/s. A word is an operation (as in --mix, with its share
        /// if there are several), batch=N, held=TIME (how long a transaction stays open), immediate or
        /// deferred. Each role is measured alone, too
        roles: Option<GivenValue<Roles>> = "ROLES",
        /// Length of a pass with --roles; default: as long as fits five rounds into the time
        pass: Option<GivenValue<Time>> = "TIME",
        /// Maintenance of the store while all roles of --roles work: checkpoint, vacuum, analyze,
        /// backup, integrity-check, compact or copy; once in a pass, or with =always again and again;
        /// several are a pass each
        meanwhile: Vec<GivenValue<Meanwhile>> = "WORK",
        /// Draw keys with replacement: uniform, zipfian (=0.99), latest, or hotspot (=20/80, 20 %
        /// of the keys get 80 % of the operations); default for a mix and for roles: uniform
        distribution: Option<GivenValue<Order>> = "LAW",
        /// Start so many operations a second, on schedule, however long each takes; latencies count
        /// from the scheduled start; several rates are a workload each
        rate: Vec<GivenValue<Rate>> = "N/s",
        /// What is in memory when a trial starts: warm, data-cold (no pages), cold (no pages and no
        /// names; needs root, drops the caches of the whole machine); several are shown one after
        /// the other; default: warm
        cache: Vec<GivenValue<Cache>> = "STATE",
        /// Operations of a pass; default: every key once
        count: Vec<GivenValue<Size>> = "N",
        /// Touch keys in ascending order
        asc: bool,
        /// Touch keys in descending order
        desc: bool,
        /// Draw keys at random with replacement; default: a random permutation of all
        random: bool,
        /// Start at this integer key (with --asc or --desc)
        start: Vec<GivenValue<Integer>> = "KEY" [allow_hyphen_values = true],
        /// Operations per commit, or all; default: 1 for writes, a mix and a --rate, all for reads; for
        /// one store of your own, as in kvtest: all
        batch: Vec<GivenValue<Batch>> = "N",
        /// Set each engine up for this class: none, consistent or durable; default: consistent if
        /// several targets are written to, else as a target is set
        durability: Vec<GivenValue<Durability>> = "CLASS",
        /// Workers of each process, each with a session of its own; default: 1
        threads: Vec<GivenValue<UpTo<1024>>> = "N",
        /// Worker processes, each with so many threads; only for stores that several can have open;
        /// default: 1; several numbers show how they scale, next to clients of a target that does
        /// nothing
        processes: Vec<GivenValue<UpTo<1024>>> = "N" [visible_alias = "clients"],
        /// Equal memory for each target: half of it for the engine's own cache, if it has one, and
        /// as root on Linux a limit on everything, the page cache included
        memory: Vec<GivenValue<Size>> = "SIZE",
    }

    /// Where clients run that are not on this machine.
    pub struct ClientOptions under "Clients on other machines" {
        /// Run the worker processes on these hosts, --processes of them on each; every target must be
        /// reachable from all of them: a server by its address, or a store in a shared folder
        hosts: Vec<GivenValue<Text>> = "HOST",
        /// How a worker is started on a host: ssh, slurm, kubernetes, or a command with {host} in
        /// it, as in 'ssh {host} storemark worker'; default: ssh. Without --hosts, slurm takes the
        /// hosts of its allocation
        launch: Option<GivenValue<Text>> = "COMMAND",
        /// What a lost host does to the run: stop, or go-on with the hosts that are left;
        /// default: stop
        lost_host: Option<GivenValue<LostHost>> = "WHAT",
        /// The longest time that a host may take to start a worker, and that it may then say nothing;
        /// default: 60s
        host_timeout: Option<GivenValue<Time>> = "TIME",
    }

    /// Settings that every target takes whose engine has them.
    pub struct SharedSettings under "Settings for all targets that have them" {
        /// Set NAME of every target that has it and does not set it itself, as in mmap=1GiB;
        /// sqlite:sync=off is for one engine alone; commas between values make a target of each
        set: Vec<GivenValue<SharedSetting>> = "NAME=VALUE",
    }

    /// How to measure.
    pub struct Ways under "Run" {
        /// Measure N times, each in fresh processes with a share of the time, for a comparison with
        /// another record: its intervals then come from the means of the runs; default: 1
        runs: Option<GivenValue<UpTo<1000>>> = "N",
        /// Take the first value of each list, then the second of each, instead of every combination
        zip: bool,
        /// Update your own stores instead of scratch copies: their contents are overwritten
        in_place: bool,
        /// Run the engine's own integrity check afterwards
        integrity_check: bool,
    }

    /// What to print and write.
    pub struct Extras under "Output" {
        /// Write the options of this run to FILE, as a plan that measures it again
        save_plan: Option<Name> = "FILE",
        /// Show what would be measured and what it takes, and measure nothing
        dry_run: bool,
        /// Send at most N requests to object stores, those of filling and checking included; then the
        /// run ends with what was measured
        max_requests: Option<GivenValue<Size>> = "N",
        /// The same by their cost, in the currency of a target's prices=
        max_cost: Option<GivenValue<Amount>> = "AMOUNT",
        /// Continue with what takes a day, or more space than seems to be free
        yes: bool,
        /// Show how passes went over time, in slices of 100 ms, and where they stalled; passes then
        /// last at least two seconds, and all operations are timed once
        over_time: bool,
        /// Show the engines' own counters and the process's input and output
        stats: bool,
        /// Exit with 3 when there is a finding above a note
        strict: bool,
        ..judged: JudgeOption,
        ..latencies: HdrOption,
    }
}

impl DataOptions {
    /// Returns whether an option shapes the generated data.
    pub fn shapes_data(&self) -> bool {
        [&self.keys, &self.bytes, &self.size, &self.variance].iter().any(|list| !list.is_empty())
            || self.compressible.is_some()
    }
}

impl BlobsSpec {
    /// The targets that are measured when the user names none, as far as this program has them:
    /// each engine with the settings that read fastest, of which the cache or the memory map may
    /// take 1 GiB.
    pub const TARGETS: [&str; 7] = [
        "files:",
        "sqlite:?api=blob&mmap=1GiB",
        "lmdb:",
        "redb:",
        "fjall:?cache=1GiB",
        "rocksdb:?cache=1GiB",
        "pack:",
    ];

    /// The targets if an option sets something for all of them, which settings of their own would
    /// undo.
    pub const PLAIN_TARGETS: [&str; 3] = ["files:", "sqlite:", "pack:"];

    /// Returns the dataset that is generated.
    pub fn generated(&self, seed: u64) -> Generated {
        let DataOptions { keys, bytes, size, variance, compressible, .. } = &self.data;
        let default = if self.work.ycsb.is_empty() { DEFAULT_DATA } else { YCSB_DATA };
        let (size, bytes) = (given_value(size), given_value(bytes));
        let fit = |bytes: u64| (bytes / size.unwrap_or(default.size).max(1)).max(1);
        Generated {
            random_percent: given_value(compressible).unwrap_or(default.random_percent),
            ..default.shaped(
                given_value(keys).or(bytes.map(fit)),
                size,
                given_value(variance),
                seed,
            )
        }
    }

    /// Returns a workload for each operation at each rate. `located` is whether a target is a store
    /// of the user.
    pub fn work(&self, located: bool) -> Vec<BlobWork> {
        let rates = match self.work.rate.as_slice() {
            [] => vec![None],
            rates => rates.iter().map(|rate| Some(rate.value())).collect(),
        };
        let work = |(operation, order), rate| BlobWork { operation, order, rate };
        let operations = self.operations(located);
        let at_each =
            |operation| rates.iter().map(move |rate| work(operation, *rate)).collect::<Vec<_>>();
        operations.into_iter().flat_map(at_each).collect()
    }

    /// Reports whether the operations are named.
    pub fn asks_for_work(&self) -> bool {
        let WorkOptions { read, update, mix, ycsb, .. } = &self.work;
        *read || *update || mix.is_some() || !ycsb.is_empty()
    }

    fn operations(&self, located: bool) -> Vec<(Operation, Order)> {
        let WorkOptions { read, update, mix, ycsb, .. } = &self.work;
        if !ycsb.is_empty() {
            let workload = |one: Ycsb| (Operation::Mix(one.mix()), one.order());
            return given_values(ycsb).into_iter().map(workload).collect();
        }
        let operations = match (given_value(mix), read, update) {
            (Some(mix), ..) => vec![Operation::Mix(mix)],
            (_, false, false) if located => vec![Operation::Read],
            (_, true, false) => vec![Operation::Read],
            (_, false, true) => vec![Operation::Update],
            _ => vec![Operation::Read, Operation::Update],
        };
        operations.into_iter().map(|operation| (operation, self.order())).collect()
    }

    fn order(&self) -> Order {
        let WorkOptions { asc, desc, random, mix, distribution, .. } = &self.work;
        match given_value(distribution) {
            _ if *asc => Order::Asc,
            _ if *desc => Order::Desc,
            Some(law) => law,
            None if *random || mix.is_some() => Order::Random,
            None => Order::Permutation,
        }
    }

    /// Returns the operations per commit, or `None` for [`Batch::usual`]. A workload that is a mix
    /// or has a rate commits one operation at a time. A single store of the user is kvtest's
    /// command, which commits once.
    pub fn batch(&self, one_store: bool) -> Option<Batch> {
        let WorkOptions { mix, ycsb, rate, batch, .. } = &self.work;
        let comes_alone = mix.is_some() || !ycsb.is_empty() || !rate.is_empty();
        match given_value(batch) {
            Some(asked) => Some(asked),
            None if comes_alone => Some(Batch::Of(1)),
            None => one_store.then_some(Batch::All),
        }
    }

    /// Returns the cache states, each once.
    pub fn caches(&self) -> Vec<Cache> {
        caches(&self.work.cache, Cache::Warm)
    }

    /// Returns the durability class that every engine is set up for, or `None` if each keeps its
    /// own. A single target is measured as it is set. Several that are written to are compared with
    /// equal durability: if the user does not choose a class, every value is whole after a power
    /// cut.
    pub fn durability(&self, targets: usize, work: &[BlobWork]) -> Option<Durability> {
        let several = targets > 1 || self.placing.on.len() > 1;
        let roles = given_value(&self.work.roles).map(|roles| roles.0).unwrap_or_default();
        let writes = roles.iter().any(|role| role.mix.writes());
        let compared = several && work.iter().any(|work| work.operation.writes()) || writes;
        given_value(&self.work.durability).or(compared.then_some(Durability::Consistent))
    }
}
