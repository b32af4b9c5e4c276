//! The resolution of target strings to engines, paths and checked settings.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    path::{Path, PathBuf},
};

use engines::{Plugin, registry};
use host::{Placements, ReadOnlyKind};
use model::{
    Accepts, Blobs, COPY_OF, Engine, EngineFacts, Error, Facet, LIBRARY, PLUGIN, Result, STORE,
    Secret, Setting, Settings, TypedTarget, WORKER, scratch_label, settings_text, without_password,
};
use spec::{Name, SharedSetting, combinations};

use crate::{STOP, files, images, output, program, store_place::StorePlace};

/// A typed target with its engine and its place. Its settings are not checked yet: a value may be a list
/// that a sweep goes through.
#[derive(Clone)]
pub(crate) struct FoundTarget {
    /// The text as the user wrote it, without a password.
    pub(crate) text: String,
    pub(crate) engine: &'static dyn Blobs,
    pub(crate) place: StorePlace,
    /// Settings in the order in which they were written.
    pub(crate) settings: Vec<(String, String)>,
}

impl FoundTarget {
    /// Checks the settings, laid over those of `defaults` that the engine has.
    pub(crate) fn settings(&self, defaults: &[(&str, String)]) -> Result<Settings> {
        refuse_worker(&self.settings, self.engine.program()).map_err(|e| e.context(&self.text))?;
        if self.engine.name() == PLUGIN && self.engine.program().is_none() {
            let why =
                "a plugin is a target of `storemark run` only; `storemark conformance` checks it";
            return Err(Error::usage(why).at(&self.text));
        }
        // The cache is set in pages or in bytes: a target's own way replaces the default's.
        let own_cache = self.sets_cache();
        let defaults = defaults.iter().map(|(name, value)| (*name, value.as_str()));
        let defaults = defaults.filter(|(name, _)| {
            self.accepts(name).is_some() && !(own_cache && name.starts_with("cache"))
        });
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = Settings::check(self.table(), defaults.chain(own));
        let checked = settings.and_then(|all| self.engine.check(Facet::Blobs, &all).map(|()| all));
        checked.map_err(|e| e.context(&self.text))
    }

