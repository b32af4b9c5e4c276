//! `--html`: where the page goes, what it leaves alone, what is refused.

use std::fs;

use crate::world::World;

const RUN: &str = "run files: sqlite: --read --keys 20 --size 1k --rounds 2 --seed 7";
const HEAD: &str = "<!DOCTYPE html><html lang=\"en\" data-by=\"storemark\">\n";

fn page(world: &World, name: &str) -> String {
    let page = fs::read_to_string(world.path(name)).unwrap();
    assert!(page.starts_with(HEAD) && page.ends_with("</body></html>\n"), "{name} is whole");
    assert!(page.contains("data-chart=\""), "{name} has charts");
    page
}

#[test]
fn a_run_writes_a_page_and_says_where_it_is() {
    let world = World::new();
    let ran = world.ok(&format!("{RUN} --json run.json --html run.html"));
    assert!(ran.out.contains("read, warm"), "the tables are printed as well");
    assert!(ran.err.contains("the report is in run.html"), "{}", ran.err);
    assert!(page(&world, "run.html").contains("data-chart=\"ratio-1\""));
    // The record makes the same page, but for the name of its file.
    world.ok("report run.json --html again.html");
    let without = page(&world, "again.html")
        .replace("<tr><th scope=\"row\">record</th><td>run.json</td></tr>", "");
    assert_eq!(without, page(&world, "run.html"));
    // A page that storemark wrote is replaced; the record stands in no plan as a place of its own.
    world.ok("report run.json --html run.html");
    let left: Vec<_> =
        fs::read_dir(world.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(!fs::read_to_string(world.path("run.json")).unwrap().contains("run.html"));
}

#[test]
fn every_command_that_measures_writes_one() {
    for (line, chart) in [
        ("rows csv: jsonl: --rows 50 --rounds 1 --html page.html", "rows-1"),
        ("queue files: sqlite: --workers 2 --tasks 2 --rounds 1 --html page.html", "queue-1"),
        (
            "age --objects 20 --size 2k --ages 0,1 --rounds 1 --cache warm --html page.html",
            "space-",
        ),
        (
            "run files: sqlite: --read --keys 20 --size 1k,2k --rounds 2 --html page.html",
            "break-even-1",
        ),
        ("run files: --read --keys 20 --rate 1k,2k --rounds 2 --html page.html", "load-1"),
    ] {
        let world = World::new();
        world.ok(line);
        assert!(page(&world, "page.html").contains(&format!("data-chart=\"{chart}")), "{line}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_measuring() {
    let world = World::new();
    world.write("mine.html", "<!DOCTYPE html><p>mine</p>");
    fs::create_dir(world.path("folder.html")).unwrap();
    for (place, said) in [
        ("missing/page.html", "--html missing/page.html"),
        ("mine.html", "exists and is not a page of storemark; it is left as it is"),
        ("folder.html", "exists and is not a page of storemark"),
        (".", "exists and is not a page of storemark"),
    ] {
        for command in [RUN, "rows csv: --rows 5", "queue --tasks 1", "age --objects 5"] {
            let line = world.refused(&format!("{command} --html {place}"));
            assert!(line.contains(said), "{line}");
        }
    }
}

#[test]
fn several_records_make_one_page_and_other_plans_are_refused() {
    let world = World::new();
    world.ok(&format!("{RUN} --json one.json"));
    world.ok(&format!("{RUN} --json two.json"));
    world.ok("run files: --read --keys 20 --size 1k --rounds 2 --json other.json");
    world.ok("report one.json two.json --html both.html");
    let both = page(&world, "both.html");
    assert!(both.contains("(1)") && both.contains("(2)") && both.contains("two.json"));
    let line = world.refused("report one.json other.json --html none.html");
    assert!(line.contains("one.json and other.json are of different plans"), "{line}");
    assert!(line.contains("targets: "), "{line}");
}

#[test]
fn a_record_that_is_none_makes_no_page() {
    let world = World::new();
    world.write("empty.json", "");
    world.write("foreign.json", "{\"a\": 1}\n");
    for name in ["empty.json", "foreign.json", "missing.json"] {
        world.refused(&format!("report {name} --html page.html"));
    }
}

#[test]
fn a_page_takes_the_place_of_nothing_else_that_is_written_or_there() {
    let world = World::new();
    for (line, why) in [
        ("--json x --html x", "--html x: is the file of --json as well"),
        ("--json x --html ./x", "--html ./x: is the file of --json as well"),
        ("--save-plan x --html x", "--html x: is the file of --save-plan as well"),
        ("--html x/", "--html x/: name a file for a page"),
        ("--html -", "--html -: name a file for a page"),
    ] {
        let said = world.refused(&format!("{RUN} {line}"));
        assert!(said.contains(why), "{said}");
        assert!(!world.path("x").exists(), "{line}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", world.path("link")).unwrap();
        let said = world.refused(&format!("{RUN} --html link"));
        assert!(said.contains("is a link that leads nowhere"), "{said}");
        assert!(world.path("link").is_symlink());
    }
}

#[test]
fn a_record_beside_itself_is_no_second_machine() {
    let world = World::new();
    world.ok(&format!("{RUN} --json run.json"));
    let said = world.refused("report run.json run.json --html page.html");
    assert!(said.contains("run.json: is the same record as run.json"), "{said}");
    let said = world.refused("report . --html page.html");
    assert!(said.contains(".: is a folder, not a record"), "{said}");
}
