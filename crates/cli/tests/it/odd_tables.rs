//! Tables of the user's own that are out of the ordinary: by their encoding, collation, names, types and
//! triggers, in databases that are damaged, or that others have open.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use crate::world::World;

/// A database of these statements.
fn database(sql: &str) -> World {
    let world = World::new();
    world.sqlite3(&["a.db", sql]);
    world
}

/// Rows numbered from 1 to 40, and a value for each.
const ROWS: &str = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM s WHERE n<40)";
const VALUE: &str = "CAST(printf('%.*c',100+n,char(64+n)) AS BLOB)";

#[test]
fn texts_in_utf_16_are_refused_and_bytes_are_read() {
    let world = database(&format!(
        "PRAGMA encoding='UTF-16';
         CREATE TABLE bytes(id INTEGER PRIMARY KEY, d BLOB);
         {ROWS} INSERT INTO bytes SELECT n, {VALUE} FROM s;
         CREATE TABLE texts(id INTEGER PRIMARY KEY, d TEXT); INSERT INTO texts VALUES(1, 'gr\u{fc}n');
         CREATE TABLE keys(id TEXT PRIMARY KEY, d BLOB); INSERT INTO keys VALUES('a', x'00');
         CREATE TABLE both(id INTEGER PRIMARY KEY, d BLOB); INSERT INTO both VALUES(1, x'00'),(2, 'a');
         CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB);"
    ));
    world.ok("run a.db?table=bytes memory: --rounds 1");
    world.refuses([
        (
            "run a.db?table=texts --rounds 1",
            "its values are texts: this database keeps texts in UTF-16",
        ),
        ("stat a.db?table=texts", "its values are texts"),
        ("run a.db?table=keys --rounds 1", "its keys are texts"),
        ("run a.db?table=both&value=d --rounds 1", "key 2 has a text"),
        ("run a.db --rounds 1", "its keys are texts"),
    ]);
}

/// A unique index and the comparison with a column may differ in what is equal.
#[test]
fn a_key_finds_its_own_row_whatever_else_its_collation_calls_equal() {
    let world = database(&format!(
        "CREATE TABLE t(name TEXT COLLATE NOCASE, d BLOB);
         CREATE UNIQUE INDEX i ON t(name COLLATE BINARY);
         {ROWS} INSERT INTO t SELECT 'A'||n, {VALUE} FROM s;
         {ROWS} INSERT INTO t SELECT 'a'||n, {VALUE}||x'00' FROM s;
         CREATE VIEW v AS SELECT name, d FROM t;
         CREATE TABLE r(name TEXT PRIMARY KEY COLLATE RTRIM, d BLOB); INSERT INTO r VALUES('a', x'00');"
    ));
    for table in ["t", "v"] {
        world.ok(&format!("run a.db?table={table}&key=name&value=d memory: --rounds 1"));
    }
    world.ok("run a.db?table=t&value=d --update --rounds 1");
    world.write("spaced/a ", "other");
    let copy = "copy spaced a.db?table=r --in-place";
    for line in [copy, &format!("{copy} --force")] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        let says = "key \"a \" was not written: a trigger ignores it, or a unique index has another row for it";
        assert!(ran.err.contains(says) && ran.err.contains("nothing was written"), "{}", ran.err);
    }
    assert_eq!(world.sqlite3(&["a.db", "SELECT name||'|'||hex(d) FROM r"]), "a|00\n");
}

