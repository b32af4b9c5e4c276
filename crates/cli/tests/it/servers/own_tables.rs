//! Tables of the user's own on existing servers: read as they are, copied to be written to.

use std::fs;

use super::{
    kinds::{Existing, Kind},
    one_line,
};
use crate::world::World;

/// The statements of one kind of server that make tables of a user, each with the same 40 values of 101 to
/// 140 bytes, by the name of its engine.
fn statements(kind: &Kind) -> Vec<&'static str> {
    if kind.engine == "mariadb" {
        vec![
            "CREATE TABLE photos(id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(99) NOT NULL \
             DEFAULT 'x', data BLOB, UNIQUE(name))",
            "INSERT INTO photos SELECT seq*3, CONCAT('n',seq), REPEAT(CHAR(64+seq),100+seq) \
             FROM seq_1_to_40",
            "CREATE TABLE words(name VARCHAR(99) PRIMARY KEY, text TEXT)",
            "INSERT INTO words VALUES('a', 'b')",
            "CREATE DATABASE kinds",
            "GRANT ALL ON kinds.* TO me@'%'",
            "CREATE TABLE kinds.texts(name VARCHAR(99) PRIMARY KEY, data LONGBLOB)",
            "INSERT INTO kinds.texts SELECT CONCAT('dir/',name), data FROM photos",
            "CREATE TABLE kinds.bins(id BINARY(16) PRIMARY KEY, data MEDIUMBLOB)",
            "INSERT INTO kinds.bins SELECT UNHEX(MD5(name)), data FROM photos",
            "CREATE TABLE kinds.tiles(z INT, x INT, y INT, data BLOB, PRIMARY KEY(z,x,y))",
            "INSERT INTO kinds.tiles SELECT id%3, id, -id, data FROM photos",
            "CREATE TABLE kinds.mixed(a VARCHAR(50) NOT NULL, b VARBINARY(20) NOT NULL, \
             data TEXT CHARACTER SET latin1, UNIQUE(a,b))",
            "INSERT INTO kinds.mixed SELECT CONCAT('a/%',name), name, data FROM photos",
            "CREATE TABLE kinds.`my.strings`(id BIGINT PRIMARY KEY, data LONGTEXT)",
            "INSERT INTO kinds.`my.strings` SELECT id, data FROM photos",
            "CREATE VIEW kinds.doubled AS SELECT name, CONCAT(data,data) AS data \
             FROM kinds.texts",
            "CREATE TABLE kinds.few(id INT, data BLOB)",
            "INSERT INTO kinds.few SELECT seq, 'x' FROM seq_1_to_2000",
            "CREATE TABLE kinds.nulls(id INT PRIMARY KEY, data BLOB)",
            "INSERT INTO kinds.nulls VALUES(1,'x'),(2,NULL)",
            "CREATE TABLE kinds.again(id INT PRIMARY KEY, album INT, data BLOB, KEY(album))",
            "INSERT INTO kinds.again VALUES(1,5,'x'),(2,5,'y')",
            "CREATE TABLE kinds.needs(id INT PRIMARY KEY, must INT NOT NULL, data BLOB)",
            "INSERT INTO kinds.needs VALUES(1,5,'x')",
        ]
    } else {
        vec![
            "GRANT pg_read_all_data, pg_write_all_data TO me",
            "CREATE TABLE photos(id serial PRIMARY KEY, name text NOT NULL DEFAULT 'x' UNIQUE, \
             data bytea)",
            "INSERT INTO photos SELECT n*3, 'n'||n, convert_to(repeat(chr(64+n),100+n),'UTF8') \
             FROM generate_series(1,40) n",
            "CREATE TABLE words(name text PRIMARY KEY, text text)",
            "INSERT INTO words VALUES('a', 'b')",
            "CREATE SCHEMA kinds",
            "GRANT ALL ON SCHEMA kinds TO me",
            "CREATE TABLE kinds.texts(name text PRIMARY KEY, data bytea)",
            "INSERT INTO kinds.texts SELECT 'dir/'||name, data FROM photos",
            "CREATE TABLE kinds.bins(id bytea PRIMARY KEY, data bytea)",
            "INSERT INTO kinds.bins SELECT decode(md5(name),'hex'), data FROM photos",
            "CREATE TABLE kinds.uuids(id uuid PRIMARY KEY, data bytea)",
            "INSERT INTO kinds.uuids SELECT md5(name)::uuid, data FROM photos",
            "CREATE TABLE kinds.tiles(z int, x int, y int, data bytea, PRIMARY KEY(z,x,y))",
            "INSERT INTO kinds.tiles SELECT id%3, id, -id, data FROM photos",
            "CREATE TABLE kinds.mixed(a text, b bytea, data varchar(999), UNIQUE(a,b))",
            "INSERT INTO kinds.mixed SELECT 'a/%'||name, convert_to(name,'UTF8'), \
             convert_from(data,'UTF8') FROM photos",
            "CREATE TABLE kinds.\"my.strings\"(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
             data text)",
            "INSERT INTO kinds.\"my.strings\"(data) SELECT convert_from(data,'UTF8') FROM photos",
            "CREATE VIEW kinds.doubled AS SELECT name, data||data AS data FROM kinds.texts",
            "CREATE TABLE kinds.large(id int PRIMARY KEY, data oid)",
            "SELECT setval('photos_id_seq', 500)",
            "CREATE TABLE kinds.few(id int, data bytea)",
            "INSERT INTO kinds.few SELECT n, 'x' FROM generate_series(1,2000) n",
            "CREATE TABLE kinds.nulls(id int PRIMARY KEY, data bytea)",
            "INSERT INTO kinds.nulls VALUES(1,'x'),(2,NULL)",
            "CREATE TABLE kinds.again(id int PRIMARY KEY, album int, data bytea)",
            "CREATE INDEX ON kinds.again(album)",
            "INSERT INTO kinds.again VALUES(1,5,'x'),(2,5,'y')",
            "CREATE TABLE kinds.needs(id int PRIMARY KEY, must int NOT NULL, data bytea)",
            "INSERT INTO kinds.needs VALUES(1,5,'x')",
        ]
    }
}

