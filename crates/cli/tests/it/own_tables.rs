//! Tables of the user's own, in databases that another program made.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use model::DatasetSpec;

use crate::world::World;

/// A series of numbers in a statement of the shell.
const N: &str = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM s WHERE n<40)";

/// A table of each kind, all with the same 40 values of 101 to 140 bytes.
fn kinds() -> World {
    let world = World::new();
    let value = "CAST(printf('%.*c',100+n,char(64+n)) AS BLOB)";
    let sql = format!(
        "CREATE TABLE photos(id INTEGER PRIMARY KEY, name TEXT, data BLOB, created TEXT);
         {N} INSERT INTO photos SELECT n*3, 'n'||n, {value}, 'now' FROM s;
         CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT);
         INSERT INTO settings VALUES('a', 'b');"
    );
    world.sqlite3(&["app.db", &sql]);
    let sql = format!(
        "CREATE TABLE without(id INTEGER PRIMARY KEY, data BLOB) WITHOUT ROWID;
         {N} INSERT INTO without SELECT n, {value} FROM s;
         CREATE TABLE texts(name TEXT PRIMARY KEY COLLATE NOCASE, data BLOB);
         {N} INSERT INTO texts SELECT 'dir/'||n, {value} FROM s;
         CREATE TABLE uuids(id BLOB NOT NULL UNIQUE, data BLOB);
         {N} INSERT INTO uuids SELECT CAST(printf('%016d',n*7) AS BLOB), {value} FROM s;
         CREATE TABLE tiles_of(z INT, x INT, y INT, data BLOB, PRIMARY KEY(z,x,y));
         {N} INSERT INTO tiles_of SELECT n%3, n, -n, {value} FROM s;
         CREATE TABLE mixed(a TEXT, b BLOB, data BLOB, UNIQUE(a,b));
         {N} INSERT INTO mixed SELECT 'a/%'||n, CAST(printf('%02d',n) AS BLOB), {value} FROM s;
         CREATE TABLE generated(id INTEGER PRIMARY KEY, t TEXT, data BLOB AS (CAST(t AS BLOB)));
         {N} INSERT INTO generated SELECT n, CAST({value} AS TEXT) FROM s;
         CREATE TABLE strings(id INTEGER PRIMARY KEY, data TEXT);
         {N} INSERT INTO strings SELECT n, CAST({value} AS TEXT) FROM s;
         CREATE VIEW doubled AS SELECT id AS id, data||data AS data FROM without;
         CREATE TABLE unnamed(data BLOB);
         {N} INSERT INTO unnamed SELECT {value} FROM s;"
    );
    world.sqlite3(&["kinds.db", &sql]);
    world
}

const KINDS: [&str; 10] = [
    "table=without&value=data",
    "table=texts&value=data",
    "table=uuids&value=data",
    "table=tiles_of&value=data",
    "table=mixed&value=data",
    "table=generated&value=data",
    "table=strings&value=data",
    "table=doubled&key=id&value=data",
    "table=unnamed&key=rowid&value=data",
    "table=texts&value=data&where=name<'dir/2'",
];

#[test]
fn the_only_table_with_values_is_measured_and_named() {
    let world = kinds();
    let before = world.tree();
    let ran = world.ok("run app.db files: --rounds 1");
    assert!(ran.err.contains("app.db: the values are photos.data by id: 40 values"), "{}", ran.err);
    assert!(ran.out.contains("40 keys of 101 to 140 bytes"), "{}", ran.out);
    assert_eq!(world.tree(), before, "nothing of the user's changes");
    world.ok("run app.db --rounds 1 --json run.json");
    let settings = &world.record("run.json").header.plan.targets[0].settings;
    assert_eq!(settings.to_string(), "key=id&table=photos&value=data");
}

