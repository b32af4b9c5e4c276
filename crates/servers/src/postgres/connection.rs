//! Connections to a server, by the crate `postgres`.

use std::{
    error::Error as _,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

use model::{ErrorKind, Facet, KeyKind, Visit};
use postgres::{
    Config, Error, NoTls, SimpleQueryMessage, Statement,
    error::{DbError, Severity, SqlState},
    fallible_iterator::FallibleIterator,
    types::{FromSql, IsNull, Kind, ToSql, Type, private::BytesMut, to_sql_checked},
};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::server::{
    Answer, Connect, Driver, EachRow, Failure, ResultRow, ServerFolder, SqlConnection, SqlValue,
    Tls, Why, certificate_error, certificates, visit_rows,
};

pub(crate) struct PostgresClient {
    pub(super) driver: Driver<postgres::Client>,
    user: String,
    /// The id of the server's process for the connection.
    backend: i64,
    /// The server's log, from where its waits were last counted.
    log: Option<File>,
}

/// Returns a function that connects with `config`; each session runs `first`.
pub(super) fn connect_with(
    config: Config,
    tls: Option<Tls>,
    first: String,
) -> Connect<PostgresClient> {
    Arc::new(move || {
        let tls = tls.as_ref().map(checked_connector).transpose()?;
        let driver = Driver::connect(|| {
            let mut driver = match tls {
                None => config.connect(NoTls)?,
                Some(tls) => config.connect(tls)?,
            };
            driver.batch_execute(&first).map(|()| driver)
        })?;
        Ok(client(driver, &config))
    })
}

/// Returns a function that connects by the socket in a folder of the server's `folder`.
pub(super) fn in_folder(
    config: Config,
    folder: ServerFolder,
    socket: &'static str,
) -> Connect<PostgresClient> {
    Arc::new(move || {
        let reach = folder.reach().map_err(|error| Failure { error, why: Why::Absent })?;
        let mut config = config.clone();
        config.host_path(reach.path().join(socket));
        let driver = Driver::connect(|| config.connect(NoTls))?;
        Ok(client(driver, &config))
    })
}

fn client(driver: Driver<postgres::Client>, config: &Config) -> PostgresClient {
    let user = config.get_user().unwrap_or("the user").to_owned();
    PostgresClient { driver, user, backend: 0, log: None }
}

/// Returns a connector that encrypts a connection and checks the server's certificate.
fn checked_connector(tls: &Tls) -> Answer<MakeRustlsConnect> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let failed = |error| Failure { error, why: Why::Other };
    if let Some(file) = &tls.authorities {
        for certificate in certificates(file).map_err(failed)? {
            let added = roots.add(certificate).map_err(|e| model::Error::usage(e.to_string()));
            added.map_err(|error| failed(error.at(file.display())))?;
        }
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        // The error itself has no details.
        let what = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let mut text = what.replace('\n', " | ");
        let state = error.code();
        let no_password = state.is_none() && text.contains("password");
        if no_password || state == Some(&SqlState::INVALID_PASSWORD) {
            text += "; the password is in the address (%40 for an @ in it) or in PGPASSWORD";
        }
        if let Some(error) = certificate_error(&text).filter(|_| state.is_none()) {
            return Self { error, why: Why::Other };
        }
        if text.contains("no encryption") {
            text += "; ?tls=on or ?tls=FILE encrypts";
        }
        let level = error.as_db_error().and_then(DbError::parsed_severity);
        let why = match state {
            Some(&SqlState::CANNOT_CONNECT_NOW) => Why::Absent,
            None => error.source().map_or(Why::Odd, why_not),
            _ if matches!(level, Some(Severity::Fatal | Severity::Panic)) => Why::Lost,
            Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE) => {
                Why::Undone
            }
            _ => Why::Other,
        };
        let taken = state == Some(&SqlState::DUPLICATE_TABLE);
        let kind = if taken { ErrorKind::Exists } else { ErrorKind::Failed };
        Self { error: model::Error::new(kind, text), why }
    }
}

