//! Connections to a server, by the crate `redis`.

use std::{error::Error as _, io, io::Write, mem, path::PathBuf, thread::sleep, time::Duration};

use model::Error;
use redis::{
    Client as Opener, Connection, ConnectionAddr, ConnectionLike, ErrorKind, IntoConnectionInfo,
    RedisConnectionInfo, RedisError, TlsCertificates, Value,
};

use crate::server::{Address, Answer, Driver, Failure, Tls, Why, certificate_error, connect_limit};

const CONNECTING: Duration = Duration::from_secs(10);
/// The time between two questions whether the server has done something.
pub(super) const PAUSE: Duration = Duration::from_millis(10);

pub(crate) struct ValkeyClient {
    pub(super) driver: Driver<Connection>,
    /// Room for a command.
    packed: Vec<u8>,
}

/// Appends a command as the protocol writes it.
pub(super) fn pack(into: &mut Vec<u8>, words: &[&[u8]]) {
    let expect = "a vector takes all bytes";
    write!(into, "*{}\r\n", words.len()).expect(expect);
    for word in words {
        write!(into, "${}\r\n", word.len()).expect(expect);
        into.extend_from_slice(word);
        into.extend_from_slice(b"\r\n");
    }
}

impl ValkeyClient {
    pub(super) fn by_socket(path: PathBuf) -> Answer<Self> {
        Self::connect(ConnectionAddr::Unix(path), RedisConnectionInfo::default(), None)
    }

    pub(super) fn by_address(address: &Address, database: i64) -> Answer<Self> {
        let mut login = RedisConnectionInfo::default().set_db(database);
        if let Some(user) = &address.user {
            login = login.set_username(user);
        }
        if let Some(password) = &address.password {
            login = login.set_password(password.reveal());
        }
        let (host, port) = (address.host.clone(), address.port);
        let place = if host.starts_with('/') {
            ConnectionAddr::Unix(host.into())
        } else if address.tls.is_some() {
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
        } else {
            ConnectionAddr::Tcp(host, port)
        };
        Self::connect(place, login, address.tls.as_ref())
    }

    /// Connects, and waits as long as the server reads its log.
    fn connect(
        place: ConnectionAddr,
        login: RedisConnectionInfo,
        tls: Option<&Tls>,
    ) -> Answer<Self> {
        let info = place.into_connection_info()?.set_redis_settings(login.set_skip_set_lib_name());
        let authorities = tls.and_then(|tls| tls.authorities.as_deref());
        let root_cert = authorities.map(std::fs::read).transpose().map_err(RedisError::from)?;
        let opener = match root_cert {
            None => Opener::open(info)?,
            root_cert => {
                Opener::build_with_tls(info, TlsCertificates { client_tls: None, root_cert })?
            }
        };
        let driver = Driver::connect(|| opener.get_connection_with_timeout(CONNECTING))?;
        // The driver may have sent nothing yet: this is the first answer.
        driver.set_limit(connect_limit());
        let mut client = Self { driver, packed: Vec::new() };
        loop {
            match client.value(&[b"PING"])? {
                Value::ServerError(error) if error.code() == "LOADING" => sleep(PAUSE),
                answer => return check_answer(answer).map(|_| client),
            }
        }
    }

    fn value(&mut self, words: &[&[u8]]) -> Answer<Value> {
        let mut packed = mem::take(&mut self.packed);
        packed.clear();
        pack(&mut packed, words);
        let value = self.driver.during(|connection| connection.req_packed_command(&packed));
        self.packed = packed;
        value
    }

    pub(super) fn run_command(&mut self, words: &[&[u8]]) -> Answer<Value> {
        check_answer(self.value(words)?)
    }

    /// Runs packed commands in one round trip. Returns the answers of the last `count` of `of`.
    pub(super) fn ask_packed(
        &mut self,
        packed: &[u8],
        of: usize,
        count: usize,
    ) -> Answer<Vec<Value>> {
        let ask =
            |connection: &mut Connection| connection.req_packed_commands(packed, of - count, count);
        let values = self.driver.during(ask)?;
        values.into_iter().map(check_answer).collect()
    }