#[test]
fn a_table_with_a_name_of_ours_is_read_by_its_own_columns() {
    let world = World::new();
    for (name, table) in [
        ("other.db", "kv(key TEXT PRIMARY KEY, value BLOB)"),
        ("text.db", "kv(k TEXT PRIMARY KEY, v BLOB)"),
        ("without.db", "kv(k INTEGER PRIMARY KEY, v BLOB) WITHOUT ROWID"),
        ("archive.db", "sqlar(name TEXT PRIMARY KEY, data BLOB)"),
    ] {
        let (named, columns) = table.split_once('(').unwrap();
        world.sqlite3(&[
            name,
            &format!(
                "CREATE TABLE {table}; {N} INSERT INTO {named} SELECT n, randomblob(99+n) FROM s;"
            ),
        ]);
        let ran = world.ok(&format!("run {name} --rounds 1"));
        assert!(ran.err.contains(&format!("{name}: the values are {named}.")), "{}", ran.err);
        assert!(ran.out.contains("40 keys of 100 to 139 bytes"), "{columns}: {}", ran.out);
        world.ok(&format!("copy {name} files:{name}.dir"));
        world.ok(&format!("verify {name} {name}.dir"));
    }
}

/// What a program leaves that was killed, or a copy of its files.
#[test]
fn tables_and_columns_that_are_in_a_log_alone_are_found() {
    let world = World::new();
    let old = "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; \
               CREATE TABLE old(k INTEGER PRIMARY KEY, v BLOB); INSERT INTO old VALUES(1, x'00'); \
               PRAGMA wal_checkpoint(truncate);";
    for (name, since, says) in [
        ("renamed", "ALTER TABLE old RENAME COLUMN v TO w", "the values are old.w by k: 1 value,"),
        (
            "other",
            "DROP TABLE old; CREATE TABLE new(n INTEGER PRIMARY KEY, d BLOB); INSERT INTO new VALUES(5, x'05')",
            "the values are new.d by n: 1 value,",
        ),
        ("more", "INSERT INTO old VALUES(2, x'02'), (3, x'03')", "old.v by k: 3 values"),
    ] {
        let copy = format!(".shell cp app.db {name}.db; cp app.db-wal {name}.db-wal; rm app.db*");
        world.sqlite3(&["app.db", old, since, &copy]);
        let before = world.tree();
        for line in ["stat", "run --rounds 1", "verify"] {
            let ran = world.ok(&format!("{line} {name}.db"));
            assert!(ran.err.contains(says), "{name}: {}", ran.err);
            assert_eq!(world.tree(), before, "{name}: {line}");
        }
    }
    // A log without a whole transaction shows nothing more than the database, which may be closed without it.
    world.write("more.db-wal", &fs::read(world.path("more.db-wal")).unwrap()[..100]);
    let before = world.tree();
    assert!(world.ok("stat more.db").err.contains("old.v by k: 1 value,"));
    assert_eq!(world.tree(), before);
    // SQLite removes the log of an empty file, which may be all that is left.
    world.write("other.db", "");
    for line in [
        "stat other.db",
        "run sqlite:other.db",
        "verify sqlite:other.db",
        "copy more.db sqlite:other.db --force",
    ] {
        let ran = world.run(line);
        assert!(matches!(ran.code, Some(1..=3)), "{line}: {}{}", ran.out, ran.err);
        assert!(world.path("other.db-wal").metadata().unwrap().len() > 0, "{line}");
    }
}

#[test]
fn each_kind_of_table_is_read_by_its_key_and_left_as_it_is() {
    let world = kinds();
    let before = world.tree();
    for kind in KINDS {
        world.ok(&format!("run kinds.db?{kind} memory: --rounds 1"));
        assert_eq!(world.tree(), before, "{kind}");
    }
    world.ok("run app.db?api=blob --rounds 1");
    world.ok("run kinds.db?table=uuids&api=blob --rounds 1");
    assert_eq!(world.tree(), before);
}

