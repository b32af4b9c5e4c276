//! Doubts that the machine raises.

use model::{Environment, Finding, FindingKind, Plan};

pub(super) fn machine(environment: &Environment, plan: &Plan) -> Vec<Finding> {
    let debug = environment.debug_build.then_some(FindingKind::DebugBuild);
    let doubts = debug.into_iter().chain(governor(environment)).chain(host(environment, plan));
    doubts.map(Finding::run).collect()
}

/// Any governor but `performance` follows the load, and lags behind it. What a virtual machine
/// shows is not what its host does.
pub fn governor(environment: &Environment) -> Option<FindingKind> {
    let governor = environment.cpu.governor.as_ref().filter(|governor| *governor != "performance");
    let real = virtual_machine(environment).is_none();
    governor.filter(|_| real).map(|governor| FindingKind::Governor { governor: governor.clone() })
}

/// Evicting here empties no cache of the host.
fn host(environment: &Environment, plan: &Plan) -> Option<FindingKind> {
    let machine = virtual_machine(environment)?.to_owned();
    let cold = plan.caches.iter().any(|cache| cache.is_cold());
    cold.then_some(FindingKind::HostMayCache { machine })
}

/// The kind of virtual machine. A container shares its host's kernel and page cache: what is cold
/// there is cold here. It stands last in what the host module tells.
pub fn virtual_machine(environment: &Environment) -> Option<&str> {
    let kinds = environment.virtualised.as_deref()?;
    match kinds.strip_suffix(" container") {
        None => Some(kinds),
        Some(kinds) => kinds.rsplit_once(", ").map(|(machine, _)| machine),
    }
}
