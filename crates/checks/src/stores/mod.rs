//! What the plan, the machine and the stores make doubtful.

mod machine;
mod memory;
mod work;

use model::{
    Experiment, Finding, FindingKind, Plan, Server, Settings, StoreFacts, Work, record::Record,
};

pub use machine::of_machine;

/// Findings about the header and the stores of a record, of any experiment.
pub fn of_stores(record: &Record) -> Vec<Finding> {
    let mut findings = machine::findings(record);
    findings.extend(work::findings(record));
    if let Experiment::Blobs { .. } = record.header.plan.experiment {
        findings.extend(memory::findings(record));
    }
    findings.extend(record.stores.iter().flat_map(|facts| of_store(record, facts)));
    findings
}

fn of_store(record: &Record, facts: &StoreFacts) -> Vec<Finding> {
    let plan = &record.header.plan;
    let mut kinds = setting_not_in_effect(plan, facts);
    kinds.extend(durability_differs(record, facts));
    match plan.experiment {
        Experiment::Blobs { .. } => {
            kinds.extend(memory::differs(record, facts));
            kinds.extend(server(record, facts));
        }
        Experiment::Ageing { .. } => kinds.extend(server(record, facts)),
        // Servers and libraries are compared by intent.
        Experiment::Rows { .. } | Experiment::Tasks { .. } => {}
    }
    let label = &plan.targets[facts.target].label;
    let findings = kinds.into_iter().map(|kind| Finding::target(kind, label));
    findings.chain(work::of_store(record, facts)).collect()
}

fn setting_not_in_effect(plan: &Plan, facts: &StoreFacts) -> Vec<FindingKind> {
    let Settings(asked) = &plan.targets[facts.target].settings;
    let differs = |(name, asked): (&String, &String)| {
        let effect = facts.in_effect.get(name).unwrap_or("nothing");
        (effect != asked).then(|| FindingKind::SettingNotInEffect {
            name: name.clone(),
            asked: asked.clone(),
            effect: effect.to_owned(),
        })
    };
    asked.iter().filter_map(differs).collect()
}

/// Only what is written can be lost: the class matters if anything is.
fn durability_differs(record: &Record, facts: &StoreFacts) -> Option<FindingKind> {
    record.header.plan.first(Work::writes)?;
    let (class, baseline) = (facts.durability, baseline(record)?.durability);
    (class != baseline).then_some(FindingKind::DurabilityDiffers { class, baseline })
}

fn baseline(record: &Record) -> Option<&StoreFacts> {
    record.stores.iter().find(|facts| facts.target == record.header.plan.baseline)
}

/// A server is asked over a socket, and one that storemark did not start is not looked into.
fn server(record: &Record, facts: &StoreFacts) -> Vec<FindingKind> {
    let library = record.stores.iter().any(|facts| facts.server.is_none());
    let socket = facts.server.filter(|_| library).map(|_| FindingKind::OverSocket);
    let unseen = (facts.server == Some(Server::Existing)).then_some(FindingKind::ServerUnseen);
    socket.into_iter().chain(unseen).collect()
}
