//! What can be doubted where a server is among the targets.

use model::{Finding, FindingKind, Server, record::Record};

/// A server is asked over a socket, and one that storemark did not start is not looked into.
pub(super) fn servers(record: &Record) -> Vec<Finding> {
    let library = record.stores.iter().any(|facts| facts.server.is_none());
    let of =
        |doubt, target: usize| Finding::target(doubt, &record.header.plan.targets[target].label);
    let mut findings = Vec::new();
    for facts in &record.stores {
        let Some(server) = facts.server else { continue };
        if library {
            findings.push(of(FindingKind::OverSocket, facts.target));
        }
        if server == Server::Existing {
            findings.push(of(FindingKind::ServerUnseen, facts.target));
        }
    }
    findings
}
