//! Archives that other programs made: read, measured and copied as they are, and written for them.

use std::{fs, process::Command};

use crate::world::World;

/// Runs a program of Python in the world's folder.
fn python(world: &World, program: &str) -> String {
    let ran = Command::new("python3")
        .args(["-c", program])
        .current_dir(world.path(""))
        .output()
        .expect("python3 is installed");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A folder `in` of 40 files, and `FORM.tar`, `FORM.zip` of it as Python writes them.
fn made() -> World {
    let world = World::new();
    python(
        &world,
        "
import os, tarfile, zipfile
os.makedirs('in/sub')
for i in range(40):
    name = 'in/sub/' * (i % 2) + 'in/' * (1 - i % 2) + ('n' * 120 if i == 7 else '') + f'{i}.jpg'
    open(name, 'wb').write(bytes([i]) * (i * 101))
    os.chmod(name, 0o640 if i % 3 else 0o755)
    os.utime(name, (0, 1700000000 + 2 * i))
forms = dict(ustar=tarfile.USTAR_FORMAT, gnu=tarfile.GNU_FORMAT, pax=tarfile.PAX_FORMAT)
for form in forms:
    with tarfile.open(form + '.tar', 'w', format=forms[form]) as archive:
        archive.add('in', '.', filter=lambda m: None if form == 'ustar' and 'nnn' in m.name else m)
for form, method in dict(stored=zipfile.ZIP_STORED, deflated=zipfile.ZIP_DEFLATED).items():
    with zipfile.ZipFile(form + '.zip', 'w', method) as archive:
        for folder, _, files in os.walk('in'):
            for file in files:
                path = os.path.join(folder, file)
                archive.write(path, os.path.relpath(path, 'in'))
",
    );
    world
}

/// A value that cannot be read is not the same as another one.
#[test]
fn a_damaged_value_is_a_difference() {
    let world = World::new();
    world.write("in/name", "the damaged value");
    world.ok("copy in zip:d.zip");
    world.flip("d.zip", b"the damaged value");
    for line in ["verify d.zip in", "verify in d.zip", "verify d.zip"] {
        let ran = world.run(line);
        assert_eq!((ran.code, &*ran.err), (Some(3), ""), "{line}");
        assert!(ran.out.starts_with("damaged: d.zip: the value of name: "), "{line}: {}", ran.out);
    }
}

#[test]
fn archives_of_python_are_copied_and_left_as_they_are() {
    let world = made();
    let before = world.tree();
    for (archive, count) in [
        ("ustar.tar", 39),
        ("gnu.tar", 40),
        ("pax.tar", 40),
        ("stored.zip", 40),
        ("deflated.zip", 40),
    ] {
        let copied = world.ok(&format!("copy {archive} files:out"));
        assert!(copied.out.contains(&format!("{count} values")), "{archive}: {}", copied.out);
        if count == 40 {
            // Bytes, modes and times.
            assert!(world.ok("verify files:in files:out").out.contains("same: 40 values"));
        }
        world.ok(&format!("verify {archive} out"));
        fs::remove_dir_all(world.path("out")).unwrap();
        let looked = world.ok(&format!("cache {archive}"));
        assert!(looked.out.contains("Files: 1"), "{}", looked.out);
    }
    assert_eq!(world.tree(), before);
}

#[test]
fn python_reads_what_is_written_for_it() {
    let world = made();
    for (target, read) in [
        ("tar:new.tar", "import tarfile; print(len(tarfile.open('new.tar').getmembers()))"),
        (
            "zip:new.zip",
            "import zipfile; z = zipfile.ZipFile('new.zip'); print(len(z.namelist()), z.testzip())",
        ),
        (
            "zip:deflated?method=deflated",
            "import zipfile; z = zipfile.ZipFile('deflated'); print(len(z.namelist()), z.testzip())",
        ),
    ] {
        world.ok(&format!("copy in {target}"));
        world.ok(&format!("verify in {target}"));
        assert!(python(&world, read).starts_with("40"), "{target}");
    }
    let unpacked = "import tarfile, os; os.mkdir('out'); tarfile.open('new.tar').extractall('out')";
    python(&world, unpacked);
    world.ok("verify files:in files:out");
}

#[test]
fn shards_are_measured_next_to_what_they_would_be_filled_into() {
    let world = made();
    let before = world.tree();
    let ran = world.ok("run gnu.tar stored.zip deflated.zip files: --rounds 1");
    assert!(ran.out.contains("40 keys"), "{}", ran.out);
    let filled = world.ok("run --data pax.tar tar: zip: sqlite: --rounds 1");
    assert!(
        filled.out.contains("40 keys") && !filled.out.contains("update, warm"),
        "{}",
        filled.out
    );
    assert!(filled.err.contains("only reads are measured"), "{}", filled.err);
    let scanned = world.ok("run pax.tar --mix scan=100 --rounds 1");
    assert!(scanned.out.contains("scan"), "{}", scanned.out);
    let advised = world.ok("advise gnu.tar --reads 100 --time 20s");
    assert!(advised.out.contains("what is there now"), "{}", advised.out);
    assert_eq!(world.tree(), before);
}

#[test]
fn what_an_archive_cannot_do_is_refused_by_name() {
    let world = made();
    python(
        &world,
        "
import io, tarfile, zipfile, gzip
whole = open('gnu.tar', 'rb').read()
last = max(tarfile.open('gnu.tar').getmembers(), key=lambda member: member.size)
open('cut.tar', 'wb').write(whole[:last.offset_data + 10])
open('short.tar', 'wb').write(whole[:len(whole.rstrip(b'\\0')) // 512 * 512 + 512])
gzip.open('gnu.tar.gz', 'wb').write(whole)
def tar(name, *members):
    with tarfile.open(name, 'w') as archive:
        for member in members:
            info = tarfile.TarInfo(member)
            info.size = 3
            archive.addfile(info, io.BytesIO(b'abc'))
tar('up.tar', 'ok', '../up')
tar('root.tar', '/root/x')
with zipfile.ZipFile('bz.zip', 'w', zipfile.ZIP_BZIP2) as archive:
    archive.writestr('b', b'b' * 1000)
data = bytearray(open('stored.zip', 'rb').read())
at = data.find(b'PK\\1\\2')
data[at + 8] |= 1
open('secret.zip', 'wb').write(data)
open('cut.zip', 'wb').write(data[:-9])
",
    );
    let sparse =
        "truncate -s 1M hole && printf x >>hole && tar --sparse -cf sparse.tar hole && rm hole";
    let ran = Command::new("sh").args(["-c", sparse]).current_dir(world.path("")).status();
    assert!(ran.unwrap().success());
    let mut cases = vec![
        ("run gnu.tar --update", "gnu.tar: is an archive, which is written once"),
        ("run tar: --mix read=95,update=5", "tar:: is an archive"),
        ("run gnu.tar.gz", "is no store of a kind"),
        ("run tar:gnu.tar.gz", "is compressed by gzip"),
        ("run cut.tar", "cut.tar: is cut short: the entry"),
        ("run short.tar", "short.tar: does not end in blocks of zeros"),
        ("run sparse.tar", "the entry hole is sparse"),
        ("run bz.zip", "the entry b is compressed by method 12 (BZIP2)"),
        ("run secret.zip", "is encrypted"),
        ("run cut.zip", "cut.zip: is no whole zip archive"),
        ("copy up.tar files:out", "../up"),
        ("copy root.tar files:out", "/root/x"),
        ("copy in gnu.tar", "gnu.tar exists; --force replaces it"),
        ("copy in gnu.tar --in-place", "gnu.tar"),
    ];
    if cfg!(not(unix)) {
        cases.retain(|(line, _)| !line.contains("sparse"));
    }
    world.refuses(cases);
    assert!(!world.path("up").exists() && !world.path("out").exists());
}

/// With holes, so that they take no room: values before and behind 5 GiB, more entries than 16 bits count,
/// and one that is itself that long.
#[test]
fn archives_of_more_than_4_gib_are_read() {
    let world = World::new();
    python(
        &world,
        "
import os, tarfile, zipfile
G = 5 << 30
def tar(name, of):
    with open(name, 'wb') as f:
        for member, size, data in [('first', 5, b'first'), ('huge', G, None), ('last', 4, b'last')]:
            info = tarfile.TarInfo(member)
            info.size, info.type = size, info.type if data else of
            f.write(info.tobuf(format=tarfile.GNU_FORMAT))
            f.write(data) if data else f.seek(size, os.SEEK_CUR)
            f.seek(-f.tell() % 512, os.SEEK_CUR)
        f.truncate(f.tell() + 1024)
def zip(name, mode):
    with zipfile.ZipFile(name, 'w') as archive:
        for number in range(70_000):
            archive.writestr(f'{number:05d}.txt', str(number))
        info, f = zipfile.ZipInfo('huge'), archive.fp
        info.file_size = info.compress_size = G
        info.CRC, info.header_offset, info.external_attr = 0, f.tell(), mode << 16
        f.write(info.FileHeader(zip64=True))
        f.seek(G, os.SEEK_CUR)
        archive.filelist.append(info)
        archive.start_dir = f.tell()
        archive.writestr('last', 'last')
tar('whole.tar', tarfile.REGTYPE), tar('parts.tar', tarfile.CHRTYPE)
zip('whole.zip', 0o100644), zip('parts.zip', 0o020644)
",
    );
    for (kind, all, first) in [("tar", 3_usize, "first"), ("zip", 70_002, "00000.txt")] {
        let stat = world.ok(&format!("stat whole.{kind}")).words();
        let says = format!("Number of entries: {all}");
        assert!(stat.contains(&says) && stat.contains("value size: 5368709120"), "{stat}");
        // The long one is no value, so that a copy takes no room.
        world.ok(&format!("copy parts.{kind} sqlite:{kind}.db"));
        let sql = "SELECT count(*), min(name), max(name), max(data) FROM sqlar";
        let found = world.sqlite3(&[&format!("{kind}.db"), sql]);
        assert_eq!(found, format!("{}|{first}|last|last\n", all - 1));
    }
}
