//! The request of `storemark run`.

use std::{collections::BTreeSet, ffi::OsStr, path::Path, time::Duration};

use engines::registry;
use host::Placements;
use lab::{BlobsRequest, Coverage, Data, ResolvedTarget, RolesRequest, StoreLocation};
use model::{
    BlobWork, Blobs, COPY_OF, Durability, Error, Facet, LIBRARY, Result, Settings, WORKER, no_such,
    units::show_count,
};
use spec::{BlobsSpec, SharedSetting, given_value, given_values};

use super::{hosts, programs};
use crate::{
    commands::copy,
    files, output,
    store_place::StorePlace,
    targets::{self, FoundTarget},
};

pub(super) fn request(
    spec: &BlobsSpec,
    placements: &Placements,
    seed: u64,
) -> Result<(BlobsRequest, Class)> {
    let resolved = resolve(spec)?;
    check_on(spec, &resolved)?;
    refuse_in_place(spec, &resolved)?;
    let work = changeable(spec, &resolved)?;
    let mut targets = chosen(spec, &resolved, placements)?;
    targets.extend(same_build_again(&targets));
    let class = class(spec, &work, &mut targets)?;
    let blobs = BlobsRequest {
        data: data(spec, &resolved, seed)?,
        coverage: coverage(spec),
        targets,
        work,
        caches: spec.caches(),
        count: given_value(&spec.work.count),
        repeated: None,
        max_key: given_value(&spec.data.max_id),
        start: given_value(&spec.work.start),
        batch: spec.batch(matches!(&resolved[..], [alone] if alone.place.location().is_some())),
        threads: given_value(&spec.work.threads).unwrap_or(1),
        processes: given_value(&spec.work.processes),
        hosts: hosts::hosts(&spec.clients)?,
        memory: given_value(&spec.work.memory),
        over_time: spec.extras.over_time,
        in_place: spec.ways.in_place,
        integrity_check: spec.ways.integrity_check,
        copies: true,
        short_of_room: spec.extras.yes,
        leaves_out: false,
    };
    Ok((blobs, class))
}

/// Returns the work; without updates that nobody asked for if a target is only read.
///
/// # Errors
///
/// Fails if writes are asked for and a target is only read.
fn changeable(spec: &BlobsSpec, resolved: &[FoundTarget]) -> Result<Vec<BlobWork>> {
    let mut work = spec.work(resolved.iter().any(|target| target.place.location().is_some()));
    let writes = work.iter().find(|work| work.operation.writes()).map(|work| work.operation);
    let Some(writes) = writes else { return Ok(work) };
    let Some(why) = only_read(resolved)? else { return Ok(work) };
    if spec.asks_for_work() {
        return Err(Error::usage(format!("{why}; leave it out, or {writes}")));
    }
    output::say(&format!("{why}: only reads are measured"));
    work.retain(|work| !work.operation.writes());
    Ok(work)
}

/// Returns why the first of the targets that are only read is not updated.
fn only_read(resolved: &[FoundTarget]) -> Result<Option<String>> {
    for target in resolved {
        if let Some(why) = target.only_read()? {
            return Ok(Some(format!("{}: {why}", target.text)));
        }
    }
    Ok(None)
}

/// Returns the request of `storemark run --roles`, and the durability class of all targets that can give
/// it, with the label of one that cannot.
pub(super) fn roles(
    spec: &BlobsSpec,
    placements: &Placements,
    seed: u64,
) -> Result<(RolesRequest, Class)> {
    let resolved = resolve(spec)?;
    let in_files = |of: &FoundTarget| of.is_scratch() || of.engine.capabilities().persistent;
    if let Some(target) = resolved.iter().find(|of| !in_files(of)) {
        let why = format!(
            "roles work in copies, which are made of stores in files only; use sqlite: --data '{}'",
            target.text
        );
        return Err(Error::usage(why).at(&target.text));
    }
    let processes = &spec.work.processes;
    if processes.iter().any(|count| count.value() > 1) {
        return Err(Error::usage(
            "--processes with --roles: accepted is 1, a process for each session",
        ));
    }
    let mut targets = chosen(spec, &resolved, placements)?;
    let mut class = (spec.durability(targets.len(), &[]), None);
    if given_value(&spec.work.durability).is_none() {
        // A target whose own settings give less is measured as it is.
        for target in &mut targets {
            target.keeps_class = target.settings_for(Facet::Blobs, class.0).is_err();
        }
        let kept = targets.iter().find(|target| target.keeps_class);
        class.1 = kept.map(|target| target.label.clone());
    }
    let request = RolesRequest {
        data: data(spec, &resolved, seed)?,
        targets,
        roles: given_value(&spec.work.roles).map(|roles| roles.0).unwrap_or_default(),
        distribution: given_value(&spec.work.distribution),
        pass: given_value(&spec.work.pass),
        meanwhile: given_values(&spec.work.meanwhile),
        processes: !processes.is_empty(),
    };
    Ok((request, class))
}