/// A server with these tables, of which one needs no more words.
struct Shop<'k> {
    server: Existing<'k>,
    /// The address of the database with the tables of all kinds.
    kinds: String,
    /// What the name of such a table starts with.
    schema: &'static str,
    is_mariadb: bool,
}

impl<'k> Shop<'k> {
    fn open(kind: &'k Kind, world: &World) -> Self {
        let server = Existing::start(kind, world);
        server.sql("shop", &statements(kind).join(";\n")).expect("the statements are right");
        let is_mariadb = kind.engine == "mariadb";
        let kinds =
            if is_mariadb { server.address().replace("/shop", "/kinds") } else { server.address() };
        Self { server, kinds, schema: if is_mariadb { "" } else { "kinds." }, is_mariadb }
    }

    /// The target of a table of a kind.
    fn table(&self, rest: &str) -> String {
        format!("{}?table={}{rest}", self.kinds, self.schema)
    }

    fn sql(&self, sql: &str) -> String {
        self.server.sql("shop", sql).unwrap()
    }

    /// What would change if storemark changed anything: every row, and what the server counts.
    fn state(&self) -> String {
        let names = ["texts", "tiles", "mixed", "nulls", "again", "needs"];
        let mut state = self.sql("SELECT * FROM photos ORDER BY id");
        for name in names {
            state += &self.sql(&format!("SELECT * FROM kinds.{name} ORDER BY 1, 2"));
        }
        state += &self.sql(if self.is_mariadb {
            "SELECT table_name, auto_increment FROM information_schema.tables \
             WHERE table_schema IN ('shop', 'kinds') AND table_name<>'doubled' ORDER BY 1"
        } else {
            "SELECT last_value, is_called FROM photos_id_seq"
        });
        state + &self.sql(if self.is_mariadb {
            "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'storemark%'"
        } else {
            "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY 1"
        })
    }
}