    /// Returns the settings that the target may have, with the one that makes the engine another program's.
    fn table(&self) -> Vec<&'static Setting> {
        static OF_PROGRAMS: Setting = lab::WORKER_SETTING;
        let own = self.engine.settings(Facet::Blobs).into_iter();
        let may_have = lab::works_in_program(self.engine) && self.engine.program().is_none();
        own.chain(may_have.then_some(&OF_PROGRAMS)).collect()
    }

    /// Returns the target with its settings, laid over `defaults`.
    pub(crate) fn with_settings(
        &self,
        defaults: &[(&str, String)],
    ) -> Result<lab::ResolvedTarget<dyn Blobs>> {
        Ok(lab::ResolvedTarget {
            location: self.place.location().map(Path::to_owned),
            address: self.place.address().cloned(),
            settings: self.settings(defaults)?,
            ..lab::ResolvedTarget::scratch(&self.label(), self.engine)
        })
    }

    /// Adds the settings that find the values in a store that another program made, and prints what was
    /// found by itself.
    ///
    /// # Errors
    ///
    /// Fails if there are none, or single values are read (`by_key`) and the store does not read these.
    pub(crate) fn with_values(mut self, by_key: bool) -> Result<Self> {
        let Some(path) = self.existing_location() else { return Ok(self) };
        self.check_names()?;
        let asked = Settings(self.settings.iter().cloned().collect());
        let Some(found) = self.engine.find_values(path, &asked)? else { return Ok(self) };
        if let Some(why) = found.only_moved.filter(|_| by_key) {
            return Err(Error::usage(why).at(&self.text));
        }
        if let Some(about) = found.about {
            output::say(&format!("{}: {about}", self.text));
        }
        let new = found.settings.0.into_iter().filter(|(name, _)| asked.get(name).is_none());
        self.settings.extend(new);
        Ok(self)
    }

    /// Fails if the engine has no setting of a name; the values may be lists.
    fn check_names(&self) -> Result<()> {
        let is_unknown =
            |(name, _): &&(String, String)| name != WORKER && self.accepts(name).is_none();
        self.settings.iter().filter(is_unknown).try_for_each(|(name, value)| {
            let checked = Settings::check(self.table(), [(&**name, &**value)]);
            checked.map(drop).map_err(|e| e.context(&self.text))
        })
    }

    /// Returns where the store of the user is; `None` if it does not exist.
    fn existing_location(&self) -> Option<&Path> {
        self.place.location().filter(|_| self.place.exists())
    }

    /// Takes the values of the user at the address of a server for the store, as its settings name them.
    pub(crate) fn at_address(self) -> Self {
        let place = match self.place {
            StorePlace::Server(address) => StorePlace::UsersValues(address),
            other => other,
        };
        Self { place, ..self }
    }

    /// Takes a table of the user at the address of a server for the store, if there is one with bytes.
    pub(crate) fn or_table_there(self) -> Result<Self> {
        let settings = self.engine.settings(Facet::Blobs);
        let has_tables = settings.iter().any(|setting| setting.name == "table");
        let asked = Settings(self.settings.iter().cloned().collect());
        let StorePlace::Server(address) = &self.place else { return Ok(self) };
        let path = Path::new(address.reveal());
        let has_values = has_tables && self.engine.find_values(path, &asked)?.is_some();
        Ok(if has_values { self.at_address() } else { self })
    }

    /// Takes the place at the address of a server for a store that is to be made there.
    ///
    /// # Errors
    ///
    /// Fails if no store of the user can be made there.
    pub(crate) fn into_destination(mut self) -> Result<Self> {
        match self.place {
            StorePlace::Image(_) => {
                let why =
                    "is an image, which is only read; copy into files:DIR, and make an image of it";
                return Err(Error::usage(why).at(&self.text));
            }
            StorePlace::Server(_) => {}
            _ => return Ok(self),
        }
        let Some(settings) = self.engine.servers()?.destination() else {
            return Err(Error::usage("no copy can be made there").at(&self.text));
        };
        let named = |name: &str| self.settings.iter().any(|(own, _)| own == name);
        let more = settings.iter().filter(|(name, _)| !named(name));
        let more: Vec<_> = more.map(|(name, word)| ((*name).into(), (*word).into())).collect();
        self.settings.extend(more);
        let all = Settings(self.settings.iter().cloned().collect());
        if !self.engine.servers()?.names_values(&all) {
            return Err(
                Error::usage("a copy stays, so that its values are your own").at(&self.text)
            );
        }
        Ok(self.at_address())
    }

    /// Returns why values of the store are not updated; `None` if they can be.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be looked at.
    pub(crate) fn only_read(&self) -> Result<Option<String>> {
        if let StorePlace::Image(_) = self.place {
            return Ok(Some("is an image, which is only read".to_owned()));
        }
        let own = Settings(self.settings.iter().cloned().collect());
        self.engine.only_read(self.existing_location().unwrap_or(Path::new("")), &own)
    }

    /// Reports whether storemark creates the store, on this machine.
    pub(crate) fn is_scratch(&self) -> bool {
        matches!(self.place, StorePlace::Scratch)
    }

    /// Returns its name in tables: engine and settings of a scratch store, otherwise what the user
    /// wrote.
    fn label(&self) -> String {
        if self.is_scratch() {
            scratch_label(self.engine.name(), &self.settings)
        } else {
            self.text.clone()
        }
    }

    /// Returns a target for each combination of the settings that have several values: in `shared`,
    /// or in the target string, where commas separate values unless the setting takes any text.
    pub(crate) fn swept(mut self, shared: &[SharedSetting], zip: bool) -> Result<Vec<Self>> {
        let cached = self.sets_cache();
        for one in shared.iter().filter(|one| one.is_for(self.engine.name())) {
            let setting = (one.name.clone(), one.value.clone());
            let own = self.settings.iter().any(|(other, _)| *other == one.name)
                || (cached && one.name.starts_with("cache"));
            if !own && self.values(&setting).len() > 1 {
                self.settings.push(setting);
            }
        }
        let values: Vec<Vec<String>> = self.settings.iter().map(|one| self.values(one)).collect();
        let lists = self.settings.iter().zip(&values);
        let lists: Vec<_> = lists
            .filter(|(_, values)| values.len() > 1)
            .map(|((name, _), values)| (name.clone(), values.len()))
            .collect();
        let places = combinations(&lists, zip).map_err(|e| e.context(&self.text))?;
        Ok(places.into_iter().map(|places| self.with(&values, &places)).collect())
    }

    fn sets_cache(&self) -> bool {
        self.settings.iter().any(|(name, _)| name.starts_with("cache"))
    }

    fn accepts(&self, name: &str) -> Option<Accepts> {
        let table = self.engine.settings(Facet::Blobs);
        table.iter().find(|setting| setting.name == name).map(|setting| setting.accepts)
    }

    fn values(&self, (name, value): &(String, String)) -> Vec<String> {
        match self.accepts(name) {
            None | Some(Accepts::Text) => vec![value.clone()],
            Some(_) => value.split(',').map(str::to_owned).collect(),
        }
    }

    /// Returns a target with one value for each setting; `places` are the indices into those of
    /// `values` that are lists.
    fn with(&self, values: &[Vec<String>], places: &[usize]) -> Self {
        if places.is_empty() {
            return self.clone();
        }
        let mut places = places.iter();
        let mut one = |values: &Vec<String>| match values.as_slice() {
            [value] => value.clone(),
            // `places` has one for each list.
            several => several[*places.next().unwrap_or(&0)].clone(),
        };
        let names = self.settings.iter().map(|(name, _)| name.clone());
        let settings: Vec<_> = names.zip(values.iter().map(&mut one)).collect();
        let head = self.text.rsplit_once('?').filter(|(_, tail)| tail.contains('='));
        let head = head.map_or(self.text.as_str(), |(head, _)| head);
        let pairs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Self { text: format!("{head}?{}", settings_text(pairs)), settings, ..self.clone() }
    }
}