/// The durability class of all targets, and the server that it is adopted from.
pub(super) type Class = (Option<Durability>, Option<String>);

/// Returns the durability class, and the label of the server that determines it. An existing server
/// is not changed: if no class is asked for, it keeps its own, and the others get the same if they
/// have it.
fn class(
    spec: &BlobsSpec,
    work: &[BlobWork],
    targets: &mut [ResolvedTarget<dyn Blobs>],
) -> Result<Class> {
    // Limits that nobody named are no reason to refuse a class.
    for target in targets.iter_mut().filter(|of| spec.targets.is_empty() && is_limit(of)) {
        target.keeps_class = true;
    }
    let default = spec.durability(targets.len(), work);
    let Some(class) = default.filter(|_| given_value(&spec.work.durability).is_none()) else {
        return Ok((default, None));
    };
    let server = targets.iter().find_map(|target| Some((target, target.address.as_ref()?)));
    // A dry run asks no server.
    let Some((server, address)) = server.filter(|_| !spec.extras.dry_run) else {
        return Ok((Some(common_class(class, targets)), None));
    };
    let servers = server.engine.servers();
    let class = servers.and_then(|servers| servers.class_at(address.reveal(), &server.settings));
    let (class, label) = (class.map_err(|e| e.context(&server.label))?, server.label.clone());
    for target in targets {
        let cannot = target.engine.class_settings(Facet::Blobs, class).is_err();
        target.keeps_class = target.address.is_some() || cannot;
    }
    Ok((Some(class), Some(label)))
}

/// Reports whether a target is a limit of the machine, or an archive, which is only read.
fn is_limit(target: &ResolvedTarget<dyn Blobs>) -> bool {
    target.engine.declaration().reference || target.engine.capabilities().written_once
}

/// Returns `class` if all targets can give it, or else `durable`, or else the weakest class that all can give.
/// Limits of the machine and archives, which are only read, are measured as they are, and so are all if they have
/// no class in common.
fn common_class(class: Durability, targets: &mut [ResolvedTarget<dyn Blobs>]) -> Durability {
    let all_give = |class: &Durability| {
        let mut stores = targets.iter().filter(|target| !is_limit(target));
        stores.all(|target| target.settings_for(Facet::Blobs, Some(*class)).is_ok())
    };
    // A stronger class keeps what the default promises; a weaker one does not.
    let others = [Durability::Durable].into_iter().chain(Durability::ALL);
    let common = [class].into_iter().chain(others).find(all_give);
    for target in targets.iter_mut().filter(|target| common.is_none() || is_limit(target)) {
        target.keeps_class = true;
    }
    common.unwrap_or(Durability::None)
}

/// Returns how much of the data is measured. A given number of rounds is for all of it.
fn coverage(spec: &BlobsSpec) -> Coverage {
    match given_value(&spec.data.sample) {
        Some(count) => Coverage::Sample(count),
        None if spec.running.rounds.is_empty() => Coverage::ALL_THAT_FITS,
        None => Coverage::All,
    }
}

/// Returns the settings for all targets.
///
/// # Errors
///
/// Fails if no engine has one of them, or all memory is to be equal and one is the size of a cache.
fn shared_settings(spec: &BlobsSpec) -> Result<Vec<SharedSetting>> {
    let shared = given_values(&spec.settings.set);
    for SharedSetting { engine, name, .. } in &shared {
        let engines = match engine {
            Some(engine) => vec![registry::blobs(engine)?],
            None => registry::all_blobs().collect(),
        };
        let names: BTreeSet<_> =
            engines.iter().flat_map(|one| one.settings(Facet::Blobs)).map(|one| one.name).collect();
        if !names.contains(&**name) {
            return Err(Error::usage(no_such("setting", name, names)).at("--set"));
        }
        if name.starts_with("cache") && !spec.work.memory.is_empty() {
            return Err(Error::usage(format!(
                "--memory cannot be used with --set {name}: it sets the cache of each engine"
            )));
        }
    }
    Ok(shared)
}

