//! Where the store of a target is.

use std::path::{Path, PathBuf};

use model::Secret;

/// Where the store of a target is, or where its stores are created.
#[derive(Clone)]
pub(crate) enum StorePlace {
    /// Nowhere yet: storemark creates it, on this machine.
    Scratch,
    /// A path of the user.
    Path(PathBuf),
    /// The folder on which an image is mounted, to be only read.
    Image(PathBuf),
    /// The server at an address (`//user:password@host/database`), in which storemark creates it.
    Server(Secret),
    /// Values of the user in the server at an address.
    UsersValues(Secret),
}

impl StorePlace {
    /// Returns the path, or the address, at which an engine opens the user's own store; `None` if storemark
    /// creates it.
    pub(crate) fn location(&self) -> Option<&Path> {
        match self {
            Self::Scratch | Self::Server(_) => None,
            Self::Path(path) | Self::Image(path) => Some(path),
            Self::UsersValues(address) => Some(Path::new(address.reveal())),
        }
    }

    /// Returns the address of the server; `None` if the store is on this machine.
    pub(crate) fn address(&self) -> Option<&Secret> {
        match self {
            Self::Server(address) | Self::UsersValues(address) => Some(address),
            Self::Scratch | Self::Path(_) | Self::Image(_) => None,
        }
    }

    /// Reports whether the store exists, as far as that is known without asking a server.
    pub(crate) fn exists(&self) -> bool {
        match self {
            Self::Scratch | Self::Server(_) => false,
            Self::Path(path) | Self::Image(path) => path.exists(),
            Self::UsersValues(_) => true,
        }
    }
}
