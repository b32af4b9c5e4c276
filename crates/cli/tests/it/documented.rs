//! Every command in README, CONTRIBUTING and docs works, or at least starts.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    running::{signal, within},
    servers::{self, without},
    world::{Ran, World, systems_sqlite},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn documents() -> Vec<PathBuf> {
    let folders = [root(), root().join("docs")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "md"));
    paths.sort();
    paths
}

/// The command lines in the blocks of all documents that call `program`, with the document's
/// name; without prompts, comments and what is around them in a build's configuration.
fn commands(program: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in documents() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap().replace("\\\n", "");
        let mut in_fence = false;
        for line in text.lines() {
            let is_border = line.starts_with("```");
            in_fence ^= is_border;
            if (in_fence && !is_border) || line.starts_with("    ") {
                all.extend(command(line, program).map(|command| (name.clone(), command)));
            }
        }
    }
    all
}

/// The same in the steps of the workflows.
fn steps(program: &str) -> Vec<(String, String)> {
    let read = |name: &str| {
        let text = fs::read_to_string(root().join(".github/workflows").join(name)).unwrap();
        let steps = text.lines().filter_map(|line| command(line, program));
        steps.map(|step| (name.to_owned(), step)).collect::<Vec<_>>()
    };
    ["ci.yml", "release.yml"].into_iter().flat_map(read).collect()
}

/// The call of `program` in a line of a block, if its first word that is no variable, prompt or
/// key is that program.
fn command(line: &str, program: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
    // Words of a command have single spaces between them; a remark follows more.
    let line = line.trim_start_matches("$ ").split("   ").next()?.split(" #").next()?;
    let mut words = line
        .split_whitespace()
        .skip_while(|w| w.contains('=') || w.contains("/time") || *w == "-v");
    let first = words.next()?;
    let rest: Vec<_> = words.collect();
    (first.rsplit('/').next()? == program).then(|| rest.join(" "))
}

/// What the tests below run. `--version` starts no command.
const PLANNED: &[&str] = &["run"];
const STARTED: &[&str] =
    &["advise", "rows", "queue", "age", "life", "study", "calibrate", "doctor"];
const RUN: &[&str] = &[
    "init",
    "stat",
    "export",
    "import",
    "copy",
    "verify",
    "cache",
    "compare",
    "report",
    "engines",
    "help",
    "completions",
    "man",
];
/// What needs a compiler, a server or a repository: its own tests run it.
const ELSEWHERE: &[&str] = &["backup", "clean", "conformance", "crash", "sqlite"];

#[test]
fn every_command_is_tried_and_works_as_pasted() {
    let lines = commands("storemark");
    assert!(lines.len() > 80, "{}", lines.len());
    for (document, line) in lines {
        let command = line.split(' ').next().unwrap();
        let known = [PLANNED, STARTED, RUN, ELSEWHERE].concat();
        assert!(known.contains(&command), "{document}: {line}: no test tries it");
        // Outside of quotes: files that match are put in by bash, and missed by zsh, which has no remarks
        // either.
        let bare: String = line.split('\'').step_by(2).collect();
        assert!(!bare.contains(['?', '*', '&', '[', '(', '#']), "{document}: quote: {line}");
    }
}

#[test]
fn no_remark_follows_a_command() {
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let is_command = |line: &&str| {
            let line = line.trim_start().trim_start_matches("$ ");
            ["storemark ", "make ", "cargo "].into_iter().any(|program| line.starts_with(program))
        };
        for line in text.lines().filter(is_command) {
            assert!(
                !line.contains(" # "),
                "{}: zsh takes it for words: {line}",
                document.display()
            );
        }
    }
}

/// What a newcomer reads first stays short.
#[test]
fn the_readme_has_at_most_a_thousand_words() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.split_whitespace().count() <= 1000, "{}", text.split_whitespace().count());
}

