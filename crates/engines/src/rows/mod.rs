//! Rows in servers.

#[cfg(all(unix, feature = "mariadb"))]
mod mariadb;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