pub(super) fn the_only_table_with_bytes_is_measured_and_named(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    let before = shop.state();
    let at = if shop.is_mariadb {
        shop.server.address()
    } else {
        shop.server.sql("shop", "REVOKE pg_read_all_data, pg_write_all_data FROM me").unwrap();
        shop.server.sql("shop", "GRANT SELECT ON photos TO me").unwrap();
        shop.server.address()
    };
    let ran = world.ok(&format!("run {at} --rounds 1 --json run.json"));
    assert!(ran.err.contains("the values are photos.data by id: 40 values"), "{}", ran.err);
    assert!(ran.out.contains("40 keys of 101 to 140 bytes"), "{}", ran.out);
    let record = fs::read_to_string(world.path("run.json")).unwrap();
    assert!(!record.contains("right@") && !(ran.out + &ran.err).contains("right@"));
    let settings = &world.record("run.json").header.plan.targets[0].settings;
    assert_eq!(settings.to_string(), "key=id&table=photos&value=data");
    let ran = world.ok(&format!("run {at} --keys 20 --rounds 1"));
    assert!(ran.out.contains("20 "), "a table of storemark's own: {}", ran.out);
    assert_eq!(shop.state(), before, "nothing of the user's changes");
}

pub(super) fn each_kind_of_table_is_read_and_updated_as_a_copy(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    let before = shop.state();
    let tables = [
        "texts&value=data",
        "bins",
        "tiles&key=z,x,y",
        "mixed&value=data",
        "\"my.strings\"&value=data",
        "few&key=id&value=data",
        "texts&value=data&where=name<'dir/n2'",
    ];
    for table in tables {
        let target = shop.table(table);
        if !table.starts_with("mixed") && !table.contains("strings") {
            world.ok(&format!("run {target} memory: --rounds 1"));
            continue;
        }
        world.ok(&format!("run {target} memory: --rounds 1 --read"));
        let said = one_line(world, &format!("run {target} --update --rounds 1"));
        assert!(said.contains("data is text, which takes no bytes that are not UTF-8"), "{said}");
    }
    world.ok(&format!("run {} --rounds 1", shop.table("doubled&key=name&value=data")));
    let said =
        one_line(world, &format!("run {} --update", shop.table("doubled&key=name&value=data")));
    assert!(said.contains("is a view: only reads of it are measured"), "{said}");
    let photos = format!("{}?table=photos&key=name&value=data", shop.server.address());
    world.ok(&format!("run {photos} --mix read=50,insert=50 --rounds 1"));
    assert_eq!(shop.state(), before, "nothing of the user's changes");
    assert!(!shop.server.tables().contains("storemark"));
}

pub(super) fn what_is_read_is_what_the_server_has(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    for table in ["texts", "bins", "tiles", "mixed"] {
        let target = shop.table(&format!("{table}&value=data"));
        let ran = world.ok(&format!("copy {target} files:{table}.dir"));
        assert!(ran.out.contains("40 values"), "{}", ran.out);
        assert!(ran.out.contains("would be lost:\n  ALTER TABLE "), "{}", ran.out);
        world.ok(&format!("verify {target} {table}.dir"));
    }
    assert_eq!(fs::read(world.path("texts.dir/dir/n7")).unwrap(), [b'G'; 107]);
    assert_eq!(fs::read(world.path("tiles.dir/0/21/-21")).unwrap(), [b'G'; 107]);
    assert_eq!(fs::read(world.path("mixed.dir/a%2F%25n7/6e37")).unwrap(), [b'G'; 107]);
    let ran = world
        .ok(&format!("run --data {} memory: files: --rounds 1", shop.table("tiles&value=data")));
    assert!(ran.out.contains("40 keys of 101 to 140 bytes"), "{}", ran.out);
    // The statements that it prints do what they say.
    let photos = format!("{}?table=photos&value=data", shop.server.address());
    let ran = world.ok(&format!("copy {photos} files:moved --key-suffix .bin"));
    let statements = ran.out.lines().filter_map(|line| line.strip_prefix("  "));
    for statement in statements {
        shop.sql(statement.trim_end_matches(';'));
    }
    let left =
        shop.sql("SELECT COUNT(*) FROM photos WHERE data IS NULL AND data_path='moved/21.bin'");
    assert_eq!(left.trim(), "1");
}

