//! The kinds of servers: what each says and refuses, and an existing one of each.

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use crate::{
    running::{children, within},
    world::{World, is_root},
};

pub(super) struct Kind {
    /// The engine that starts one.
    pub(super) engine: &'static str,
    /// How an address of an existing one may start.
    pub(super) scheme: &'static str,
    pub(super) other_scheme: &'static str,
    /// A database that [`Existing`] has.
    pub(super) shop: &'static str,
    /// Makes the table `mine`.
    pub(super) mine: &'static str,
    pub(super) has_rows: bool,
    /// A user that may do everything, with its password.
    pub(super) admin: &'static str,
    /// The variable that has a password.
    pub(super) password: &'static str,
    /// A setting that a session may have.
    pub(super) session: &'static str,
    /// A setting that leads out of the folder.
    pub(super) outside: &'static str,
    /// Targets without the engine that a private server refuses, and what is said of each.
    pub(super) refused_settings: &'static [(&'static str, &'static str)],
    /// Ends of targets that an existing server refuses.
    pub(super) refused_session: &'static [(&'static str, &'static str)],
    pub(super) says: Says,
    /// Gives a new server its database `shop` and its users.
    setup: &'static [(&'static str, &'static str)],
    /// Lists the tables of the database `shop`.
    tables: &'static str,
    /// The folder of the socket, or its path, in the folder of the server.
    socket: &'static str,
    /// Makes the folder `data` of a new server; `None` if it needs none.
    install: Option<fn(folder: &Path)>,
    start: fn(folder: &Path, port: u16) -> Child,
    client: fn(server: &Existing<'_>, database: &str, sql: &str) -> Command,
}

/// What is said when a connection or a table fails.
pub(super) struct Says {
    pub(super) wrong_password: &'static str,
    pub(super) no_database: &'static str,
    pub(super) no_privilege: &'static str,
    pub(super) nobody: &'static str,
    pub(super) encrypted: &'static str,
    /// Without encryption; `None`: it listens elsewhere for that.
    pub(super) plain: Option<&'static str>,
}

pub(super) const MARIADB: Kind = Kind {
    engine: "mariadb",
    scheme: "mysql",
    other_scheme: "mariadb",
    shop: "shop",
    mine: "CREATE TABLE mine (k INT)",
    has_rows: true,
    admin: "root",
    password: "MYSQL_PWD",
    session: "set.sort_buffer_size=1048576",
    outside: "set.general_log_file=x",
    refused_settings: &[
        ("?engine=inodb", "did you mean innodb?"),
        ("?engine=memory", "no BLOB columns"),
        ("?engine=csv", "no keys"),
        ("?engine=aria --update --durability durable", "aria promises nothing"),
        ("?engine=myisam&sync=commit --durability consistent", "myisam promises nothing"),
        ("?set.innodb_data_home_dir=x", "names a place or code"),
        ("?set.log_bin=/tmp/x", "names a place or code"),
        ("?set.no_such_thing=1", "unknown variable 'no_such_thing=1'"),
        ("?set.innodb_page_size=4000", "the server has \"4096\""),
        ("?set.innodb_data_file_path=nonsense", "[ERROR]"),
        ("?set.skip_networking=0", "set.skip_networking=0 did not take effect"),
        ("?set.a-b=1", "no name of a variable"),
        ("absent", "absent"),
        ("?sync=always", "none, second, commit"),
    ],
    refused_session: &[
        ("?set.innodb_buffer_pool_size=1000000000", "GLOBAL variable"),
        ("?set.innodb_page_size=4096", "read only"),
        ("?set.no_such_thing=1", "Unknown system variable"),
        ("?sync=none", "sync=none cannot be had: sessions have sync=commit"),
        (" --size 2M --variance 0", "max_allowed_packet, which is 1048576 bytes"),
    ],
    says: Says {
        wrong_password: "Access denied for user 'me'",
        no_database: "Unknown database 'nowhere'",
        no_privilege: "CREATE command denied",
        nobody: "nothing answers there",
        encrypted: "tls_version=TLSv1.",
        plain: Some("tls_version=none"),
    },
    setup: &[
        ("mysql", "CREATE DATABASE shop"),
        ("mysql", "CREATE USER me@'%' IDENTIFIED BY 'right'"),
        ("mysql", "GRANT ALL ON shop.* TO me@'%'"),
        ("mysql", "CREATE USER poor@'%' IDENTIFIED BY 'right'"),
        ("mysql", "GRANT SELECT ON shop.* TO poor@'%'"),
    ],
    tables: "SHOW TABLES",
    socket: "socket",
    install: Some(|folder| {
        let mut install = Command::new("mariadb-install-db");
        install
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
            .arg("--debug-no-sync")
            .args(in_folder(folder));
        succeeds(&mut install);
    }),
    start: |folder, port| {
        Command::new("/usr/sbin/mariadbd")
            .args(["--no-defaults", "--bind-address=127.0.0.1", "--max-allowed-packet=1M"])
            .args(in_folder(folder))
            .arg(format!("--socket={}", folder.join("socket").display()))
            .arg(format!("--pid-file={}", folder.join("pid").display()))
            .arg(format!("--port={port}"))
            .args(certificate(folder, "--ssl-cert=", "--ssl-key="))
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap()
    },
    client: |server, database, sql| {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "-N", "-uroot", "-D", database, "-e", sql]);
        command.arg(format!("--socket={}", server.folder.join("socket").display()));
        command
    },
};