#[test]
fn what_is_damaged_fails_the_check() {
    let world = database(&format!(
        "CREATE TABLE photos(id INTEGER PRIMARY KEY, data BLOB);
         {ROWS} INSERT INTO photos SELECT n, randomblob(5000) FROM s;"
    ));
    let good = fs::read(world.path("a.db")).unwrap();
    let with = |at: usize| {
        let mut bytes = good.clone();
        bytes[at..at + 24].copy_from_slice(b"somebody else's contents");
        bytes
    };
    world.write("cut.db", &good[..good.len() / 2]);
    world.write("schema.db", with(100));
    world.write("page.db", with(4096));
    for name in ["cut.db", "schema.db", "page.db", "cut.db?table=photos"] {
        let ran = world.run(&format!("verify {name}"));
        assert_eq!(ran.code, Some(3), "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.starts_with("damaged: "), "{}{}", ran.out, ran.err);
        world.refused(&format!("verify {name} a.db?table=photos&value=data"));
    }
}

#[test]
fn a_generated_key_blocks_inserts_alone() {
    let world = database(&format!(
        "CREATE TABLE t(a INT, k INT AS (a+1) STORED UNIQUE, d BLOB);
         {ROWS} INSERT INTO t(a,d) SELECT n, {VALUE} FROM s;"
    ));
    world.ok("run a.db?table=t&key=k --update --rounds 1");
    let ran = world.run("run a.db?table=t&key=k --mix read=50,insert=50 --rounds 1");
    assert!(
        ran.err.contains("t: key 42: cannot INSERT into generated column \"k\""),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("scratch"), "{}", ran.err);
}

#[test]
fn a_condition_is_one_expression_and_decides_what_the_keys_are() {
    let world = database(
        "CREATE TABLE t(k, d); CREATE UNIQUE INDEX i ON t(k);
         INSERT INTO t SELECT 'a'||value, 7 FROM generate_series(1,300);
         INSERT INTO t SELECT value, zeroblob(50) FROM generate_series(1,300);",
    );
    let ran = world.ok("run a.db?table=t&where=typeof(k)='integer' --rounds 1");
    assert!(ran.err.contains("t.d by k: 300 values, about 50 B on average"), "{}", ran.err);
    world.ok("run a.db?table=t&where=typeof(k)='integer' --update --rounds 1");
    for (condition, says) in [
        ("k<5)--", "near \")\": syntax error"),
        ("(1", "incomplete input"),
        ("", "incomplete input"),
        ("1)OR(1", "near \")\": syntax error"),
        ("1--", "incomplete input"),
        ("1/*", "near \"*\": syntax error"),
        ("1;", "near \";\": syntax error"),
        ("k<%3F1", "where=k<?1: has a parameter"),
        ("k=:name", "has a parameter"),
        ("count(*)>1", "misuse of aggregate"),
    ] {
        let said = world.refused(&format!("run a.db?table=t&value=d&where={condition} --rounds 1"));
        assert!(said.contains(says), "{condition}: {said}");
    }
    world.write("new/x", "other");
    let ran = world.run("copy new a.db?table=t&where=typeof(k)='text' --in-place");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("where= is for rows that are there"), "{}", ran.err);
}

#[test]
fn any_name_can_be_pasted_from_the_error_that_lists_it() {
    let world = World::new();
    world.sqlite3(&[
        "50%26.db",
        "CREATE TABLE \"a&b?c=d\"(\"k,1\" TEXT, \"k\n2\" INT, \"50%\" BLOB, PRIMARY KEY(\"k,1\",\"k\n2\"));
         INSERT INTO \"a&b?c=d\" VALUES('n', 1, x'00'), ('m', 2, x'0001');
         CREATE TABLE \"it's%26\"(id INTEGER PRIMARY KEY, d BLOB); INSERT INTO \"it's%26\" VALUES(1, x'00');",
    ]);
    let said = world.refused("run 50%26.db");
    let pasted: Vec<_> = said.split("'50%26.db?").skip(1).collect();
    assert_eq!(pasted.len(), 2, "{said}");
    for (text, counts) in pasted.iter().zip(["2 values", "1 value,"]) {
        assert!(text.contains(counts), "{said}");
        let target = format!("'50%26.db?{}", text.split(" (").next().unwrap());
        let mut shell = Command::new("sh");
        let line = format!(
            "'{}' run {target} --rounds 1 --json run.json",
            env!("CARGO_BIN_EXE_storemark")
        );
        let ran = shell.args(["-c", &line]).current_dir(world.path("")).output().unwrap();
        assert!(ran.status.success(), "{target}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    world.ok(
        "run 50%26.db?table=a%26b%3Fc=d&key=\"k,1\",k%0A2&value=50% --rounds 1 --json both.json",
    );
    let settings = &world.record("both.json").header.plan.targets[0].settings;
    assert_eq!(settings.get("key"), Some("\"k,1\",k\n2"));
    assert_eq!(settings.get("table"), Some("a&b?c=d"));
}

#[test]
fn columns_of_bytes_are_found_by_what_is_in_them() {
    for declared in ["VARBINARY(9)", "IMAGE", "BYTEA", "POINT"] {
        let world = database(&format!(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, n REAL, name TEXT, d {declared});
             {ROWS} INSERT INTO t SELECT n, 1.5, 'x', {VALUE} FROM s;"
        ));
        let ran = world.ok("run a.db --rounds 1");
        assert!(ran.err.contains("the values are t.d by id: 40 values"), "{declared}: {}", ran.err);
    }
}