#[test]
fn what_is_read_is_what_the_shell_reads() {
    let world = kinds();
    for (kind, shown) in [
        ("table=uuids", "lower(hex(id))"),
        ("table=tiles_of", "z||'/'||x||'/'||y"),
        ("table=texts", "name"),
        ("table=mixed", "replace(replace(a,'%','%25'),'/','%2F')||'/'||lower(hex(b))"),
    ] {
        let table = kind.split('=').nth(1).unwrap();
        world.ok(&format!("copy kinds.db?{kind} files:{table}.dir"));
        let sql = format!("SELECT {shown}, hex(data) FROM {table} ORDER BY 1");
        for row in world.sqlite3(&["kinds.db", &sql]).lines() {
            let (name, hex) = row.split_once('|').unwrap();
            let bytes = fs::read(world.path(&format!("{table}.dir")).join(name)).unwrap();
            let found: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(found.concat(), hex, "{table} {name}");
        }
        world.ok(&format!("verify kinds.db?{kind} {table}.dir"));
    }
}

#[test]
fn updates_are_made_on_a_copy_with_its_triggers() {
    let world = kinds();
    world.sqlite3(&[
        "app.db",
        "CREATE TABLE log(id); CREATE TRIGGER t AFTER UPDATE ON photos BEGIN \
         SELECT no_function_of_storemark(NEW.id); END;",
    ]);
    let before = world.tree();
    world.ok("run app.db --rounds 1");
    let said = world.run("run app.db --update --rounds 1");
    assert_ne!(said.code, Some(0), "the trigger is part of an update: {}", said.out);
    let why = "is only read: trigger t of photos calls no_function_of_storemark(), a function of";
    assert!(said.err.contains(why), "{}", said.err);
    for kind in KINDS.iter().filter(|kind| !kind.contains("doubled") && !kind.contains("generated"))
    {
        world.ok(&format!("run kinds.db?{kind} --update --rounds 1"));
    }
    for kind in ["table=doubled&key=id", "table=generated"] {
        let ran = world.run(&format!("run kinds.db?{kind}&value=data --update --rounds 1"));
        assert!(ran.code != Some(0) && ran.err.contains("cannot "), "{}", ran.err);
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn known_forms_need_no_words() {
    let world = World::new();
    let columns = "zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB";
    let (columns, key) = (columns, "zoom_level, tile_column, tile_row");
    let value = "CAST(printf('%.*c',100+n,'x') AS BLOB)";
    let view = format!(
        "CREATE TABLE metadata(name text, value text);
         CREATE TABLE map({}, tile_id TEXT);
         CREATE UNIQUE INDEX map_index ON map({key});
         CREATE TABLE images(tile_data BLOB, tile_id TEXT);
         CREATE UNIQUE INDEX images_id ON images(tile_id);
         {N} INSERT INTO map SELECT n, n, n, 'i'||n FROM s;
         {N} INSERT INTO images SELECT {value}, 'i'||n FROM s;
         CREATE VIEW tiles AS SELECT {key}, tile_data FROM map JOIN images USING(tile_id);",
        columns.trim_end_matches(", tile_data BLOB")
    );
    world.sqlite3(&["view.mbtiles", &view]);
    let package = format!(
        "CREATE TABLE gpkg_contents(table_name TEXT PRIMARY KEY, data_type TEXT);
         INSERT INTO gpkg_contents VALUES('city', 'tiles');
         CREATE TABLE city(id INTEGER PRIMARY KEY, {columns}, UNIQUE({key}));
         CREATE TABLE lakes(fid INTEGER PRIMARY KEY, geom BLOB);
         INSERT INTO lakes VALUES(1, x'00');
         {N} INSERT INTO city SELECT n, n, n, n, {value} FROM s;"
    );
    world.sqlite3(&["city.gpkg", &package]);
    let fossil = format!(
        "CREATE TABLE blob(rid INTEGER PRIMARY KEY, rcvid INTEGER, size INTEGER, uuid TEXT UNIQUE, content BLOB);
         CREATE TABLE other(id INTEGER PRIMARY KEY, value BLOB);
         INSERT INTO other VALUES(1, x'00');
         {N} INSERT INTO blob SELECT n, 1, 1, 'u'||n, {value} FROM s;"
    );
    world.sqlite3(&["repo.fossil", &fossil]);
    for (name, says) in [
        ("view.mbtiles", "tiles.tile_data by zoom_level,tile_column,tile_row: 40 values"),
        ("city.gpkg", "city.tile_data by zoom_level,tile_column,tile_row: 40 values"),
        ("repo.fossil", "blob.content by rid: 40 values"),
    ] {
        let ran = world.ok(&format!("run {name} --rounds 1"));
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn a_table_is_the_data_of_others() {
    let world = kinds();
    for data in ["app.db", "kinds.db?table=texts&value=data", "sqlite:app.db?table=photos"] {
        let ran = world.ok(&format!("run --data {data} memory: files: --rounds 1"));
        assert!(ran.out.contains("40 keys of 101 to 140 bytes"), "{}", ran.out);
    }
    world.ok("import app.db?table=photos&value=data new.db");
    world.ok("run --data new.db memory: --rounds 1");
}

#[test]
fn what_is_no_table_of_values_is_refused_with_a_way_out() {
    let world = kinds();
    world.sqlite3(&[
        "odd.db",
        "CREATE TABLE nokey(data BLOB); INSERT INTO nokey VALUES(x'00');
         CREATE TABLE nulls(id INTEGER PRIMARY KEY, data BLOB);
         INSERT INTO nulls VALUES(1, x'00'), (2, NULL);
         CREATE TABLE numbers(id INTEGER PRIMARY KEY, data BLOB);
         INSERT INTO numbers VALUES(1, x'00'), (2, 7);
         CREATE TABLE types(id UNIQUE, data BLOB);
         INSERT INTO types VALUES('a', x'00'), (2, x'00');
         CREATE TABLE repeats(id INTEGER PRIMARY KEY, album INT, data BLOB);
         CREATE INDEX albums ON repeats(album);
         INSERT INTO repeats VALUES(1, 5, x'00'), (2, 5, x'01');
         CREATE TABLE reals(id REAL PRIMARY KEY, data BLOB); INSERT INTO reals VALUES(0.5, x'00');
         CREATE VIRTUAL TABLE search USING fts5(body);",
    ]);
    world.sqlite3(&[
        "view.db",
        "CREATE TABLE parts(id INTEGER PRIMARY KEY, number INT);
         CREATE VIEW names AS SELECT id, 'part ' || number AS name FROM parts;",
    ]);
    world.refuses([
        ("run view.db", "its tables are names, parts; ?table=names&key=COLUMN reads a view"),
        (
            "run odd.db",
            "6 columns can have the values; name one: 'odd.db?table=nokey&value=data' (1 value",
        ),
        (
            "run odd.db?table=nokey",
            "key=COLUMN or key=COLUMN,COLUMN names one, and key=rowid its rows",
        ),
        (
            "run odd.db?table=nulls&value=data",
            "storemark: odd.db: nulls: data of key 2 is NULL, which is no value; where=data IS NOT NULL",
        ),
        (
            "run odd.db?table=numbers&value=data",
            "key 2 is an integer, which is no value; where=typeof(data)",
        ),
        (
            "run odd.db?table=types&value=data",
            "or a value of another type than the first row, in id",
        ),
        ("run odd.db?table=repeats&key=album&value=data", "album is no key: 5 repeats; key= names"),
        ("run odd.db?table=reals&value=data", "its keys are real"),
        ("run odd.db?table=search", "search is a virtual table of fts5; storemark reads tables"),
        ("run odd.db?table=nulz", "did you mean nulls?"),
        // Before any table is looked for.
        ("run odd.db?tabel=nulls", "odd.db?tabel=nulls: no setting \"tabel\": did you mean table?"),
        ("verify odd.db?mmap=0,1GiB&tabel=nulls", "no setting \"tabel\": did you mean table?"),
        ("run odd.db?table=nulls&value=dat", "did you mean data?"),
        ("run odd.db?table=nulls&value=data&key=i", "nulls: no column \"i\""),
        ("run odd.db?table=nulls&value=data&where=dat", "no column \"dat\": did you mean data?"),
        ("run odd.db?table=nulls&value=data&key=data", "data is the value, and no part of the key"),
        ("run kinds.db?table=doubled", "doubled is a view, which has no key of its own"),
        ("run kinds.db?table=without&value=data&api=blob", "without: api=blob needs a rowid"),
        (
            "copy app.db?table=photos&value=data sqlite:app.db --force",
            "app.db: exists, and is not replaced",
        ),
    ]);
}

/// The rows of a table as the shell prints them.
fn rows(world: &World, database: &str, sql: &str) -> Vec<String> {
    world.sqlite3(&[database, sql]).lines().map(str::to_owned).collect()
}

/// A trigger may be called as a view is, and letters may be as long in no other case.
#[test]
fn a_view_is_known_next_to_a_trigger_and_a_module_after_any_name() {
    let world = World::new();
    world.sqlite3(&[
        "odd.db",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB); INSERT INTO t VALUES(1, x'00');
         CREATE TRIGGER v AFTER INSERT ON t BEGIN SELECT 1; END;
         CREATE VIEW v AS SELECT id, data FROM t;
         CREATE VIRTUAL TABLE \"ΐΐ\" USING fts5(body);",
    ]);
    let said = world.ok("verify odd.db").err;
    assert!(said.contains("the values are t.data by id"), "{said}");
    let words = world.ok("copy odd.db?table=v&key=id files:out").words();
    assert!(!words.contains("ALTER TABLE"), "{words}");
    world.refuses([("run odd.db?table=ΐΐ", "ΐΐ is a virtual table of fts5;")]);
}

/// What such statements replace cannot be had back.
#[test]
fn no_statement_is_given_that_may_replace_what_was_not_copied() {
    let world = kinds();
    let tables = format!(
        "CREATE TABLE checked(id INTEGER PRIMARY KEY, data BLOB CHECK(length(data)>0));
         {N} INSERT INTO checked SELECT n, x'61' FROM s;
         CREATE TABLE watched(id INTEGER PRIMARY KEY, data BLOB);
         {N} INSERT INTO watched SELECT n, x'61' FROM s;
         CREATE TRIGGER watch BEFORE UPDATE OF data ON watched BEGIN SELECT RAISE(IGNORE); END;
         CREATE TABLE parent(id INTEGER PRIMARY KEY, data BLOB UNIQUE);
         {N} INSERT INTO parent SELECT n, 'x'||n FROM s;
         CREATE TABLE child(id INTEGER PRIMARY KEY, of REFERENCES Parent(Data) ON UPDATE CASCADE);
         CREATE TABLE named(id INTEGER UNIQUE NOT NULL, data BLOB PRIMARY KEY);
         {N} INSERT INTO named SELECT n, 'x'||n FROM s;
         CREATE TABLE of_named(id INTEGER PRIMARY KEY, of REFERENCES named ON UPDATE CASCADE);"
    );
    world.sqlite3(&["app.db", &tables]);
    for (number, (table, why)) in [
        ("photos&where=id<abs(random())", "may hold for other rows by then"),
        ("photos&where=created<>current_time", "may hold for other rows by then"),
        ("checked", "a CHECK constraint may change or refuse the update"),
        ("watched", "the trigger watch may change or refuse the update"),
        ("parent", "a foreign key of child may change with it"),
        ("named", "a foreign key of of_named may change with it"),
    ]
    .into_iter()
    .enumerate()
    {
        let from = format!("app.db?table={table}&key=id&value=data");
        let out = world.ok(&format!("copy {from} files:{number}.dir")).out;
        assert!(out.contains("no statements are given that replace") && out.contains(why), "{out}");
        assert!(!out.contains("ALTER TABLE"), "{out}");
    }
    let lasting =
        "copy app.db?table=photos&key=id&value=data&where=length(data)>120 files:last.dir";
    assert!(world.ok(lasting).out.contains(" WHERE (length(data)>120);"));
}

#[test]
fn values_move_out_and_back() {
    let world = kinds();
    let before = world.tree();
    let ran =
        world.ok("copy app.db?table=photos&key=name&value=data files:photos --key-suffix .jpg");
    for line in [
        "ALTER TABLE \"photos\" ADD COLUMN \"data_path\" TEXT;",
        "UPDATE \"photos\" SET \"data_path\"='photos/'||\"name\"||'.jpg', \"data\"=NULL;",
        "VACUUM;",
    ] {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    let wanted =
        rows(&world, "app.db", "SELECT name, length(data) FROM photos ORDER BY name||'.jpg'");
    let length = |name: &String| fs::read(world.path(&format!("photos/{name}"))).unwrap().len();
    let found = world.names("photos");
    let found: Vec<_> = found
        .iter()
        .map(|name| format!("{}|{}", name.trim_end_matches(".jpg"), length(name)))
        .collect();
    assert_eq!(found, wanted);
    world.ok("copy files:photos thumbs.db?table=pictures&key=file&value=bytes");
    world.ok("verify photos thumbs.db");
    assert!(before.iter().all(|(path, was)| world.tree().get(path) == Some(was)));
    // The statements do what they say.
    for line in ran.out.lines().filter(|line| line.starts_with("  ")) {
        world.sqlite3(&["app.db", line]);
    }
    let paths = rows(&world, "app.db", "SELECT data_path FROM photos WHERE data IS NULL");
    assert_eq!(paths.len(), 40);
    assert!(paths.iter().all(|path| world.path(path).is_file()), "{paths:?}");
}

#[test]
fn tiles_move_out_and_back_with_their_numbers() {
    let world = kinds();
    let key = "key=zoom_level,tile_column,tile_row&value=tile_data";
    world.ok("copy kinds.db?table=tiles_of&value=data files:tiles");
    world.ok(&format!("copy tiles new.mbtiles?table=tiles&{key}"));
    world.ok("verify kinds.db?table=tiles_of&value=data new.mbtiles");
    let sql = "SELECT DISTINCT typeof(zoom_level), typeof(tile_data) FROM tiles";
    assert_eq!(rows(&world, "new.mbtiles", sql), ["integer|blob"]);
}

#[test]
fn an_existing_table_gets_all_values_or_none() {
    let world = kinds();
    world.sqlite3(&[
        "mine.db",
        "CREATE TABLE p(id INTEGER PRIMARY KEY, n TEXT UNIQUE, b BLOB, c TEXT DEFAULT 'new');
         INSERT INTO p(n, b, c) VALUES('dir/7', x'00', 'old');
         CREATE TABLE q(n TEXT PRIMARY KEY, b BLOB, c TEXT NOT NULL);
         CREATE TABLE log(n); CREATE TRIGGER t AFTER INSERT ON p BEGIN INSERT INTO log VALUES(NEW.n); END;",
    ]);
    let copy = "copy kinds.db?table=texts&value=data mine.db?table=p&key=n&value=b";
    world.refuses([
        (copy, "mine.db: exists, and is not replaced; --in-place puts the values into its table"),
        (&format!("{copy} --force"), "mine.db: exists, and is not replaced"),
        (
            &format!("{copy} --in-place"),
            "dir/7 is there; --force replaces its value; nothing was written",
        ),
        (&format!("{copy} --in-place --resume"), "cannot be used with"),
        (
            "copy kinds.db?table=texts&value=data mine.db?table=q&value=b --in-place",
            "q: an insert needs a value for c, which is NOT NULL and has no default",
        ),
        (
            "copy kinds.db?table=without&value=data mine.db?table=p&key=n&value=b --in-place",
            "mine.db: its keys are names, the source's integers",
        ),
    ]);
    world.ok(&format!("{copy} --in-place --force"));
    let count =
        "SELECT count(*), sum(c='old'), sum(length(b)>100), (SELECT count(*) FROM log) FROM p";
    assert_eq!(rows(&world, "mine.db", count), ["40|1|40|39"]);
}

#[test]
fn an_insert_needs_defaults_for_the_other_columns() {
    let world = kinds();
    world.sqlite3(&[
        "needs.db",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB, owner TEXT NOT NULL);
         INSERT INTO t SELECT id, data, 'me' FROM (SELECT 1 AS id, x'00' AS data);",
    ]);
    world.ok("run app.db --mix read=50,insert=50 --rounds 1");
    let ran = world.run("run needs.db --mix read=50,insert=50 --rounds 1");
    let says = "t: an insert needs a value for owner, which is NOT NULL and has no default";
    assert!(ran.code != Some(0) && ran.err.contains(says), "{}{}", ran.out, ran.err);
}

#[test]
fn stat_and_cache_take_a_table() {
    let world = kinds();
    let out = world.ok("stat app.db?table=photos").out;
    assert!(out.contains("Number of entries:        40\n"), "{out}");
    assert!(out.contains("Maximum value size:      140\n"), "{out}");
    let out = world.ok("stat kinds.db?table=texts&value=data&where=name<'dir/2'").out;
    assert!(out.contains("Number of entries:        11\n"), "{out}");
    if cfg!(target_os = "linux") {
        let out = world.ok("cache app.db?table=photos").out;
        assert!(out.contains("Files: 1"), "{out}");
    }
}

#[test]
fn a_program_that_has_the_database_open_is_named() {
    let world = kinds();
    let mut shell = Command::new("sqlite3");
    shell.arg("app.db").current_dir(world.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut input = shell.stdin.take().unwrap();
    let mut output = BufReader::new(shell.stdout.take().unwrap());
    let mut ask = |sql: &str| {
        writeln!(input, "{sql}; SELECT 'done';").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    };
    ask("BEGIN; UPDATE photos SET name='x'; COMMIT");
    let out = world.ok("run app.db --rounds 1 -v").words();
    let said = format!("sqlite3 (process {}) has it open to write", shell.id());
    assert!(out.contains(&said), "{out}");
    ask("BEGIN EXCLUSIVE");
    let said = world.run("run app.db --rounds 1");
    assert!(said.err.contains("app.db: "), "{}", said.err);
    assert_eq!((said.code, said.err.lines().count()), (Some(1), 1), "{}", said.err);
    ask("ROLLBACK");
    drop(input);
    shell.wait().unwrap();
}

#[test]
fn rows_that_a_live_writer_adds_are_no_difference() {
    let world = World::new();
    world.application();
    world.sqlite3(&["app.db", "PRAGMA journal_mode=wal"]);
    let mut shell = Command::new("sqlite3")
        .arg("app.db")
        .current_dir(world.path(""))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, done) = (shell.stdin.take().unwrap(), AtomicBool::new(false));
    let ran = thread::scope(|scope| {
        writeln!(input, ".timeout 5000").unwrap();
        scope.spawn(|| {
            while !done.load(Relaxed) {
                writeln!(input, "INSERT INTO photos(data) VALUES(zeroblob(900));").unwrap();
                thread::sleep(Duration::from_millis(2));
            }
        });
        let ran = world.run("run app.db files: --read --rounds 1");
        done.store(true, Relaxed);
        ran
    });
    drop(input);
    shell.wait().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// An index for the join of a view is made by SQLite for each read.
#[test]
fn a_view_without_an_index_is_moved_and_not_measured() {
    let world = World::new();
    let n = N.replace("40", "3000");
    let sql = format!(
        "CREATE TABLE map(zoom_level INT, tile_column INT, tile_row INT, tile_id TEXT);
         CREATE TABLE images(tile_data BLOB, tile_id TEXT);
         {n} INSERT INTO map SELECT 7, n%64, n/64, 'i'||n FROM s;
         {n} INSERT INTO images SELECT zeroblob(n), 'i'||n FROM s;
         CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
         FROM map JOIN images USING(tile_id);"
    );
    world.sqlite3(&["map.mbtiles", &sql]);
    let said = world.run("run map.mbtiles --time 1s");
    let why = "map.mbtiles: tiles: has no index on zoom_level,tile_column,tile_row: each read";
    assert!(said.code == Some(1) && said.err.contains(why), "{}", said.err);
    world.ok("copy map.mbtiles files:out");
    world.ok("verify map.mbtiles out");
}

#[test]
fn stat_counts_what_is_no_value_apart() {
    let world = World::new();
    world.application();
    world.sqlite3(&["app.db", "INSERT INTO photos VALUES(3, 'c', NULL), (4, 'd', 12345678901)"]);
    let out = world.ok("stat app.db").out;
    for line in [
        "Number of entries:         2",
        "Minimum value size:     5000",
        "NULLs and numbers:         2",
    ] {
        assert!(out.contains(line), "{out}");
    }
}

#[test]
fn what_is_encrypted_is_refused() {
    let world = World::new();
    let noise: Vec<u8> =
        (0..8192_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    world.write("secret.db", &noise);
    // SQLCipher leaves such a start with cipher_plaintext_header_size=32.
    world.application();
    let start = fs::read(world.path("app.db")).unwrap()[..32].to_vec();
    world.write("cipher.db", [start, noise].concat());
    world.refuses([
        ("run cipher.db", "cipher.db: unsupported file format: it is encrypted, or damaged"),
        ("run secret.db", "it does not start as a store of SQLite: is it encrypted, or damaged?"),
        ("run sqlite:secret.db", "secret.db: file is not a database, or it is encrypted"),
    ]);
}

#[test]
fn a_record_names_the_table_that_the_data_came_from() {
    let world = kinds();
    world.ok("run --data kinds.db?table=texts&value=data files: lmdb: --rounds 5 --json run.json");
    let record = world.record("run.json");
    let DatasetSpec::Directory { path } = record.header.plan.experiment.dataset().unwrap() else {
        panic!("the data are in a store of the user's");
    };
    assert_eq!(path, "kinds.db?key=name&table=texts&value=data");
    let out = world.ok("report run.json").words();
    let moves = out.split("storemark copy ").nth(1);
    assert!(moves.is_none_or(|moves| moves.starts_with(&format!("'{path}' "))), "{out}");
    assert!(world.refused("report run.json --html kinds.db").contains("kinds.db"));
}

#[test]
fn a_tree_of_files_is_no_folder_that_statements_could_name() {
    let world = World::new();
    world.application();
    assert!(world.ok("copy app.db files:flat").out.contains("ALTER TABLE"));
    assert!(!world.ok("copy app.db files:tree?layout=tree").out.contains("ALTER TABLE"));
}

#[test]
fn a_key_that_is_there_stops_an_insert_also_without_an_index() {
    let world = World::new();
    world.sqlite3(&[
        "n.db",
        "CREATE TABLE t(name TEXT, data BLOB); INSERT INTO t VALUES('b', x'01')",
    ]);
    for name in ["a", "b"] {
        world.write(&format!("src/{name}"), "new");
    }
    let copy = "copy src n.db?table=t&key=name&value=data --in-place";
    let refused = world.run(copy);
    assert!(refused.code != Some(0) && refused.err.contains('b'), "{}", refused.err);
    assert_eq!(world.sqlite3(&["n.db", "SELECT count(*) FROM t"]).trim(), "1");
}

/// Listing takes several times its share of the time, here and on a machine that is five times as fast.
#[test]
fn keys_that_cannot_be_listed_in_time_are_refused_while_there_is_time() {
    let world = World::new();
    let rows =
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000000)";
    let sql = format!(
        "CREATE TABLE names(name TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID;
         {rows} INSERT INTO names SELECT printf('%08d', i), x'00' FROM n;
         CREATE TABLE far(id INTEGER PRIMARY KEY, data BLOB);
         {rows} INSERT INTO far SELECT i << 30, x'00' FROM n;"
    );
    world.sqlite3(&["a.db", &sql]);
    for table in ["names", "far"] {
        let ran = world.run(&format!("run a.db?table={table}&value=data --read --time 1s"));
        let error = "a.db: listing its keys takes more than 400 ms, their share of the time";
        assert_eq!(ran.code, Some(2), "{table}: {}", ran.out);
        assert!(ran.err.contains(error), "{table}: {}", ran.err);
    }
}