/// Returns the reason for an error that the server has not sent.
fn why_not(cause: &(dyn std::error::Error + 'static)) -> Why {
    let text = cause.to_string();
    match cause.downcast_ref::<io::Error>() {
        _ if text.contains("lookup address") => Why::Absent,
        Some(cause) => Why::of_io(cause.kind()),
        None => Why::Odd,
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT4, Type::INT8].contains(ty) || Raw::accepts(ty)
    }

    to_sql_checked!();
}

/// The bytes of a value: bytes, or a text.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(ty: &Type) -> bool {
        const TEXTS: [Type; 5] = [Type::TEXT, Type::VARCHAR, Type::BPCHAR, Type::JSON, Type::XML];
        match ty.kind() {
            Kind::Domain(of) => Self::accepts(of),
            _ => *ty == Type::BYTEA || TEXTS.contains(ty) || ty.name() == "citext",
        }
    }
}

impl ResultRow for postgres::Row {
    fn int(&self, column: usize) -> Option<i64> {
        self.try_get(column).or_else(|_| self.try_get::<_, i32>(column).map(i64::from)).ok()
    }

    fn bytes(&self, column: usize) -> Option<&[u8]> {
        self.try_get(column).map(|Raw(bytes)| bytes).ok()
    }

    fn text(&self, column: usize) -> Option<&str> {
        self.try_get(column).ok()
    }
}

impl SqlConnection for PostgresClient {
    type Row = postgres::Row;
    type Statement = Statement;

    fn run(&mut self, sql: &str) -> Answer<u64> {
        let user = &self.user;
        let failed = |error: Error| {
            let denied = error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
            let mut failure = Failure::from(error);
            if denied {
                let grant = format!("GRANT CREATE ON SCHEMA public TO {user}");
                let what = format!("{}; {grant} lets it make its table", failure.error);
                failure.error = model::Error::failed(what);
            }
            failure
        };
        let messages = self.driver.during(|client| client.simple_query(sql).map_err(failed))?;
        let changed = messages.iter().map(|message| match message {
            SimpleQueryMessage::CommandComplete(rows) => *rows,
            _ => 0,
        });
        Ok(changed.sum())
    }

    fn rows(&mut self, sql: &str) -> Answer<Vec<postgres::Row>> {
        self.driver.during(|client| client.query(sql, &[]))
    }

    fn prepare(&mut self, sql: &str) -> Answer<Statement> {
        self.driver.during(|client| client.prepare(sql))
    }

    fn keys(query: &Statement) -> Option<KeyKind> {
        let types: Vec<_> = query.columns().iter().map(postgres::Column::type_).collect();
        match *types {
            [&Type::INT8, &Type::BYTEA] => Some(KeyKind::Integers),
            [&Type::BYTEA, &Type::BYTEA] => Some(KeyKind::Names),
            _ => None,
        }
    }

    fn execute(&mut self, write: &Statement, values: &[SqlValue<'_>]) -> Answer<u64> {
        self.driver.during(|client| {
            let mut rows = client.query_raw(write, values)?;
            while rows.next()?.is_some() {}
            Ok::<_, Error>(rows.rows_affected().unwrap_or(0))
        })
    }

    fn visit_rows(
        &mut self,
        query: &Statement,
        values: &[SqlValue<'_>],
        visit: EachRow<'_, postgres::Row>,
    ) -> Answer<Visit> {
        self.driver.during(|client| {
            let mut rows = client.query_raw(query, values)?;
            visit_rows(|| rows.next(), visit)
        })
    }

    fn count_waits(&mut self, log: Option<&Path>, _: Facet) -> Answer<()> {
        self.backend = self.number("SELECT pg_backend_pid()")?;
        self.log = log.and_then(|path| File::open(path).ok());
        self.log = self.log.take().filter(|mut log| log.seek(SeekFrom::End(0)).is_ok());
        Ok(())
    }

    fn waits(&mut self) -> Option<i64> {
        let mut news = Vec::new();
        self.log.as_mut()?.read_to_end(&mut news).ok()?;
        let line = format!("process {} still waiting for ", self.backend);
        String::from_utf8_lossy(&news).matches(&line).count().try_into().ok()
    }
}
