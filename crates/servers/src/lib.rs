//! The engines that talk to a program of its own: database servers and object stores. Each has a
//! cargo feature; `engines` lists them with those that are linked in. They are for Unix systems.

#![cfg(unix)]
#![warn(missing_docs)]
// A build without one of these does not use all that servers share.
#![cfg_attr(
    not(all(feature = "mariadb", feature = "postgres", feature = "s3", feature = "valkey")),
    allow(dead_code, unused_imports)
)]

#[cfg(feature = "mariadb")]
mod mariadb;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "s3")]
mod s3;
mod server;
#[cfg(feature = "valkey")]
mod valkey;

use model::Engine;

/// Declares the two engines of each kind of server. Each line is
/// `MODULE, feature FEATURE: PRIVATE, EXISTING;`.
macro_rules! engines {
    ($($module:ident, feature $feature:literal: $private:ident, $existing:ident;)*) => {$(
        /// The engine that starts a private server for each store.
        #[cfg(feature = $feature)]
        pub static $private: &dyn Engine = &$module::$private;

        /// The engine whose stores are on an existing server.
        #[cfg(feature = $feature)]
        pub static $existing: &dyn Engine = &$module::$existing;
    )*};
}

engines! {
    mariadb, feature "mariadb": MARIADB, MYSQL;
    postgres, feature "postgres": POSTGRES, POSTGRESQL;
    s3, feature "s3": S3, BUCKET;
    valkey, feature "valkey": VALKEY, REDIS;
}

/// Ends waiting for servers soon, because the user wishes to stop.
pub fn end_waits() {
    server::stop();
}
