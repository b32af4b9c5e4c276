//! Whether the stores of a run can be open in several processes.

use model::{Durability, Error, Result};

use crate::request::{Request, Requested};

/// Several processes can only work on what several can have open.
pub(crate) fn check(request: &Request) -> Result<()> {
    if request.processes.is_none() {
        return Ok(());
    }
    if !cfg!(unix) {
        return Err(Error::usage("--processes needs a Unix system; --threads needs none"));
    }
    let writes = request.work.iter().any(|work| work.operation.writes());
    for target in &request.targets {
        // A scratch store is opened to be written whatever is done with it.
        let writes = writes || target.location.is_none();
        if let Some(why) = alone(target, writes, request.durability)? {
            return Err(Error::usage(format!("{}: {why}", target.label)));
        }
    }
    Ok(())
}

/// Why several processes cannot have the stores of `target` open, to write them or only to read.
fn alone(target: &Requested, writes: bool, class: Option<Durability>) -> Result<Option<String>> {
    if !target.engine.capabilities().processes {
        let name = target.engine.name();
        return Ok(Some(format!(
            "a store of {name} can be open in one process only: --threads gives it several workers"
        )));
    }
    let settings = target.settings_for(class)?;
    Ok(target.engine.writes_alone(&settings).filter(|_| writes))
}