pub(super) fn values_go_into_a_table_as_a_whole_or_not_at_all(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    let before = shop.sql("SELECT * FROM photos ORDER BY id");
    for (name, bytes) in [("n7", "seven"), ("new", "new")] {
        world.write(&format!("more/{name}"), bytes);
    }
    let at = shop.server.address();
    let photos = format!("{at}?table=photos&key=name&value=data");
    let said = one_line(world, &format!("copy more {photos} --in-place"));
    assert!(
        said.contains("n7 is there; --force replaces its value; nothing was written"),
        "{said}"
    );
    assert_eq!(shop.sql("SELECT * FROM photos ORDER BY id"), before);
    world.ok(&format!("copy more {photos} --in-place --force"));
    let count = shop.sql("SELECT COUNT(*) FROM photos WHERE data IN ('seven', 'new')");
    assert_eq!(count.trim(), "2");
    let made = format!("{at}?table=made&key=name&value=data");
    world.ok(&format!("copy more {made}"));
    world.ok(&format!("verify more {made}"));
    let said = world.run(&format!("copy more {made} --force"));
    assert!(
        said.code != Some(0) && said.err.contains("made exists, and is not replaced"),
        "{}",
        said.err
    );
    let mut tables: Vec<_> =
        shop.server.tables().lines().map(|line| line.trim().to_owned()).collect();
    tables.retain(|table| {
        ["made", "photos", "words"].iter().all(|own| !table.contains(own)) && !table.is_empty()
    });
    assert_eq!(tables, Vec::<String>::new(), "nothing else is left");
}

pub(super) fn what_is_no_table_of_values_is_one_line(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    // More rows than are looked at without an index.
    shop.sql(if shop.is_mariadb {
        "CREATE TABLE kinds.many(id INT, data BLOB);
         INSERT INTO kinds.many SELECT seq, 'x' FROM seq_1_to_200001"
    } else {
        "CREATE TABLE kinds.many(id int, data bytea);
         INSERT INTO kinds.many SELECT n, 'x' FROM generate_series(1,200001) n; ANALYZE kinds.many"
    });
    let at = shop.server.address();
    let poor = at.replace("me:right", "poor:right");
    let said = one_line(world, &format!("run {}", shop.kinds));
    let several = format!("?table={}bins&value=data' (40 values, about 1", shop.schema);
    assert!(
        said.contains("columns can have the values; name one: '") && said.contains(&several),
        "{said}"
    );
    assert!(!said.contains("right@"), "{said}");
    for (line, why) in [
        (format!("run {at}?table=photo"), "did you mean photos?"),
        (format!("run {at}?table=photos&value=dat"), "did you mean data?"),
        (
            format!("run {at}?table=photos&key=nam&value=data"),
            "no column \"nam\": did you mean name?",
        ),
        (
            format!("run {at}?table=photos&key=data&value=data"),
            "is the value, and no part of the key",
        ),
        (format!("run {at}?table=photos&value=data&where=dat"), "where=dat"),
        (format!("run {at}?table=photos&value=data&where=id<5)--"), "where=id<5)--"),
        (
            format!("run {at}?table=photos&value=data --in-place --update"),
            "--in-place: values of your own on a server are only read",
        ),
        (
            format!("run {}", shop.table("doubled&value=data")),
            "is a view, which has no key of its own",
        ),
        (
            format!("run {}", shop.table("few&value=data")),
            "has neither a primary key nor one unique index",
        ),
        (format!("run {}", shop.table("many&key=id&value=data")), "has no index on id: each read"),
        (
            format!("run {}", shop.table("nulls&value=data")),
            "data of key 2 is NULL, which is no value; where=",
        ),
        (format!("run {}", shop.table("again&key=album&value=data")), "album is no key: 5 repeats"),
        (
            format!(
                "copy {at}?table=photos&value=data {}",
                shop.table("needs&value=data --in-place")
            ),
            "needs a value for must",
        ),
        (format!("copy {at}?table=none files:none"), "no table \"none\""),
    ] {
        let said = one_line(world, &line);
        assert!(said.contains(why), "{line}: {said}");
    }
    if !shop.is_mariadb {
        let said = one_line(world, &format!("run {poor}?table=photos&value=data"));
        assert!(said.contains("no table \"photos\""), "{said}");
    }
    let ran = world.ok(&format!("run {} --rounds 1", shop.table("few&key=id&value=data")));
    assert!(ran.err.contains("no index has id: each read looks at all of "), "{}", ran.err);
}

