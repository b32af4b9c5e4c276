//! `storemark queue`: workers see tasks through their lives, in shuffled rounds.

mod life;
mod request;
mod rounds;
mod trial;
mod workers;

pub use request::{QueueRequest, QueueTarget};
pub use rounds::queue;