pub(super) const POSTGRES: Kind = Kind {
    engine: "postgres",
    scheme: "postgres",
    other_scheme: "postgresql",
    shop: "shop",
    mine: "CREATE TABLE mine (k INT)",
    has_rows: true,
    admin: "admin:right",
    password: "PGPASSWORD",
    session: "set.work_mem=8MB",
    outside: "set.archive_command=true",
    refused_settings: &[
        ("?set.work_mme=1MB", "did you mean work_mem?"),
        ("?set.work_mem=lots", "invalid value for parameter \"work_mem\""),
        ("?set.no.such=1", "did not take effect: the server has no such variable"),
        ("?set.port=1", "did not take effect: the server has \"5432\""),
        ("?set.data_directory=x", "names a place or code"),
        ("?cache=200000", "accepted: a multiple of 8192 from 131072 to"),
        ("?sync=always", "off, async, on"),
        ("absent", "absent"),
    ],
    refused_session: &[
        ("?set.shared_buffers=1GB", "cannot be changed without restarting"),
        ("?set.no_such_thing=1", "unrecognized configuration parameter"),
        ("?set.no.such=1", "no such variable"),
        ("?sync=off", "sync=off cannot be had: sessions have sync=async (fsync=on"),
    ],
    says: Says {
        wrong_password: "password authentication failed",
        no_database: "\"nowhere\" does not exist",
        no_privilege: "GRANT CREATE ON SCHEMA public TO poor",
        nobody: "onnection refused",
        encrypted: "tls_version=TLSv1.",
        plain: Some("tls_version=none"),
    },
    setup: &[
        ("postgres", "CREATE DATABASE shop"),
        ("postgres", "CREATE ROLE me LOGIN PASSWORD 'right'"),
        ("postgres", "GRANT ALL ON DATABASE shop TO me"),
        ("shop", "GRANT CREATE ON SCHEMA public TO me"),
        ("shop", "CREATE ROLE poor LOGIN PASSWORD 'right'"),
    ],
    tables: "SELECT tablename FROM pg_tables WHERE schemaname='public'",
    socket: "",
    install: Some(|folder| {
        fs::write(folder.join("password"), "right\n").unwrap();
        let mut initdb = as_postgres("initdb");
        initdb
            .args(["--no-sync", "--auth=scram-sha-256", "--username=admin", "--pwfile"])
            .arg(folder.join("password"))
            .arg(folder.join("data"));
        succeeds(&mut initdb);
    }),
    start: |folder, port| {
        as_postgres("postgres")
            .arg("-D")
            .arg(folder.join("data"))
            .args(["-c", "listen_addresses=127.0.0.1", "-c", &format!("port={port}")])
            .args(["-c", "unix_socket_directories=.."])
            .args(certificate(folder, "-cssl=on\n-cssl_cert_file=", "-cssl_key_file="))
            .stderr(File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap()
    },
    client: |server, database, sql| {
        let mut command = Command::new("psql");
        command
            .args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "admin", "-p", &server.port.to_string()])
            .args(["-d", database, "-c", sql, "-h"])
            .arg(&server.folder)
            .env("PGPASSWORD", "right");
        command
    },
};