#[test]
fn a_write_that_fails_names_its_key_and_leaves_nothing() {
    let world = database(
        "CREATE TABLE c(name TEXT PRIMARY KEY, d BLOB CHECK(length(d)>5)); INSERT INTO c VALUES('a', zeroblob(9));
         CREATE TABLE i(name TEXT PRIMARY KEY, d BLOB); INSERT INTO i VALUES('a', zeroblob(9));
         CREATE TRIGGER one BEFORE INSERT ON i BEGIN SELECT raise(ignore); END;
         CREATE TRIGGER two BEFORE UPDATE ON i BEGIN SELECT raise(ignore); END;",
    );
    world.write("new/q", "long enough");
    world.write("new/r", "x");
    for (line, code, says) in [
        (
            "copy new a.db?table=c --in-place",
            2,
            "a.db: c: key r: CHECK constraint failed: length(d)>5; nothing was written",
        ),
        ("copy new a.db?table=i --in-place", 1, "key q was not written: a trigger ignores it"),
        (
            "copy new a.db?table=i --in-place --force",
            1,
            "key q was not written: a trigger ignores it",
        ),
        ("run a.db?table=i --update --rounds 1", 1, "key a was not written: a trigger ignores it"),
    ] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
        assert!(ran.err.contains(says), "{line}: {}", ran.err);
    }
    assert_eq!(world.sqlite3(&["a.db", "SELECT count(*) FROM c"]).trim(), "1");
}

#[test]
fn views_that_are_broken_and_tables_named_as_parts_are_known_for_what_they_are() {
    let world = database(&format!(
        "CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES('words');
         CREATE TABLE f_mine(id INTEGER PRIMARY KEY, d BLOB);
         {ROWS} INSERT INTO f_mine SELECT n, {VALUE} FROM s;
         CREATE VIEW broken AS SELECT * FROM gone;"
    ));
    let ran = world.ok("run a.db --rounds 1");
    assert!(ran.err.contains("the values are f_mine.d by id"), "{}", ran.err);
    for target in ["a.db?table=broken", "a.db?table=broken&key=id&value=d"] {
        let said = world.refused(&format!("run {target} --rounds 1"));
        assert!(said.contains("broken cannot be read: no such table: main.gone"), "{said}");
    }
}

/// SQLite's shell with `a.db` open, which answers each statement when it is done.
struct Shell(Child, BufReader<std::process::ChildStdout>);