/// A copy `LIKE` the user's table lacks them, and a finding names them.
pub(super) fn triggers_and_foreign_keys_that_a_copy_lacks_are_named(kind: &Kind, world: &World) {
    let shop = Shop::open(kind, world);
    let statements = if shop.is_mariadb {
        [
            "CREATE TRIGGER kinds.stamp BEFORE UPDATE ON kinds.needs FOR EACH ROW SET NEW.must = 7",
            "ALTER TABLE kinds.needs ADD CONSTRAINT of_again FOREIGN KEY(id) REFERENCES kinds.again(id)",
        ]
    } else {
        [
            "CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN NEW.must = 7; RETURN NEW; END'; \
             CREATE TRIGGER stamp BEFORE UPDATE ON kinds.needs FOR EACH ROW EXECUTE FUNCTION stamp()",
            "ALTER TABLE kinds.needs ADD CONSTRAINT of_again FOREIGN KEY(id) REFERENCES kinds.again(id)",
        ]
    };
    for sql in statements {
        shop.sql(sql);
    }
    let target = shop.table("needs&value=data");
    let ran = world.ok(&format!("run {target} --update --rounds 1 -v")).words();
    assert!(ran.contains("which lacks foreign key of_again, trigger stamp;"), "{ran}");
    let ran = world.ok(&format!("run {target} --read --rounds 1 -v")).words();
    assert!(!ran.contains("which lacks"), "{ran}");
    let plain = shop.table("texts&value=data");
    let ran = world.ok(&format!("run {plain} --update --rounds 1 -v")).words();
    assert!(!ran.contains("which lacks"), "{ran}");
    // What refers to the primary key is not changed by an update of values.
    let bytes = if shop.is_mariadb { "BLOB" } else { "BYTEA" };
    for sql in [
        &format!("CREATE TABLE kinds.parent(id INT PRIMARY KEY, tag INT UNIQUE, data {bytes})"),
        "INSERT INTO kinds.parent VALUES (1, 10, 'one'), (2, 20, 'two')",
        "CREATE TABLE kinds.child(id INT, CONSTRAINT of_id FOREIGN KEY(id) REFERENCES kinds.parent(id))",
    ] {
        shop.sql(sql);
    }
    let copied = |to: &str| {
        let target = shop.table("parent&key=id&value=data");
        world.ok(&format!("copy {target} files:{to}")).words()
    };
    assert!(copied("free").contains("ALTER TABLE"));
    shop.sql(
        "CREATE TABLE kinds.other(tag INT, CONSTRAINT of_tag FOREIGN KEY(tag) \
         REFERENCES kinds.parent(tag) ON UPDATE CASCADE)",
    );
    let said = copied("bound");
    assert!(said.contains("the reference of_tag may change or refuse the update"), "{said}");
    assert!(!said.contains("ALTER TABLE"), "{said}");
}