pub(super) const VALKEY: Kind = Kind {
    engine: "valkey",
    scheme: "redis",
    other_scheme: "valkey",
    shop: "1",
    mine: "SET mine 1",
    has_rows: false,
    admin: "admin:right",
    password: "REDISCLI_AUTH",
    session: "tls=off",
    outside: "set.aclfile=/etc/passwd",
    refused_settings: &[
        ("?set.maxmemoyr=1", ">>> 'maxmemoyr"),
        ("?set.maxmemory=lots", "set.maxmemory=lots"),
        ("?set.port=1", "did not take effect: the server has \"0\""),
        ("?set.appendonly=no", "did not take effect: the server has \"yes\""),
        ("?set.maxmemory-policy=allkeys-lru", "the server has \"noeviction\""),
        ("?set.dir=x", "names a place or code"),
        ("?sync=second", "off, no, everysec, always"),
        ("absent", "absent"),
    ],
    refused_session: &[
        ("?set.maxmemory=1", "no setting \"set.maxmemory\""),
        ("?sync=off", "sync=off cannot be had: the server has sync=always (appendonly=yes"),
    ],
    says: Says {
        wrong_password: "assword authentication failed",
        no_database: "nowhere: no number of a database",
        no_privilege: "no permissions to run the 'info' command",
        nobody: "nothing answers there",
        encrypted: "tls=/",
        plain: None,
    },
    setup: &[("1", "PING")],
    tables: "KEYS *",
    socket: "socket",
    install: None,
    start: |folder, port| {
        let mut server = Command::new("redis-server");
        server.current_dir(folder).args(["--unixsocket", "socket", "--save", ""]);
        server.args(["--bind", "127.0.0.1", "--appendonly", "yes", "--appendfsync", "always"]);
        let port = port.to_string();
        if folder.join("server.pem").exists() {
            // It has a port for each.
            server.args(["--port", "0", "--tls-port", &port, "--tls-auth-clients", "no"]);
            server.args(["--tls-cert-file", "server.pem", "--tls-key-file", "server.key"]);
            server.args(["--tls-ca-cert-file", "ca.pem"]);
        } else {
            server.args(["--port", &port]);
        }
        for (user, may) in [("admin", "+@all"), ("me", "+@all"), ("poor", "+@read +ping +select")] {
            server.args(["--user", user, "on", ">right", "~*", "&*"]).args(may.split(' '));
        }
        server.stdout(File::create(folder.join("log")).unwrap()).spawn().unwrap()
    },
    client: |server, database, words| {
        let mut command = Command::new("redis-cli");
        command.arg("-s").arg(server.folder.join("socket")).args(["-e", "-n", database]);
        command.args(words.split(' '));
        command
    },
};

/// The data of a server of MariaDB, its user, and its own place for temporary tables: one that starts
/// removes those of all others in its.
fn in_folder(folder: &Path) -> Vec<String> {
    let user = is_root().then(|| "--user=mysql".to_owned());
    let data = format!("--datadir={}", folder.join("data").display());
    [data, format!("--tmpdir={}", folder.display())].into_iter().chain(user).collect()
}

/// Puts the data of a new server into `folder`. A kind is installed once for all tests, because that takes
/// seconds; the others unpack what that made.
fn install(kind: &Kind, folder: &Path) {
    static PACKED: Mutex<BTreeMap<&str, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let Some(install) = kind.install else { return };
    let mut all = PACKED.lock().unwrap();
    let packed = all.entry(kind.engine).or_insert_with(|| {
        install(folder);
        let mut pack = Command::new("tar");
        Arc::new(succeeds(pack.args(["-cS", "data"]).current_dir(folder)))
    });
    let packed = Arc::clone(packed);
    drop(all);
    if !folder.join("data").exists() {
        let mut unpack = Command::new("tar");
        unpack.args(["-xp", "--same-owner"]).current_dir(folder).stdin(Stdio::piped());
        let mut unpacking = unpack.spawn().unwrap();
        unpacking.stdin.take().unwrap().write_all(&packed).unwrap();
        assert!(unpacking.wait().unwrap().success());
    }
}

/// Runs what must succeed, and returns what it printed.
fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Makes the files of an authority and of a server. PostgreSQL wants a key that it alone can read.
const CERTIFICATES: &str = "
key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30'
openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=authority
openssl req -x509 $key -keyout server.key -out server.pem -subj /CN=server -CA ca.pem \\
  -CAkey ca.key -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE
chmod 644 server.key
install -m 600 server.key postgres.key
test $(id -u) != 0 || chown postgres postgres.key
";