impl Shell {
    fn on(world: &World) -> Self {
        let mut shell = Command::new("sqlite3");
        shell.arg("a.db").current_dir(world.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let output = BufReader::new(shell.stdout.take().unwrap());
        Self(shell, output)
    }

    fn run(&mut self, sql: &str) {
        writeln!(self.0.stdin.as_ref().unwrap(), "{sql}; SELECT 'done';").unwrap();
        let mut line = String::new();
        while line != "done\n" {
            line.clear();
            assert!(self.1.read_line(&mut line).unwrap() > 0, "the shell ended");
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Nothing next to the database changes: not the index of the log either, which SQLite would rebuild.
#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_writer_left_is_read_in_a_copy() {
    let world = database(
        "PRAGMA journal_mode=wal; CREATE TABLE t(id INTEGER PRIMARY KEY, d BLOB); INSERT INTO t VALUES(1, x'00');",
    );
    let mut shell = Shell::on(&world);
    shell.run("INSERT INTO t VALUES(2, x'0001')");
    world.ok("run a.db --rounds 1");
    world.ok("run a.db --update --rounds 1");
    drop(shell);
    let before = world.tree();
    assert!(before.keys().any(|path| path.ends_with("a.db-shm")), "the writer left its index");
    for line in ["run a.db --rounds 1", "run a.db --update --rounds 1", "stat a.db", "verify a.db"]
    {
        let ran = world.ok(line);
        assert_eq!(world.tree(), before, "{line}");
        assert!(!line.starts_with("verify") || ran.out.contains("2 values"), "{}", ran.out);
    }
    world.ok("copy a.db files:out");
    assert!(before.iter().all(|(path, was)| world.tree().get(path) == Some(was)), "copy");
}

#[test]
fn a_locked_database_is_not_waited_for_long_before_anything_is_written() {
    let world = database(
        "CREATE TABLE t(name TEXT PRIMARY KEY, d BLOB); INSERT INTO t VALUES('a', x'00');",
    );
    world.write("new/q", "value");
    let mut shell = Shell::on(&world);
    shell.run("BEGIN IMMEDIATE");
    let said = world.refused("copy new a.db?table=t&value=d --in-place");
    assert!(
        said.contains("another process holds it locked (waited 5 s); nothing was written"),
        "{said}"
    );
}

#[test]
fn a_copy_with_an_ending_is_continued_and_verified() {
    let world = database(&format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, d BLOB);
         {ROWS} INSERT INTO t SELECT n, {VALUE} FROM s;"
    ));
    world.ok("copy a.db?table=t files:out --key-suffix .jpg --resume");
    let ran = world.ok("verify a.db?table=t out --key-suffix .jpg");
    assert!(ran.out.starts_with("same: 40 values"), "{}", ran.out);
    let digests: Vec<_> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("blake3 ")?.split(' ').next())
        .collect();
    assert!(digests.len() == 2 && digests[0] == digests[1], "{}", ran.out);
    fs::remove_file(world.path("out/7.jpg")).unwrap();
    world.write("out/8.jpg", "other");
    let ran = world.run("verify a.db?table=t out --key-suffix .jpg");
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert!(ran.out.contains("7.jpg") && ran.out.contains("8.jpg"), "{}", ran.out);
    world.refuses([("verify out --key-suffix .jpg", "were not provided: <B>")]);
}

/// An environment without a folder, as py-lmdb makes it with `subdir=False`.
#[test]
fn a_data_file_of_lmdb_is_a_store_without_a_folder() {
    let world = World::new();
    world.write("src/a", "one");
    world.write("src/b", "two");
    world.ok("copy src lmdb:folder?database=photos");
    fs::rename(world.path("folder/data.mdb"), world.path("x.mdb")).unwrap();
    fs::rename(world.path("folder/lock.mdb"), world.path("x.mdb-lock")).unwrap();
    let before = world.tree();
    for line in ["run x.mdb --rounds 1", "run lmdb:x.mdb --update --rounds 1", "verify x.mdb src"] {
        let ran = world.ok(line);
        assert!(ran.err.contains("the values of database=photos"), "{}", ran.err);
        assert_eq!(world.tree(), before, "{line}");
    }
    world.write("garbage/data.mdb", "somebody else's".repeat(1000));
    assert_eq!(world.run("verify lmdb:garbage").code, Some(3));
}

#[test]
fn texts_among_bytes_count_as_their_bytes_and_are_counted() {
    let world = database(&format!(
        "CREATE TABLE mixed(id INTEGER PRIMARY KEY, d BLOB);
         {ROWS} INSERT INTO mixed SELECT n, {VALUE} FROM s;
         UPDATE mixed SET d='gr\u{fc}n' WHERE id IN (7, 8);
         CREATE TABLE texts(id INTEGER PRIMARY KEY, d TEXT); INSERT INTO texts VALUES(1, 'a');"
    ));
    let ran = world.ok("run a.db?table=mixed&value=d --rounds 1 -v").words();
    assert!(ran.contains("2 of 40 that were looked at are texts"), "{ran}");
    let stat = world.ok("stat a.db?table=mixed&value=d").out;
    assert!(stat.contains("Texts among them:          2"), "{stat}");
    world.ok("copy a.db?table=mixed&value=d files:out");
    assert_eq!(fs::read_to_string(world.path("out/000007")).unwrap(), "gr\u{fc}n");
    // A column of texts alone is what its declaration says.
    let ran = world.ok("run a.db?table=texts&value=d --rounds 1 -v").words();
    assert!(!ran.contains("are texts"), "{ran}");
}

