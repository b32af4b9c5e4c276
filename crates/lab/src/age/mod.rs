//! `storemark age`: objects are replaced over and over by others of other sizes, and reads, writes
//! and fragments are measured at storage ages on the way.

mod life;
mod request;
mod rounds;
mod trial;

pub use request::AgeRequest;
pub use rounds::age;