#[test]
fn every_page_is_in_the_index() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    for document in documents() {
        let name = document.file_name().unwrap().to_string_lossy();
        let is_page = document.parent().unwrap().ends_with("docs") && name != "README.md";
        assert!(!is_page || index.contains(&format!("]({name})")), "{name}");
    }
}

/// The first job of each push runs the second command of the README, and nothing else.
#[test]
fn the_workflow_runs_the_gate() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let gate = readme.lines().filter_map(|line| line.strip_prefix("    ")).nth(1).unwrap();
    let workflow = fs::read_to_string(root().join(".github/workflows/ci.yml")).unwrap();
    let job = workflow.split("    steps:\n").nth(1).unwrap();
    let job = job.lines().take_while(|line| !line.is_empty());
    let steps = job.filter_map(|line| line.trim_start().strip_prefix("- "));
    let expected = ["uses: actions/checkout@v4".to_owned(), format!("run: {gate}")];
    assert!(steps.eq(expected), "{gate}: {workflow}");
}

/// The anchor of each heading of a page.
fn anchors(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim_start().to_lowercase().replace(' ', "-");
        text.replace(|c: char| !c.is_alphanumeric() && c != '-' && c != '_', "")
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_to_a_file_leads_to_it() {
    let mut links = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|to| !to.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let name = document.file_name().unwrap().to_str().unwrap();
            let path = document.with_file_name(if file.is_empty() { name } else { file });
            let leads =
                path.exists() && (anchor.is_empty() || anchors(&path).contains(&anchor.to_owned()));
            assert!(leads, "{}: {target}", document.display());
            links += 1;
        }
    }
    assert!(links > 50, "{links}");
}

/// A folder with what the documents suppose to exist: thumbnails, stores, records and plans.
fn furnished() -> World {
    let world = servers::world();
    for (name, bytes) in [("a.jpg", 5000), ("deep/b.jpg", 7000)] {
        world.write(&format!("thumbnails/{name}"), vec![7; bytes]);
    }
    world.application();
    world.ok("import thumbnails thumbs.db");
    world.ok("export thumbs.db thumbs.dir");
    world.ok("copy thumbs.db lmdb:mylmdb?database=photos");
    world.ok("copy thumbnails tar:shard-000000.tar");
    #[cfg(target_os = "linux")]
    crate::images::make(&world, "thumbnails");
    world.ok("copy thumbs.db fjall:state?keyspace=blocks");
    world.ok("init test1.db --count 100 --size 10k --variance 2k");
    world.ok("export test1.db test1.dir");
    world.ok("export test1.db test1.tree --tree");
    for record in ["run", "after"] {
        let measured = "run memory: null: --read --keys 20 --rounds 5 --quiet";
        world.ok(&format!("{measured} --json {record}.json"));
    }
    for (from, to) in [("run", "before here baseline"), ("after", "slowed there now long")] {
        for to in to.split(' ') {
            fs::copy(world.path(&format!("{from}.json")), world.path(&format!("{to}.json")))
                .unwrap();
        }
    }
    for folder in ["before", "after", "records"] {
        let name = if folder == "records" { "run" } else { folder };
        let record = fs::read(world.path(&format!("{name}.json"))).unwrap();
        world.write(&format!("{folder}/1.json"), record);
    }
    fs::create_dir_all(world.path(".local/share/bash-completion/completions")).unwrap();
    libraries(&world);
    crate::plugins::compile(&world, "libskeleton.so", &[]);
    for name in ["libmystore.so", "base.so", "head.so"] {
        fs::copy(world.path("libskeleton.so"), world.path(name)).unwrap();
    }
    for name in ["old", "new"] {
        fs::create_dir(world.path(name)).unwrap();
        let program = world.path(&format!("{name}/storemark"));
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_storemark"), program).unwrap();
    }
    for name in ["plan", "storage", "upgrade"] {
        world.write(&format!("{name}.toml"), "targets = [\"files:\", \"sqlite:\"]\n");
    }
    world
}

