//! Passwords: nothing that is printed, written or seen by others has one.

use std::fs;

use crate::world::World;

/// Addresses with a password, as they are and as people mistype them.
const ADDRESSES: [&str; 16] = [
    "mysql://me:SECRET@localhost:1/db",
    "postgres://me:SECRET@localhost:1/db",
    "redis://me:SECRET@localhost:1/0",
    "redis://:SECRET@localhost:1/0",
    "mysql://me:SE?a=CRETSECRET@localhost:1/db",
    "mysql://me:SECRET@localhost:1/db?engine=nothing",
    "mysql://me:SECRET@localhost:1/db?x=1&x=2",
    "mysql://me:SECRET@localhost:port/db",
    "mysql://me:SECRET/db",
    "mysql://me:SECRET@localhost:1",
    "mysql:/me:SECRET@localhost:1/db",
    "mysql:me:SECRET@localhost:1/db",
    "mysql:///me:SECRET@localhost:1/db",
    "mysqll://me:SECRET@localhost:1/db",
    "mysql://me@localhost:1/db?password=SECRET",
    "http://me:SECRET@localhost:1/db",
];

const COMMANDS: [&str; 18] = [
    "run A --keys 5 --rounds 1",
    "run files: A --keys 5 --rounds 1 -v --html x.html --json x.json --save-plan x.toml --export-hdr x",
    "run files: --keys 5 --rounds 1 --baseline A",
    "run files: A --dry-run --keys 5 --baseline A",
    "run files: A --dry-run --keys 5 --save-plan plan.toml",
    "run --data A --keys 5",
    "rows A --rows 10 --rounds 1",
    "rows sqlite: --rows 10 --rounds 1 --baseline A",
    "queue A --rounds 1",
    "age A",
    "copy A sqlite:b.db",
    "copy a.db A",
    "verify a.db A",
    "stat A",
    "calibrate A --runs 1",
    "report A",
    "help A",
    "A",
];

#[test]
fn no_password_is_printed_or_written() {
    let world = World::after(["init a.db --count 5 --size 100"]);
    for address in ADDRESSES {
        world.write("of.toml", format!("targets = [\"files:\", \"{address}\"]\nkeys = 5\n"));
        let of_plan =
            ["run of.toml --rounds 1 --html x.html", "run of.toml --wrong", "rows of.toml"];
        for line in COMMANDS.iter().chain(&of_plan) {
            let ran = world.run(&line.replace('A', address));
            let said = format!("{}{}", ran.out, ran.err);
            assert!(!said.contains("SECRET"), "{line} with {address}: {said}");
        }
        fs::remove_file(world.path("of.toml")).unwrap();
        for (path, bytes) in world.tree() {
            let text = format!("{path:?}{}", String::from_utf8_lossy(&bytes.0));
            assert!(!text.contains("SECRET"), "{address}: {text}");
        }
    }
}