/// The options that name the certificate and its key, if the folder has them.
fn certificate(folder: &Path, certificate: &str, key: &str) -> Vec<String> {
    if !folder.join("server.pem").exists() {
        return Vec::new();
    }
    let file = if key.starts_with("--") { "server.key" } else { "postgres.key" };
    let certificate = format!("{certificate}{}", folder.join("server.pem").display());
    let key = format!("{key}{}", folder.join(file).display());
    certificate.split('\n').map(str::to_owned).chain([key]).collect()
}

/// A program of PostgreSQL, run by a user that it accepts.
fn as_postgres(name: &str) -> Command {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = installed.map(|entry| entry.path()).max_by_key(|path| version(path));
    let program = newest.map_or_else(|| name.into(), |folder| folder.join("bin").join(name));
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").stdout(Stdio::null());
    command
}

/// A server that storemark did not start, with an empty database `shop`.
pub(super) struct Existing<'k> {
    kind: &'k Kind,
    folder: PathBuf,
    port: u16,
    process: Child,
}

impl<'k> Existing<'k> {
    pub(super) fn start(kind: &'k Kind, world: &World) -> Self {
        let folder = world.path("existing");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        Self::start_on(kind, folder)
    }

    /// One with a certificate for 127.0.0.1, signed by an authority in `ca.pem`.
    pub(super) fn encrypted(kind: &'k Kind, world: &World) -> Self {
        let folder = world.path("existing");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        succeeds(Command::new("sh").args(["-ec", CERTIFICATES]).current_dir(&folder));
        Self::start_on(kind, folder)
    }

    fn start_on(kind: &'k Kind, folder: PathBuf) -> Self {
        install(kind, &folder);
        let port = free_port();
        let process = (kind.start)(&folder, port);
        let server = Self { kind, folder, port, process };
        assert!(within(60, || server.sql(kind.setup[0].0, "SELECT 1").is_some()));
        for (database, statement) in kind.setup {
            server.sql(database, statement).unwrap();
        }
        server
    }

    /// Ends it and its own processes at once: by a signal that none of them can ignore.
    fn kill(&mut self) {
        self.signal("KILL");
        let _ = self.process.wait();
        assert!(within(60, || children(self.process.id()).is_empty()));
    }

    /// Sends a signal to it and to its own processes.
    pub(super) fn signal(&self, name: &str) {
        let first = self.process.id();
        // Its own first: when it has ended they are no longer its.
        let own = children(first).into_iter().map(|(process, _)| process);
        for process in own.chain([first]) {
            // One may have ended meanwhile.
            let _ = Command::new("kill").args(["-s", name, &process.to_string()]).output();
        }
    }

    /// Ends it at once, and starts it again on the same port.
    pub(super) fn restart(&mut self, pause: Duration) {
        self.kill();
        thread::sleep(pause);
        self.process = (self.kind.start)(&self.folder, self.port);
        assert!(within(60, || {
            // It ends at once while a process of the old one, which was started meanwhile, still runs.
            if self.process.try_wait().unwrap().is_some() {
                self.process = (self.kind.start)(&self.folder, self.port);
            }
            self.sql(self.kind.shop, "SELECT 1").is_some()
        }));
    }

    /// The file with the authority that signed its certificate.
    pub(super) fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// Starts it again with the authority's own certificate.
    pub(super) fn present_authority(&mut self) {
        let files =
            [("ca.pem", "server.pem"), ("ca.key", "server.key"), ("ca.key", "postgres.key")];
        for (from, to) in files {
            // Whom the file belongs to stays.
            fs::write(self.folder.join(to), fs::read(self.folder.join(from)).unwrap()).unwrap();
        }
        self.restart(Duration::ZERO);
    }

    /// Runs `sql` as a user that may do everything; `None` if it fails.
    pub(super) fn sql(&self, database: &str, sql: &str) -> Option<String> {
        let ran = (self.kind.client)(self, database, sql).output().unwrap();
        ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
    }

    pub(super) fn tables(&self) -> String {
        // Of nothing, one client prints an empty line.
        self.sql(self.kind.shop, self.kind.tables).unwrap().trim_start().to_owned()
    }

    pub(super) fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The address of its database `shop`.
    pub(super) fn address(&self) -> String {
        format!("{}://me:right@{}/{}", self.kind.scheme, self.place(), self.kind.shop)
    }

    /// The same through the socket.
    pub(super) fn by_socket(&self) -> String {
        let socket = self.folder.join(self.kind.socket).display().to_string();
        let socket = socket.trim_end_matches('/').replace('/', "%2F");
        format!("me:right@{socket}:{}/{}", self.port, self.kind.shop)
    }
}

impl Drop for Existing<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