/// The triggers of an R-tree as the extension of `GeoPackage` names them
/// (<https://www.geopackage.org/spec131/#extension_rtree>), with the functions that only its programs have.
#[test]
fn a_trigger_that_calls_a_function_of_its_program_is_named() {
    let world = database(&format!(
        "CREATE TABLE parks(fid INTEGER PRIMARY KEY, geom BLOB, photo BLOB);
         {ROWS} INSERT INTO parks SELECT n, x'4750', {VALUE} FROM s;
         CREATE VIRTUAL TABLE rtree_parks_geom USING rtree(id, minx, maxx, miny, maxy);
         CREATE TRIGGER rtree_parks_geom_update3 AFTER UPDATE ON parks
           WHEN OLD.fid != NEW.fid AND (NEW.geom NOTNULL AND NOT ST_IsEmpty(NEW.geom))
           BEGIN DELETE FROM rtree_parks_geom WHERE id = OLD.fid;
             INSERT OR REPLACE INTO rtree_parks_geom
             VALUES(NEW.fid, ST_MinX(NEW.geom), ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom)); END;
         CREATE TABLE tiles(id INTEGER PRIMARY KEY, zoom_level INT NOT NULL, tile_column INT NOT NULL,
           tile_row INT NOT NULL, tile_data BLOB NOT NULL, UNIQUE(zoom_level, tile_column, tile_row));
         {ROWS} INSERT INTO tiles SELECT n, 1, n, n, {VALUE} FROM s;
         CREATE TRIGGER tiles_zoom_update BEFORE UPDATE OF zoom_level ON tiles
           BEGIN SELECT RAISE(ABORT, 'no such level') WHERE NEW.zoom_level > 9; END;
         CREATE VIEW shown AS SELECT * FROM parks;"
    ));
    fs::rename(world.path("a.db"), world.path("map.gpkg")).unwrap();
    let parks = "map.gpkg?table=parks&value=photo";
    world.ok(&format!("run {parks} --rounds 1"));
    world.ok("run map.gpkg?table=tiles --update --rounds 1");
    let says =
        "is only read: trigger rtree_parks_geom_update3 of parks calls ST_IsEmpty(), a function of";
    world.refuses([
        (&*format!("run {parks} --update"), says),
        (&*format!("run {parks} --mix read=50,update=50"), says),
        (
            "run map.gpkg?table=shown&key=fid&value=photo --update",
            "cannot modify shown because it is a view",
        ),
    ]);
    world.write("in/000001", "new");
    let ran = world.run(&format!("copy in {parks} --in-place --force"));
    assert!(ran.code == Some(1) && ran.err.contains("ST_"), "{}", ran.err);
}

/// Before anything is measured or copied.
#[test]
fn a_table_of_redb_of_another_program_is_not_updated() {
    let world = World::after(["init a.db --count 30 --size 50", "copy a.db redb:a.redb"]);
    world.ok("run a.redb?table=integers --rounds 1");
    world.refuses([
        ("run a.redb?table=integers --update", "is a table of another program, which is only read"),
        ("run a.redb?table=integers --mix read=50,update=50", "is a table of another program"),
    ]);
    world.ok("run a.redb --update --rounds 1");
}

/// Returns what a refused or dry run says, and the bytes that it read: the kernel counts those of a shell's
/// children.
#[cfg(target_os = "linux")]
fn read_by(world: &World, line: &str) -> (String, u64) {
    let script = format!("{} {line} 2>said; cat /proc/$$/io", env!("CARGO_BIN_EXE_storemark"));
    let mut command = Command::new("sh");
    let ran = command.args(["-c", &script]).current_dir(world.path("")).output().unwrap();
    let counts = String::from_utf8(ran.stdout).unwrap();
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
    (fs::read_to_string(world.path("said")).unwrap(), read.parse().unwrap())
}