/// Appends a number to each label that occurs before.
pub(crate) fn number(labels: &mut [&mut String]) {
    let mut counts = BTreeMap::new();
    for label in labels {
        let count = counts.entry(label.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            **label = format!("{label} #{count}");
        }
    }
}

/// Returns the index of the target that `--baseline` names, by its label, as a scratch store is written
/// (`sqlite:?mmap=1GiB`), or by its number from 1; without it the index of the target labelled `default`,
/// or of the first. Fails if there is no such target.
pub(crate) fn baseline(
    wanted: Option<String>,
    default: Option<&str>,
    labels: &[&mut String],
) -> Result<usize> {
    let place = |wanted: &str| labels.iter().position(|label| **label == wanted);
    let Some(wanted) = wanted else { return Ok(default.and_then(place).unwrap_or(0)) };
    // Labels have none.
    let shown = without_password(&wanted);
    let numbers = 1..=labels.len();
    let numbered = || wanted.parse().ok().filter(|number| numbers.contains(number)).map(|n| n - 1);
    let written = || {
        let TypedTarget { engine, settings, location } = TypedTarget::parse(&wanted);
        let engine = engine.filter(|_| location.as_os_str().is_empty())?;
        place(&scratch_label(&engine, &settings))
    };
    place(&wanted).or_else(|| place(&shown)).or_else(written).or_else(numbered).ok_or_else(|| {
        let labels: Vec<_> = labels.iter().map(|label| label.as_str()).collect();
        Error::usage(format!(
            "--baseline {shown}: no such target (accepted: {}, or 1 to {})",
            labels.join(", "),
            labels.len()
        ))
    })
}