/// Resolves the targets, one for each combination of settings that are lists.
fn resolve(spec: &BlobsSpec) -> Result<Vec<FoundTarget>> {
    let shared = shared_settings(spec)?;
    let mut all = Vec::new();
    let texts = chosen_texts(spec);
    let has_no_data = spec.source.data.is_none() && !spec.data.shapes_data();
    // A dry run asks no server.
    let is_alone = texts.len() == 1 && has_no_data && !spec.extras.dry_run;
    for text in texts {
        let target = targets::resolve(text)?;
        let target = if is_alone { target.or_table_there()? } else { target };
        all.extend(target.with_values(true)?.swept(&shared, spec.ways.zip)?);
    }
    programs::in_workers(spec, all)
}

/// Returns the targets as the user wrote them; if there are none, those default targets that this
/// program has, and that several processes can open if there are to be several.
pub(super) fn chosen_texts(spec: &BlobsSpec) -> Vec<&OsStr> {
    let default = if spec.settings.set.is_empty() {
        &BlobsSpec::TARGETS[..]
    } else {
        &BlobsSpec::PLAIN_TARGETS
    };
    let shared = !spec.work.processes.is_empty() || !spec.clients.hosts.is_empty();
    let serves = |engine: &'static dyn Blobs| {
        let settings = Settings::default();
        engine.capabilities().processes && engine.writes_alone(&settings).is_none()
    };
    let fits = |text: &&str| {
        let engine = registry::blobs(targets::engine_word(text));
        engine.is_ok_and(|engine| !shared || serves(engine))
    };
    let default: Vec<&'static str> = default.iter().copied().filter(fits).collect();
    targets::or_default(&spec.targets, &default)
}

fn chosen(
    spec: &BlobsSpec,
    resolved: &[FoundTarget],
    placements: &Placements,
) -> Result<Vec<ResolvedTarget<dyn Blobs>>> {
    let shared = given_values(&spec.settings.set);
    let mut targets = Vec::new();
    for target in resolved {
        let is_own = |one: &&SharedSetting| target.settings.iter().any(|(own, _)| *own == one.name);
        let others = shared.iter().filter(|one| one.is_for(target.engine.name()) && !is_own(one));
        let mut defaults: Vec<_> = others.map(|one| (&*one.name, one.value.clone())).collect();
        defaults.extend(equal_cache(spec, target).map(|bytes| ("cache", bytes)));
        let asked = target.with_settings(&defaults)?;
        if let Some(path) = target.place.location().filter(|_| !target.place.exists()) {
            return Err(targets::missing(path));
        }
        targets.extend(targets::on_each(&asked, placements));
    }
    Ok(targets)
}

/// The label of a build that is measured twice.
const AGAIN: &str = "the same build again";

/// Returns the first target with a build of its own once more, if targets differ only in a build: with a
/// copy of its library, or in another worker of its program. A difference between builds that is not
/// larger than the one between both shows nothing. Returns `None` if the user has named a copy.
fn same_build_again(targets: &[ResolvedTarget<dyn Blobs>]) -> Option<ResolvedTarget<dyn Blobs>> {
    [LIBRARY, WORKER].into_iter().find_map(|setting| again(targets, setting))
}

fn again(
    targets: &[ResolvedTarget<dyn Blobs>],
    setting: &str,
) -> Option<ResolvedTarget<dyn Blobs>> {
    let build =
        |target: &ResolvedTarget<dyn Blobs>| target.settings.get(setting).map(str::to_owned);
    let rest = |target: &ResolvedTarget<dyn Blobs>| {
        let mut settings = target.settings.clone();
        settings.0.remove(setting);
        (target.engine.name(), target.location.clone(), target.placement.clone(), settings)
    };
    if targets.iter().filter_map(build).any(|build| build.starts_with(COPY_OF)) {
        return None;
    }
    let compared = |one: &&ResolvedTarget<dyn Blobs>| {
        let is_other = |other: &ResolvedTarget<dyn Blobs>| {
            // One program by two names is the same build.
            let differ = setting != WORKER || other.engine.program() != one.engine.program();
            differ && build(other) != build(one) && rest(other) == rest(one)
        };
        build(one).is_some() && targets.iter().any(is_other)
    };
    let first = targets.iter().find(compared)?;
    let mut again = ResolvedTarget { label: AGAIN.to_owned(), ..first.clone() };
    again.settings.set(setting, format!("{COPY_OF}{}", build(first)?));
    let loaded = first.engine.check(Facet::Blobs, &again.settings);
    loaded.inspect_err(|why| output::say(&format!("{AGAIN} is not measured: {why}"))).ok()?;
    Some(again)
}

