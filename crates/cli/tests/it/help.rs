//! Help, manual pages, completions and versions.

use model::Facet;
use std::{fs, process::Command};

use crate::world::{Ran, World};

/// What people type.
const COMMANDS: [&str; 27] = [
    "run",
    "advise",
    "rows",
    "queue",
    "age",
    "backup",
    "life",
    "study",
    "report",
    "compare",
    "init",
    "clean",
    "stat",
    "export",
    "import",
    "copy",
    "verify",
    "engines",
    "sqlite",
    "doctor",
    "crash",
    "cache",
    "calibrate",
    "completions",
    "conformance",
    "man",
    "help",
];

/// What is said of the subcommand that only storemark itself starts.
const HIDDEN: &str = "another storemark asks";

/// The command lines among the examples of `page`, without what is said about them.
pub(crate) fn examples(page: &str) -> Vec<String> {
    let after = page.split_once("Examples:\n").map_or("", |(_, after)| after);
    let lines = after.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().split("  ").next().unwrap().to_owned()).collect()
}

#[test]
fn every_command_has_a_short_help_and_a_long_one_with_examples() {
    let world = World::new();
    for command in COMMANDS {
        let long = world.ok(&format!("{command} --help")).out;
        let examples = examples(&long);
        assert!(!examples.is_empty(), "{long}");
        for line in &examples {
            let words = format!("storemark {command}");
            assert!(line.trim_start_matches("sudo ").starts_with(&words), "{line}");
        }
        assert_eq!(world.ok(&format!("help {command}")).out.trim(), long.trim(), "{command}");
        if command != "cache" {
            let short = world.ok(&format!("{command} -h")).out;
            assert!(short.lines().count() < long.lines().count(), "{short}");
            assert!(short.lines().count() <= 60, "{short}");
        }
    }
}

/// What few need is in the long help; there every command is, once.
#[test]
fn the_short_help_fits_a_screen_and_leaves_out_what_few_need() {
    let world = World::new();
    let [short, long] = ["-h", "--help"].map(|option| world.ok(option).out);
    let is_listed = |page: &str, command: &str| {
        page.lines().filter(|line| line.starts_with(&format!("  {command:<12} "))).count()
    };
    for command in COMMANDS {
        let rare = ["init", "sqlite", "clean", "calibrate", "completions", "conformance", "man"];
        assert_eq!(is_listed(&short, command), usize::from(!rare.contains(&command)), "{command}");
        assert_eq!(is_listed(&long, command), 1, "{command}: {long}");
    }
    assert!(short.lines().count() <= 44, "{short}");
    assert!(long.contains("Examples:\n  storemark run "), "{long}");
    let run = world.ok("run -h").out;
    for option in ["--blob-api", "--jmode", "--nosync", "--multitrans", "--cache-size", "--fsync"] {
        assert!(!run.contains(option), "{option}: {run}");
    }
}

#[test]
fn the_examples_of_what_makes_and_moves_stores_work_as_they_stand() {
    let world = World::new();
    for (name, bytes) in [("a.jpg", "one"), ("deep/b.jpg", "two")] {
        world.write(&format!("thumbnails/{name}"), bytes);
    }
    world.application();
    world.write("home/.local/kept", "");
    for command in ["init", "stat", "export", "import", "copy", "verify"] {
        let page = world.ok(&format!("{command} --help")).out;
        // Those of a bucket are tried where one is served.
        for line in examples(&page).iter().filter(|line| !line.contains("s3://")) {
            // No shell takes the quotes away here.
            world.ok(&line.strip_prefix("storemark ").unwrap().replace('\'', ""));
        }
    }
}

#[test]
fn topics_are_explained_from_the_engines_own_tables() {
    let world = World::new();
    let targets = world.ok("help targets").out;
    for engine in engines::registry::all_blobs() {
        assert!(targets.contains(&format!("\n{}: ", engine.name())), "{targets}");
        for setting in engine.settings(Facet::Blobs) {
            assert!(targets.contains(&format!("\n  {:<12}  ", setting.name)), "{targets}");
        }
    }
    let durability = world.ok("help durability").out;
    assert!(durability.contains("\n  files         write=rename sync=full\n"), "{durability}");
    assert!(world.ok("help sizes").out.contains("10KiB"));
    assert!(world.ok("help").out.contains("calibrate"));
    let said = world.refused("help targtes");
    assert!(said.contains("did you mean targets?"), "{said}");
}