    /// Runs a command that answers with an integer.
    pub(super) fn number(&mut self, words: &[&[u8]]) -> Answer<i64> {
        match self.run_command(words)? {
            Value::Int(number) => Ok(number),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs a command that answers with strings.
    pub(super) fn strings(&mut self, words: &[&[u8]]) -> Answer<Vec<Vec<u8>>> {
        match self.run_command(words)? {
            Value::Array(values) => values.into_iter().map(bytes).collect(),
            other => Err(unexpected(&other)),
        }
    }

    /// Runs a command that answers with text; returns an empty text instead of nothing.
    pub(super) fn text(&mut self, words: &[&[u8]]) -> Answer<String> {
        Ok(match self.run_command(words)? {
            Value::Okay | Value::Nil => String::new(),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => text,
            other => String::from_utf8_lossy(&bytes(other)?).into_owned(),
        })
    }

    /// Visits the keys that match a pattern; one may be shown twice.
    pub(super) fn each_key(
        &mut self,
        pattern: &[u8],
        mut visit: impl FnMut(&mut Self, Vec<Vec<u8>>) -> Answer<()>,
    ) -> Answer<()> {
        let mut cursor = b"0".to_vec();
        loop {
            let answer =
                self.run_command(&[b"SCAN", &cursor, b"MATCH", pattern, b"COUNT", b"1000"])?;
            let Value::Array(mut parts) = answer else { return Err(unexpected(&answer)) };
            let (Some(Value::Array(keys)), Some(next)) = (parts.pop(), parts.pop()) else {
                return Err(unexpected(&Value::Nil));
            };
            cursor = bytes(next)?;
            visit(self, keys.into_iter().map(bytes).collect::<Answer<_>>()?)?;
            if cursor == b"0" {
                return Ok(());
            }
        }
    }

    /// Rewrites the log from what is in memory, and waits until that is done.
    pub(super) fn rewrite(&mut self, ask: &[&[u8]]) -> Answer<()> {
        let over = ["aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0"];
        self.in_background(ask, &over, "aof_last_bgrewrite_status:ok", "rewrite its log")
    }

    /// Saves what is in memory into a file, and waits until that is done.
    pub(super) fn save(&mut self) -> Answer<()> {
        let over = ["rdb_bgsave_in_progress:0"];
        self.in_background(&[b"BGSAVE"], &over, "rdb_last_bgsave_status:ok", "save its data")
    }

    /// Runs a command whose work a child of the server does, and waits until the server reports all
    /// lines of `over`. It succeeded if the server then reports the line `succeeded`.
    fn in_background(
        &mut self,
        ask: &[&[u8]],
        over: &[&str],
        succeeded: &str,
        what: &str,
    ) -> Answer<()> {
        self.run_command(ask)?;
        loop {
            let info = self.text(&[b"INFO", b"persistence"])?;
            let is = |line: &&str| info.lines().any(|other| other == *line);
            if over.iter().all(is) {
                let failed = || Error::failed(format!("the server could not {what}"));
                return if is(&succeeded) { Ok(()) } else { Err(other_failure(failed())) };
            }
            sleep(PAUSE);
        }
    }
}

/// Returns the value, or the server's error.
fn check_answer(value: Value) -> Answer<Value> {
    match value {
        Value::ServerError(error) => Err(RedisError::from(error).into()),
        value => Ok(value),
    }
}

pub(super) fn bytes(value: Value) -> Answer<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Ok(bytes),
        Value::SimpleString(text) => Ok(text.into_bytes()),
        other => Err(unexpected(&other)),
    }
}

#[cold]
pub(super) fn unexpected(value: &Value) -> Failure {
    let shown: String = format!("{value:?}").chars().take(100).collect();
    other_failure(Error::failed(format!("the server answered {shown}")))
}

pub(super) fn other_failure(error: Error) -> Failure {
    Failure { error, why: Why::Other }
}

impl From<RedisError> for Failure {
    #[cold]
    fn from(error: RedisError) -> Self {
        let text = error.to_string().replace(['\n', '\r'], " ");
        if let Some(error) = certificate_error(&text) {
            return other_failure(error);
        }
        if error.is_io_error() || error.is_connection_dropped() {
            let why = match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
                _ if error.is_connection_refusal() || text.contains("lookup address") => {
                    Why::Absent
                }
                // The driver's own limit while it connects.
                Some(cause) if cause.kind() == io::ErrorKind::WouldBlock => Why::Silent,
                Some(cause) => Why::of_io(cause.kind()),
                None => Why::Odd,
            };
            return Self { error: Error::failed(text), why };
        }
        if error.kind() == ErrorKind::Parse {
            return Self { error: Error::failed(text), why: Why::Odd };
        }
        let code = error.code().unwrap_or_default();
        if error.kind() == ErrorKind::AuthenticationFailed || matches!(code, "NOAUTH" | "WRONGPASS")
        {
            let hint = "the password is in the address (%40 for an @ in it) or in REDISCLI_AUTH";
            return other_failure(Error::usage(format!("{text}; {hint}")));
        }
        other_failure(if code == "NOPERM" { Error::usage(text) } else { Error::failed(text) })
    }
}