/// Fails if values on a server would be written to.
fn refuse_in_place(spec: &BlobsSpec, resolved: &[FoundTarget]) -> Result<()> {
    let own = |target: &&FoundTarget| matches!(target.place, StorePlace::UsersValues(_));
    match resolved.iter().find(own).filter(|_| spec.ways.in_place) {
        None => Ok(()),
        Some(target) => Err(Error::usage(
            "--in-place: values of your own on a server are only read; without it, updates are made to \
             copies of them that storemark makes there, and removes",
        )
        .at(&target.text)),
    }
}

/// Fails if a target cannot be placed on several file systems: only stores that storemark creates
/// on a disk can.
fn check_on(spec: &BlobsSpec, resolved: &[FoundTarget]) -> Result<()> {
    let fixed =
        |target: &&FoundTarget| !target.is_scratch() || !target.engine.capabilities().persistent;
    match resolved.iter().find(fixed).filter(|_| !spec.placing.on.is_empty()) {
        None => Ok(()),
        Some(target) => Err(Error::usage(format!(
            "--on places scratch stores on file systems; {} is not made on a disk",
            target.text
        ))),
    }
}

/// Returns the cache that `--memory` gives an engine with a cache of its own; `None` without that
/// option.
fn equal_cache(spec: &BlobsSpec, target: &FoundTarget) -> Option<String> {
    let [threads, processes] =
        [&spec.work.threads, &spec.work.processes].map(|of| given_value(of).unwrap_or(1));
    let (memory, workers) = (given_value(&spec.work.memory)?, threads.saturating_mul(processes));
    lab::equal_cache(target.engine, memory, workers).map(|bytes| bytes.to_string())
}

const SHAPES: &str = "--keys, --bytes, --size, --variance and --compressible shape generated data";

fn data(spec: &BlobsSpec, resolved: &[FoundTarget], seed: u64) -> Result<Data> {
    let located = resolved.iter().find(|target| target.place.location().is_some());
    let shaped = spec.data.shapes_data();
    match (&spec.source.data, located) {
        (Some(_), Some(target)) => Err(Error::usage(format!(
            "--data names the data, so {} cannot have its own: leave out its location",
            target.text
        ))),
        (_, Some(target)) if shaped => {
            Err(Error::usage(format!("{SHAPES}; {} has its own", target.text)))
        }
        (Some(_), None) if shaped => Err(Error::usage(format!("{SHAPES}; --data has its own"))),
        (Some(text), None) => stored(text.as_ref()),
        (None, Some(target)) => {
            let folder = target.place.location().filter(|path| path.is_dir());
            let own = folder.filter(|_| target.engine.name() == registry::folders().name());
            own.map_or(Ok(()), say_hard_links).map(|()| Data::Targets)
        }
        (None, None) => Ok(Data::Generated(spec.generated(seed))),
    }
}

/// How long hard links are searched for: a folder with many of them has some among its first files.
const LINKING: Duration = Duration::from_millis(500);

/// Prints how many values are the same file as another one.
fn say_hard_links(folder: &Path) -> Result<()> {
    let repeated = host::repeated_files(folder, LINKING)?;
    if repeated > 0 {
        output::say(&format!(
            "{}: at least {} of its names are hard links to files with other names there: each is \
             measured as a value, but the system caches a file once",
            folder.display(),
            show_count(repeated)
        ));
    }
    Ok(())
}

/// Returns the data in a store of the user: a folder, or any other target.
pub(super) fn stored(text: &OsStr) -> Result<Data> {
    if is_folder(text) {
        return directory(Path::new(text));
    }
    let (resolved, path) = targets::existing(text).map_err(|error| error.context("--data"))?;
    let settings = resolved.settings(&[])?;
    Ok(Data::Store(StoreLocation { engine: resolved.engine, path, settings }))
}

/// Returns whether `text` is the path of a folder that is no store of another engine.
pub(crate) fn is_folder(text: &OsStr) -> bool {
    let path = Path::new(text);
    path.is_dir() && registry::marked(path).is_none()
}

/// Opens a folder of the user, in which every file is a value named by its path.
pub(crate) fn directory(path: &Path) -> Result<Data> {
    files::check_folder(path).map_err(|error| error.context("--data"))?;
    let engine = registry::folders();
    let settings = Settings::check(engine.settings(Facet::Blobs), [("layout", "names")])?;
    copy::say_left_out(&path.display().to_string(), &engines::not_values(path)?);
    say_hard_links(path)?;
    Ok(Data::Store(StoreLocation { engine, path: path.to_owned(), settings }))
}
