//! Forms of a report beside its tables.

use serde_json::Value;

use crate::world::World;

/// A run whose record several tests read.
const RUN: &str = "run files: memory: --read --keys 10 --rounds 5";

fn recorded(line: &str) -> World {
    World::with_record(line, "run.json")
}

/// The lines of a CSV after its header, which must begin with `first`.
fn rows(world: &World, first: &str) -> Vec<String> {
    let ran = world.ok("report run.json --csv");
    assert_eq!(ran.err, "");
    let mut lines = ran.out.lines().map(str::to_owned);
    let header = lines.next().unwrap();
    assert!(header.starts_with(first), "{header}");
    let columns = header.matches(',').count();
    let rows: Vec<String> = lines.collect();
    assert!(rows.iter().all(|row| row.matches(',').count() >= columns), "{rows:?}");
    rows
}

#[test]
fn every_kind_of_record_has_its_trials_as_csv() {
    for (line, trials) in [
        ("run files: memory: --keys 10 --size 1k --rounds 2", 8),
        ("rows sqlite: --rows 10 --rounds 1", 9),
        ("queue files: --workers 2 --tasks 2 --rounds 2", 2),
        ("age files: --volume 100k --size 10k --ages 0,1 --rounds 1", 4),
    ] {
        let world = recorded(line);
        let samples = std::fs::read_to_string(world.path("run.json")).unwrap();
        let samples = samples.matches(r#"{"line":"sample""#).count();
        let rows = rows(&world, r#""run","started","seed","repeat","round""#);
        assert_eq!(rows.len(), samples, "{line}");
        assert!(rows.len() >= trials.min(samples) && samples > 0, "{line}: {samples}");
    }
}

#[test]
fn a_sweep_has_columns_of_what_varies() {
    let world = recorded("run files: --read --size 1k,2k --keys 5 --rounds 1");
    let rows = rows(&world, r#""sweep_size","run""#);
    assert!(rows[0].starts_with(r#""1k",1,"#) && rows[1].starts_with(r#""2k",2,"#), "{rows:?}");
}

#[test]
fn names_like_formulas_are_shown_and_not_run() {
    let world = World::new();
    world.write("=1+1|<b>/000001", "one");
    world.ok("run ./=1+1|<b> --rounds 1 --json run.json");
    let out = world.ok("report run.json --csv").out;
    assert!(out.contains("1+1|<b>") && !out.contains(r#","=1+1"#), "{out}");
    let out = world.ok("report run.json --markdown").out;
    assert!(out.contains(r"=1+1\|&lt;b&gt;") && !out.contains("<b>"), "{out}");
}

#[test]
fn json_and_markdown_have_the_estimates() {
    let world = recorded(RUN);
    let told: Value = serde_json::from_str(&world.ok("report run.json --json -").out).unwrap();
    assert_eq!(told["runs"][0]["rows"][0]["verdict"], "baseline");
    assert!(told["runs"][0]["rows"][1]["ratio"]["point"].as_f64() > Some(0.0));
    let out = world.ok("report run.json --markdown").out;
    assert!(out.contains("| target | time µs/blob |"), "{out}");
}

#[test]
fn one_form_at_a_time() {
    let world = recorded(RUN);
    for line in ["--csv --json -", "--json - --markdown", "--markdown --csv"] {
        assert!(world.refused(&format!("report run.json {line}")).contains("cannot be used with"));
    }
    assert!(world.refused("report run.json --markdow").contains("did you mean --markdown?"));
}

#[test]
fn damaged_records_are_said_in_every_form() {
    let world = recorded("run files: --read --keys 10 --rounds 3");
    let text = std::fs::read_to_string(world.path("run.json")).unwrap();
    let last = text.rfind(r#"{"line":"sample""#).unwrap();
    world.write("cut.json", &text[..last + 30]);
    world.write("newer.json", text.replacen(r#""format":3"#, r#""format":99"#, 1));
    world.write("empty.json", "");
    world.write("foreign.json", "name,age\n");
    for form in ["", "--csv", "--json -", "--markdown"] {
        let ran = world.ok(&format!("report cut.json {form}"));
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains("is cut short; the 2 samples before it are shown"), "{}", ran.err);
        let ran = world.ok(&format!("report newer.json {form}"));
        assert!(ran.err.contains("format 99, newer than 3"), "{}", ran.err);
        assert!(world.refused(&format!("report empty.json {form}")).contains("nothing in it"));
        assert!(
            world.refused(&format!("report foreign.json {form}")).contains("line 1 is not JSON")
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_said() {
    let world = recorded(RUN);
    for form in ["", "--csv", "--json -", "--markdown"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = world.command(&format!("report run.json {form}")).stdout(full).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_ne!(ran.status.code(), Some(0), "{form}");
        assert_eq!(said.lines().count(), 1, "{form}: {said}");
        assert!(said.contains("No space left"), "{form}: {said}");
    }
}

/// What adds to tables is in Markdown, and refused for forms without tables.
#[test]
fn parts_of_tables_are_in_markdown_and_not_dropped_elsewhere() {
    let world = recorded(RUN);
    let plain = world.ok("report run.json --markdown").out;
    for part in ["--explain", "--over-time"] {
        let more = world.ok(&format!("report run.json --markdown {part}")).out;
        assert!(more.len() > plain.len(), "{part}: {more}");
        for form in ["--csv", "--html page.html"] {
            let said = world.refused(&format!("report run.json {form} {part}"));
            assert!(said.contains(&format!("{part}: adds to tables, and")), "{said}");
        }
    }
}
