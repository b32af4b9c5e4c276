//! The output of `run --stats`: the engines' counters of the last trials, and the process's own
//! input and output, as kvtest shows them.

use std::{collections::BTreeMap, fmt::Write, fs};

use model::record::Record;

pub(super) fn show(record: &Record) -> String {
    let mut text = String::new();
    let mut last = BTreeMap::new();
    for sample in &record.samples {
        last.insert((sample.workload, sample.target), &sample.counters);
    }
    let plan = &record.header.plan;
    for ((workload, target), counters) in last {
        for (name, value) in counters {
            let label = &plan.targets[target].label;
            let operation = plan.workloads[workload].work;
            line(&mut text, &format!("{label}, {operation}: {name}"), &value.to_string());
        }
    }
    #[cfg(feature = "sqlite")]
    for (name, current, highest) in engines::sqlite::memory_counters() {
        line(&mut text, &format!("SQLite: {name}"), &format!("{current} (max {highest})"));
    }
    // Linux only; elsewhere there is nothing to show.
    for entry in fs::read_to_string("/proc/self/io").unwrap_or_default().lines() {
        if let Some((name, value)) = entry.split_once(": ") {
            line(&mut text, &format!("process: {name}"), value);
        }
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{name:<56} {value:>16}");
}