#[test]
fn versions_are_told_in_one_line_or_with_the_engines() {
    let world = World::new();
    let short = world.ok("-V").out;
    let named = format!("storemark {}", env!("CARGO_PKG_VERSION"));
    let commit = short.trim_end().strip_prefix(&named).unwrap_or_else(|| panic!("{short}"));
    assert!(commit.is_empty() || commit.starts_with(" (") && commit.ends_with(')'), "{short}");
    let long = world.ok("--version").out;
    assert!(long.starts_with(&short), "{long}");
    for library in engines::registry::linked() {
        assert!(long.contains(&format!("\n{} {}\n", library.name, library.version)), "{long}");
    }
    assert_eq!(long.matches("\nSQLite 3.").count(), 1, "{long}");
    assert!(long.contains("\nnot in this program: mariadb, postgres"), "{long}");
}

#[test]
fn shells_accept_their_completions() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = world.ok(&format!("completions {shell}")).out;
        assert!(script.contains("verify") && !script.contains(HIDDEN), "{shell}");
        world.write(shell, script);
    }
    let bash = Command::new("bash").arg("-n").arg(world.path("bash")).output();
    let checked = Ran::from(bash.expect("bash is there where these tests run"));
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
    let said = world.refused("completions bahs");
    assert!(said.contains("did you mean bash?"), "{said}");
}

#[test]
fn words_and_paths_of_options_are_completed() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.ok(&format!("completions {shell}")).out;
        for word in ["consistent", "data-cold", "hotspot", "delayed", "task-queue"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("limited"), "{shell}: no option takes that");
        let paths = ["compgen -f", "_files", " -F"];
        assert!(paths.iter().any(|how| script.contains(how)), "{shell} completes paths");
    }
}

#[test]
fn help_is_asked_for_in_the_same_way_everywhere() {
    let world = World::new();
    for letter in ["-h", "--help"] {
        assert!(world.ok(&format!("cache {letter}")).out.contains("Usage: storemark cache"));
    }
}

/// Bash, asked as when the tabulator is pressed after `storemark ver`.
#[test]
fn bash_completes_a_command() {
    let world = World::new();
    world.write("script", world.ok("completions bash").out);
    let line = "source ./script; COMP_WORDS=(storemark ver); COMP_CWORD=1; \
                _storemark storemark ver storemark; echo ${COMPREPLY[@]}";
    let mut bash = Command::new("bash");
    let asked = bash.args(["-c", line]).current_dir(world.path("")).output();
    assert_eq!(Ran::from(asked.unwrap()).out, "verify\n");
}

#[test]
fn manual_pages_are_well_formed_and_there_is_one_for_each_command() {
    let world = World::after(["man pages/man1"]);
    let mut names: Vec<String> = COMMANDS.map(|name| format!("storemark-{name}.1")).into();
    names.push("storemark.1".to_owned());
    names.sort();
    let entries = fs::read_dir(world.path("pages/man1")).unwrap();
    let mut found: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, names);
    for name in names {
        let path = world.path("pages/man1").join(&name);
        let page = fs::read_to_string(&path).unwrap();
        assert!(page.is_ascii() && page.contains(".TH storemark"), "{page}");
        if name == "storemark-run.1" {
            assert!(page.contains("As many blobs as fit into so many bytes together"), "{page}");
        }
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
            assert!(page.contains(&format!(".SH {section}\n")), "{name}: {section}");
        }
        // Where groff is installed it has nothing to say about them.
        let groff = Command::new("groff").args(["-man", "-ww", "-Tutf8", "-z"]).arg(&path).output();
        if let Ok(groff) = groff {
            assert_eq!(String::from_utf8_lossy(&groff.stderr), "", "{name}");
        }
    }
}

#[test]
fn a_folder_that_cannot_hold_manual_pages_is_told_before_anything_is_written() {
    let world = World::new();
    world.write("file", "");
    for folder in ["file", "file/below", "/proc/storemark"] {
        let said = world.refused(&format!("man {folder}"));
        assert!(said.contains(folder), "{said}");
    }
}