/// Of rows of 2 MB only the start is looked at.
#[test]
#[cfg(target_os = "linux")]
fn no_value_is_read_to_find_where_values_are() {
    let rows = "SELECT n, zeroblob(2000000), 'x' FROM s";
    let world = database(&format!(
        "CREATE TABLE a(id INTEGER PRIMARY KEY, d BLOB, made TEXT); {ROWS} INSERT INTO a {rows};
         CREATE TABLE b(id INTEGER PRIMARY KEY, d BLOB, made TEXT); {ROWS} INSERT INTO b {rows};"
    ));
    for (line, found) in [
        ("run a.db", "2 columns can have the values"),
        ("run a.db?table=b --dry-run", "the values are b.d by id: 40 values, about 2.00 MB"),
    ] {
        let (said, read) = read_by(&world, line);
        assert!(said.contains(found), "{said}");
        assert!(read < 10_000_000, "{line}: {read} bytes");
    }
}

/// Without a rowid, too, rows of both ends are looked at, unless all would have to be sorted.
#[test]
fn a_mean_is_of_the_first_and_the_last_rows() {
    let world = database(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, d BLOB) WITHOUT ROWID;
         INSERT INTO t SELECT value, zeroblob(iif(value<1001,100,900)) FROM generate_series(1,2000);
         CREATE VIEW v AS SELECT id AS k, d AS data FROM t;
         CREATE VIEW sorted AS SELECT -id AS k, d AS data FROM t;",
    );
    for (line, mean) in [
        ("run a.db?table=t --dry-run", "t.d by id: more than 1,000 values, about 500 B"),
        ("run a.db?table=v&key=k --dry-run", "v.data by k: more than 1,000 values, about 500 B"),
        ("stat a.db?table=sorted&key=k", "by k: more than 1,000 values, about 100 B"),
    ] {
        let ran = world.ok(line);
        assert!(ran.err.contains(mean), "{line}: {}", ran.err);
    }
}

/// Of 100 tables with pages of 64 KiB, each of which has two rows, two pages are read, and more of the few
/// that are named.
#[test]
#[cfg(target_os = "linux")]
fn little_is_read_of_many_tables() {
    let table = |n| {
        format!(
            "CREATE TABLE t{n:03}(id INTEGER PRIMARY KEY, d BLOB); {ROWS} INSERT INTO t{n:03}
             SELECT n, CASE WHEN {n}=99 THEN NULL WHEN {n}=98 AND n<40 THEN NULL ELSE zeroblob(30000) END FROM s;"
        )
    };
    let tables = (0..100).map(table).collect::<String>();
    let world = database(&format!("PRAGMA page_size=65536; BEGIN; {tables} COMMIT;"));
    let (said, read) = read_by(&world, "run a.db");
    // The last one has no values; the one before has one at its end.
    assert!(said.contains("99 columns can have the values"), "{said}");
    assert!(said.contains("t009&value=d' (40 values, about 30.0 kB on average), …"), "{said}");
    assert!(read < 40_000_000, "{read} bytes");
}

#[test]
fn a_key_that_several_rows_have_is_not_written() {
    let world = database(
        "CREATE TABLE t(name TEXT, d BLOB);
         INSERT INTO t VALUES('a', x'01'), ('a', x'02'), ('b', x'03');",
    );
    world.write("new/a", "other");
    let ran = world.run("copy new a.db?table=t&key=name&value=d --in-place --force");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("a repeats") && ran.err.contains("nothing was written"),
        "{}",
        ran.err
    );
    assert_eq!(world.sqlite3(&["a.db", "SELECT group_concat(hex(d)) FROM t"]).trim(), "01,02,03");
    fs::rename(world.path("new/a"), world.path("new/b")).unwrap();
    world.ok("copy new a.db?table=t&key=name&value=d --in-place --force");
    let values = world.sqlite3(&["a.db", "SELECT group_concat(hex(d)) FROM t"]);
    assert_eq!(values.trim(), "01,02,6F74686572");
}