fn copy_of(world: &World) -> World {
    let copy = servers::world();
    let copied = Command::new("cp").arg("-a").arg(world.path(".")).arg(copy.path("")).status();
    assert!(copied.unwrap().success());
    copy
}

/// Builds of SQLite, all of them the system's: as files, and as if storemark had compiled them.
fn libraries(world: &World) {
    let bytes = fs::read(systems_sqlite()).unwrap();
    for name in ["old", "again", "new", "plain", "O3", "unlocked"] {
        world.write(&format!("{name}.so"), &bytes);
        world.write(&format!(".cache/storemark/sqlite/{name}/libsqlite3.so"), &bytes);
    }
}

/// A line of a document in a shell, as its reader runs it.
fn shell(world: &World, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec {} {line}", env!("CARGO_BIN_EXE_storemark"))]);
    command.current_dir(world.path("")).env("HOME", world.path("")).env("NO_COLOR", "1");
    command.env_remove("XDG_CACHE_HOME").env("GITHUB_STEP_SUMMARY", world.path("summary.md"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Whether an error only says that root is needed, or what images need that is not here.
fn is_only_refused(ran: &Ran) -> bool {
    ran.code == Some(1) && (ran.err.contains("root") || ran.err.starts_with("storemark: --on: "))
}

/// Whether all servers that the line may start are installed.
fn is_served(line: &str) -> bool {
    let all_rows = line.starts_with("rows") || line.starts_with("study mass-inserts");
    let needs = |engine: &str| all_rows && engine != "valkey" || line.contains(engine);
    // A bucket is nobody's here.
    let has_objects = !line.contains("s3://") && (cfg!(feature = "s3") || !line.contains("s3:"));
    has_objects && !["mariadb", "postgres", "valkey"].into_iter().any(|e| needs(e) && without(e))
}

/// Lines that start with one of `words`, in the form that the shell of this test can run.
fn starting_with(words: &[&str]) -> Vec<(String, String)> {
    let mut lines = commands("storemark");
    lines.retain(|(_, line)| words.contains(&line.split(' ').next().unwrap()) && is_served(line));
    for (_, line) in &mut lines {
        *line = line.replace("/srv,/mnt/btrfs", ".,thumbs.dir").replace("100k", "100");
        *line = line.replace("doctor /dev/shm", "doctor .").replace("/mnt/shared", ".");
    }
    lines
}

#[test]
fn every_run_can_be_planned() {
    let world = furnished();
    let lines = starting_with(PLANNED);
    assert!(lines.len() > 30, "{lines:?}");
    for (document, line) in lines {
        let line = line.replace(" --dry-run", "").replacen("run", "run --dry-run", 1);
        let ran = Ran::from(shell(&world, &line).output().unwrap());
        let planned = ran.code == Some(0) && !ran.out.is_empty();
        assert!(planned || is_only_refused(&ran), "{document}: {line}: {}{}", ran.out, ran.err);
    }
}

/// Each is interrupted once it has read its options and opened its record.
#[test]
fn everything_else_that_measures_starts() {
    let lines = starting_with(STARTED);
    assert!(lines.len() > 15, "{lines:?}");
    for (document, line) in lines.into_iter().filter(|(_, line)| line != "study") {
        let world = servers::world();
        for name in ["a", "b"] {
            world.write(&format!("thumbnails/{name}.jpg"), "a picture");
        }
        world.ok("import thumbnails thumbs.db");
        world.application();
        let line = line.split(" --html").next().unwrap().split(" --json").next().unwrap();
        let is_study = line.starts_with("study");
        let record = match &line {
            line if line.starts_with("doctor") => "",
            _ if is_study => "--records .",
            _ => "--json record.json",
        };
        let mut child = shell(&world, &format!("{line} {record}")).spawn().unwrap();
        let mut has_ended = false;
        // The record, or what is made ready before it starts.
        let is_record = |path: PathBuf| {
            let name = path.to_string_lossy();
            name.ends_with(".unfinished") || name.contains("storemark-scratch")
        };
        let started = within(60, || {
            has_ended = child.try_wait().unwrap().is_some();
            has_ended || world.tree().into_keys().any(is_record)
        });
        assert!(started, "{document}: {line}: no record in a minute");
        if !has_ended {
            signal(child.id(), "INT");
        }
        let ran = Ran::from(child.wait_with_output().unwrap());
        // While a source is copied, an interruption says that the copy is not complete.
        let is_interrupted =
            ["interrupted\n", "is not complete"].map(|part| ran.err.contains(part));
        let interrupted = ran.code == Some(130) && is_interrupted.contains(&true);
        assert!(interrupted || is_only_refused(&ran), "{document}: {line}: {}{}", ran.out, ran.err);
    }
}

/// Removes what the line creates, which a furnished folder may have already.
fn make_room(world: &World, line: &str) {
    let words: Vec<_> = line.split(' ').filter(|_| !line.ends_with("--in-place")).collect();
    let (["init", target, ..] | ["export" | "import" | "copy", _, target, ..]) = words[..] else {
        return;
    };
    // Of `'sqlite:thumbs.db?page_size=4096'` the path.
    let target = target.trim_matches('\'').split('?').next().unwrap();
    let path = world.path(target.trim_start_matches("files:").trim_start_matches("sqlite:"));
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
}

/// In their order, as later lines read what earlier ones create.
#[test]
fn what_makes_shows_and_compares_works() {
    let lines = starting_with(RUN);
    assert!(lines.len() > 30, "{lines:?}");
    let furnished = furnished();
    let mut furnished_for: Option<(&String, World)> = None;
    for (document, line) in &lines {
        if furnished_for.as_ref().is_none_or(|(of, _)| *of != document) {
            furnished_for = Some((document, copy_of(&furnished)));
        }
        let (_, world) = furnished_for.as_ref().expect("it was furnished above");
        make_room(world, line);
        let ran = Ran::from(shell(world, line).output().unwrap());
        let differs = line.starts_with("compare") && ran.code == Some(3);
        let works = ran.code == Some(0) || differs || is_only_refused(&ran);
        assert!(works, "{document}: {line}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn what_builds_names_what_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for (document, line) in [commands("make"), steps("make")].concat() {
        let target = line.split(' ').next().unwrap();
        assert!(makefile.contains(&format!("\n{target}:")), "{document}: make {line}");
    }
    let release = fs::read_to_string(root().join(".ci/release")).unwrap();
    for (document, line) in [commands("release"), steps("release")].concat() {
        let step = line.split(' ').next().unwrap();
        assert!(release.contains(&format!("\n{step}() {{")), "{document}: .ci/release {line}");
    }
    let crates = || fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let is_package = |name: &str| {
        let name = format!("name = \"{name}\"\n");
        crates().any(|of| fs::read_to_string(of.join("Cargo.toml")).unwrap().contains(&name))
    };
    let is_file = |folder: &str, name: &str| {
        let of = |path: PathBuf| path.join(folder).join(name);
        crates().any(|path| of(path.clone()).is_dir() || of(path).with_extension("rs").is_file())
    };
    let locked = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let lines = commands("cargo");
    assert!(lines.len() > 5, "{lines:?}");
    for (document, line) in lines {
        let words: Vec<_> = line.split(' ').collect();
        let commands = ["bench", "build", "check", "install", "run", "test", "update"];
        assert!(commands.contains(&words[0]), "{document}: cargo {line}");
        for pair in words.windows(2) {
            let exists = match pair {
                ["-p", name] => is_package(name),
                ["update", name] => locked.contains(&format!("name = \"{name}\"\n")),
                ["--bench", name] => is_file("benches", name),
                ["--example", name] => is_file("examples", name),
                ["--path", path] => root().join(path).is_dir(),
                _ => true,
            };
            assert!(exists, "{document}: cargo {line}: {pair:?}");
        }
    }
}