/// Returns `target` on each of the file systems; as it is if none was asked for.
pub(crate) fn on_each<E: ?Sized>(
    target: &lab::ResolvedTarget<E>,
    placements: &Placements,
) -> Vec<lab::ResolvedTarget<E>> {
    let on = |placement: Option<&host::Placement>| lab::ResolvedTarget {
        label: target.label.clone()
            + &placement.map_or_else(String::new, |on| format!(" on {}", on.name)),
        placement: placement.cloned(),
        ..target.clone()
    };
    placements.or_none().map(on).collect()
}

/// Fails if settings name a storemark program whose workers are not used.
fn refuse_worker(settings: &[(String, String)], program: Option<&Path>) -> Result<()> {
    let is_named = settings.iter().any(|(name, _)| name == WORKER);
    if !is_named || program.is_some() {
        return Ok(());
    }
    Err(Error::usage(format!("{WORKER}= is a setting for `storemark run` only; leave it out here")))
}

/// Returns the word before the colon.
pub(crate) fn engine_word(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

/// Resolves a target that is only measured in a scratch store: an engine with settings.
pub(crate) fn scratch<E: Engine + ?Sized>(
    text: &OsStr,
    facet: Facet,
    find: fn(&str) -> Result<&'static E>,
) -> Result<lab::ResolvedTarget<E>> {
    let words = text.to_string_lossy();
    let of_engine = || {
        let target = TypedTarget::parse(text);
        target.check()?;
        let (what, names): (_, Vec<_>) = match facet {
            Facet::Rows => ("rows are made", registry::all_rows().map(EngineFacts::name).collect()),
            _ => ("tasks are kept", registry::all_tasks().map(EngineFacts::name).collect()),
        };
        let name = target.engine.as_deref().ok_or_else(|| {
            let names = names.join(":, ");
            Error::usage(format!(
                "names no engine; {what} in a store of their own (accepted: {names}:)"
            ))
        })?;
        let engine = find(name)?;
        refuse_worker(&target.settings, None)?;
        let pairs = target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = Settings::check(engine.settings(facet), pairs)?;
        engine.check(facet, &settings)?;
        if !target.location.is_empty() {
            return Err(Error::usage(format!(
                "{what} in a store of their own, removed afterwards; leave out {:?}",
                without_password(&target.location.to_string_lossy())
            )));
        }
        let label = scratch_label(name, &target.settings);
        Ok(lab::ResolvedTarget { settings, ..lab::ResolvedTarget::scratch(&label, engine) })
    };
    of_engine().map_err(|e| e.context(without_password(&words)))
}

/// Returns what the user named, or the default if that is nothing.
pub(crate) fn or_default<'a>(named: &'a [Name], default: &[&'static str]) -> Vec<&'a OsStr> {
    match named {
        [] => default.iter().map(|text| OsStr::new(*text)).collect(),
        named => named.iter().map(AsRef::as_ref).collect(),
    }
}

/// Resolves a target that may name a store that exists, a server, or neither.
pub(crate) fn resolve(text: &OsStr) -> Result<FoundTarget> {
    // A path that exists wins over any reading of its characters.
    if Path::new(text).exists() {
        return bare(Path::new(text), Vec::new(), text);
    }
    let (words, target) = (&*text.to_string_lossy(), TypedTarget::parse(text));
    target.check().map_err(|e| e.context(without_password(words)))?;
    let path = PathBuf::from(&target.location);
    if target.location.is_empty() && target.engine.is_none() {
        return Err(Error::usage(format!("{words:?}: names neither an engine nor a path")));
    }
    let Some(name) = &target.engine else { return bare(&path, target.settings, text) };
    let settings = target.settings;
    if let Some(kind) = ReadOnlyKind::named(name) {
        return in_image(kind, &path, settings, text);
    }
    if name == PLUGIN {
        return plugin(&path, settings, words).map_err(|e| e.context(words));
    }
    if let Some(address) = target.location.to_str().filter(|location| location.starts_with("//")) {
        let text = without_password(words);
        let engine = registry::remote(name).map_err(|e| e.context(&text))?;
        engine.servers()?.check_address(address)?;
        let place = StorePlace::Server(Secret::address(address));
        let found = FoundTarget { text, engine, place, settings };
        let own = Settings(found.settings.iter().cloned().collect());
        return Ok(if engine.servers()?.names_values(&own) { found.at_address() } else { found });
    }
    let engine = registry::blobs(name).map_err(|e| e.context(without_password(words)))?;
    if engine.capabilities().remote {
        let words = without_password(words);
        return Err(Error::usage(format!(
            "names no server, as {} does",
            engine.declaration().address_form()
        ))
        .at(&words));
    }
    check_values(engine, &path.to_string_lossy()).map_err(|e| e.context(words))?;
    let is_named = !path.as_os_str().is_empty();
    let place = if is_named { StorePlace::Path(followed(path)) } else { StorePlace::Scratch };
    Ok(FoundTarget { text: words.to_owned(), engine, place, settings })
}

/// Resolves a target whose stores are in the shared object at `object`, as a worker declares it that loads
/// it. Its store is the one that the setting `store` names.
fn plugin(object: &Path, mut settings: Vec<(String, String)>, text: &str) -> Result<FoundTarget> {
    let at = |settings: &[(String, String)], name| settings.iter().position(|(own, _)| own == name);
    if object.as_os_str().is_empty() && at(&settings, LIBRARY).is_none() {
        return Err(Error::usage("names no shared object, as plugin:./libmystore.so does"));
    }
    if !object.as_os_str().is_empty() {
        if at(&settings, LIBRARY).is_some() {
            return Err(Error::usage("names two shared objects; leave out lib="));
        }
        let library = (LIBRARY.to_owned(), object.to_string_lossy().into_owned());
        settings.insert(0, library);
    }
    let library = at(&settings, LIBRARY).map(|at| &*settings[at].1).unwrap_or_default();
    let library = Path::new(library.strip_prefix(COPY_OF).unwrap_or(library));
    let absolute = library.canonicalize().map_err(|_| files::missing(library, "shared object"))?;
    let facts = lab::plugin_facts(&program::worker_command()?, &absolute, &STOP)?;
    let engine: &'static dyn Blobs = Plugin::declared(&absolute, facts)?;
    let place = at(&settings, STORE)
        .map_or(StorePlace::Scratch, |at| StorePlace::Path(followed(settings.remove(at).1.into())));
    Ok(FoundTarget { text: text.to_owned(), engine, place, settings })
}

/// Fails if a location ends in settings without values.
fn check_values(engine: &dyn Blobs, location: &str) -> Result<()> {
    let Some((path, tail)) = location.rsplit_once('?') else { return Ok(()) };
    let known = engine.settings(Facet::Blobs).iter().any(|setting| setting.name == tail);
    if path.is_empty() || known {
        return Err(Error::usage(format!(
            "?{tail}: a setting needs a value (accepted: name=value)"
        )));
    }
    Ok(())
}

/// Resolves a target that must name a store that exists.
pub(crate) fn existing(text: &OsStr) -> Result<(FoundTarget, PathBuf)> {
    let resolved = resolve(text)?.at_address().with_values(false)?;
    match resolved.place.location().map(Path::to_owned) {
        Some(path) if resolved.place.exists() => Ok((resolved, path)),
        Some(path) => Err(missing(&path)),
        None => Err(Error::usage("names no store on disk").at(&resolved.text)),
    }
}

/// Returns the error for a path that must exist: a store to read is never created.
pub(crate) fn missing(path: &Path) -> Error {
    let missing = files::missing(path, "file or folder");
    if let Some(partial) = lab::interrupted_copy(path) {
        return Error::usage(format!(
            "{missing}; an interrupted copy is in {}: its `storemark copy` continues it with --resume",
            partial.display()
        ));
    }
    let is_engine = registry::all_blobs().any(|engine| path == Path::new(engine.name()));
    if is_engine {
        Error::usage(format!("{missing}; the engine is {}:", path.display()))
    } else {
        missing
    }
}

fn bare(path: &Path, settings: Vec<(String, String)>, text: &OsStr) -> Result<FoundTarget> {
    if !path.exists() {
        return Err(missing(path));
    }
    if let Some(kind) = ReadOnlyKind::recognise(path) {
        return in_image(kind, path, settings, text);
    }
    let engine = registry::recognise(path).ok_or_else(|| unknown(path))?;
    let (text, place) = (text.to_string_lossy().into_owned(), followed(path.to_owned()));
    Ok(FoundTarget { text, engine, place: StorePlace::Path(place), settings })
}

/// Resolves the image in a file: its files are values, as those of a folder.
fn in_image(
    kind: &ReadOnlyKind,
    image: &Path,
    settings: Vec<(String, String)>,
    text: &OsStr,
) -> Result<FoundTarget> {
    let text = text.to_string_lossy().into_owned();
    if !image.as_os_str().is_empty() && !image.exists() {
        return Err(missing(image));
    }
    let place = StorePlace::Image(images::mounted(kind, image)?);
    Ok(FoundTarget { text, engine: registry::folders(), place, settings })
}

/// Returns the error for a path without an engine that is no store.
pub(crate) fn unknown(path: &Path) -> Error {
    let shown = path.display();
    if path.is_file()
        && let Err(error) = File::open(path)
    {
        return Error::io(shown, error);
    }
    if let Some((engine, file)) = registry::marked(path) {
        // Whether it is a whole one, only the engine knows.
        if let Some((stores, feature)) = registry::absent(engine) {
            return Error::unsupported(format!(
                "{shown}: has {file}, as a store of {stores} has, which this build does not read; a \
                 program built with `--features {feature}` does, and files:{shown} takes its files as \
                 values"
            ));
        }
        // For verify it is damaged.
        return Error::corrupt(format!(
            "{shown}: has {file}, as a store of {engine} has, but is not a whole one; files:{shown} \
             takes its files as values"
        ));
    }
    let ending = path.extension().and_then(OsStr::to_str);
    let own = |engine: &&'static dyn Blobs| engine.declaration().extension == ending;
    let like = registry::all_blobs().find(|engine| ending.is_some() && own(engine));
    let like = like.map_or_else(String::new, |engine| {
        let title = engine.declaration().title;
        format!(" (it does not start as a store of {title}: is it encrypted, or damaged?)")
    });
    Error::usage(format!(
        "{shown}: is no store of a kind that storemark knows{like}; name the engine, as in \
         ENGINE:{shown}"
    ))
}

/// Follows a link: a store's other files are next to what it leads to, not next to the link.
pub(crate) fn followed(path: PathBuf) -> PathBuf {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => path.canonicalize().unwrap_or(path),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_target_again_gets_a_number() {
        let mut labels = ["a", "a", "b", "a", "ab"].map(str::to_owned);
        number(&mut labels.each_mut());
        assert_eq!(labels, ["a", "a #2", "b", "a #3", "ab"]);
    }

    #[test]
    fn a_baseline_is_named_or_numbered() {
        let mut labels = ["x", "y", "2"].map(str::to_owned);
        let labels = labels.each_mut();
        let index = |wanted: &str| baseline(Some(wanted.to_owned()), None, &labels);
        assert_eq!(index("y").unwrap(), 1);
        assert_eq!(index("1").unwrap(), 0);
        assert_eq!(index("2").unwrap(), 2, "a label before a number");
        for wrong in ["0", "4", "z", ""] {
            let said = index(wrong).unwrap_err().to_string();
            assert!(said.contains("accepted: x, y, 2, or 1 to 3"), "{said}");
        }
        let default = |label| baseline(None, Some(label), &labels).unwrap();
        assert_eq!((default("2"), default("z")), (2, 0));
    }
}
