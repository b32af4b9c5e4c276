//! What the user wants measured of rows, resolved to engines but not yet started.

use std::{ffi::OsString, path::PathBuf};

use model::{
    Batch, Durability, Facet, Owner, PlannedTarget, Result, Rounds, Rows, Settings, Work, Workload,
    rows::{Operation, Style},
};

pub(crate) use crate::experiment::request::Group;
use crate::request::check_kept;

/// A comparison as asked for.
pub struct RowsRequest {
    /// What is compared.
    pub targets: Vec<RowTarget>,
    /// Index into `targets` of the one the others are compared with.
    pub baseline: usize,
    /// Rows that each process inserts.
    pub rows: u64,
    /// Rows of a transaction, where a target has no number of its own.
    pub batch: u64,
    /// How many processes, on which databases.
    pub groups: Vec<Group>,
    /// Durability class to set every target up for.
    pub durability: Option<Durability>,
    /// When to stop.
    pub rounds: Rounds,
    /// Drives the order of trials.
    pub seed: u64,
    /// Where scratch stores go.
    pub scratch: PathBuf,
    /// The program whose process calls [`super::rows_worker`], and its arguments.
    pub worker: Vec<OsString>,
    /// What was to be measured but cannot be: a label, and why.
    pub missing: Vec<(String, String)>,
}

/// A target as asked for.
pub struct RowTarget {
    /// What stands in tables.
    pub label: String,
    /// Its engine.
    pub engine: &'static dyn Rows,
    /// A server that is there; absent: a scratch store.
    pub location: Option<PathBuf>,
    /// Settings asked for, checked; they win over those of the durability class.
    pub settings: Settings,
    /// How rows are handed over.
    pub style: Style,
    /// Rows of a transaction, where it has a number of its own.
    pub batch: Option<u64>,
}

/// Names under which a planned target tells what the engine has no setting for.
pub(super) const STYLE: &str = "style";
pub(super) const BATCH: &str = "batch";

impl Group {
    pub(super) fn databases(self) -> u32 {
        if self.own_databases { self.processes } else { 1 }
    }

    /// The database of a process.
    pub(super) fn database(self, process: u32) -> u32 {
        if self.own_databases { process } else { 0 }
    }
}

impl RowTarget {
    pub(super) fn batch(&self, request: &RowsRequest) -> u64 {
        self.batch.unwrap_or(request.batch)
    }

    /// Why it cannot work in `group`, whose processes may have to share a database.
    pub(super) fn unfit(&self, group: Group) -> Option<&'static str> {
        let apart = group.own_databases || group.processes == 1;
        self.engine.alone(&self.settings).filter(|_| !apart)
    }

    /// With the settings of the class that was asked for.
    pub(super) fn with_class(mut self, class: Option<Durability>) -> Result<Self> {
        if let Some(class) = class {
            let settings = self.engine.class_settings(Facet::Rows, class)?;
            check_kept(&self.label, class, self.engine.unsupported_reason(class, &self.settings))?;
            self.settings = settings.overlaid(&self.settings);
        }
        Ok(self)
    }

    pub(super) fn planned(&self) -> PlannedTarget {
        let mut settings = self.settings.clone();
        settings.set(STYLE, self.style);
        if let Some(batch) = self.batch {
            settings.set(BATCH, batch);
        }
        let location = self.location.as_ref().map(|path| path.display().to_string());
        PlannedTarget {
            label: self.label.clone(),
            engine: self.engine.name().to_owned(),
            owner: if location.is_some() { Owner::User } else { Owner::Scratch },
            on: None,
            location: location.unwrap_or_default(),
            settings,
        }
    }
}

impl RowsRequest {
    /// The workloads of the plan: the operations of each group, one after the other.
    pub(super) fn workloads(&self) -> Vec<Workload> {
        let of = |group: &Group| {
            let Group { processes, own_databases } = *group;
            Operation::ALL.map(|operation| Workload {
                work: Work::Rows { operation, own_databases },
                count: self.operations(operation, *group),
                batch: Batch::Of(self.batch),
                threads: 1,
                processes,
            })
        };
        self.groups.iter().flat_map(of).collect()
    }

    /// Rows that all processes of a group touch together: on one database, each sums and changes
    /// those of all.
    pub(super) fn operations(&self, operation: Operation, group: Group) -> u64 {
        let all = self.rows * u64::from(group.processes);
        let each_all = operation != Operation::Insert && !group.own_databases;
        if each_all { all * u64::from(group.processes) } else { all }
    }
}
