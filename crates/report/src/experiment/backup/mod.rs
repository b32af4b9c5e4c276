//! Backups: the steps of a repository with each catalogue.

mod tables;

use checks::{Figures, backup_figures};
use model::{
    BackupData, Plan,
    record::Record,
    units::{show_count, show_size},
};

use super::{ExperimentReport, about, details, question};
use crate::{
    charts::{Make, Part, cases, study},
    table::{Block, Detail},
    words::counted,
};

impl ExperimentReport for BackupData {
    fn data(&self, _plan: &Plan) -> String {
        let what = match self.copies {
            None => "backups".to_owned(),
            Some(1) => "the catalogue's operations of backups".to_owned(),
            Some(copies) => {
                let copies = show_count(copies.into());
                format!("the catalogue's operations of backups, for {copies} copies")
            }
        };
        let (files, bytes) = (counted(self.files, "file"), show_size(self.bytes));
        match &self.folder {
            None => format!("{what} of a generated folder: {files}, {bytes}"),
            Some(folder) => format!(
                "{what} of a copy of {folder}: {files}, {bytes}; nothing is kept (--keep DIR)"
            ),
        }
    }

    fn data_for_comparison(&self) -> String {
        let copies = self.copies.map(|copies| format!(", a replay for {copies} of it"));
        let (files, bytes) = (show_count(self.files), show_size(self.bytes));
        format!("a folder of {files} files ({bytes}){}", copies.unwrap_or_default())
    }

    fn question(&self, part: &Part<'_>) -> String {
        let one = |label: &str| format!("What does a backup take with its catalogue in {label}?");
        question(part.plan(), one, "Which store is the fastest catalogue of a backup?")
    }

    fn page(&self, record: &Record, figures: &[Figures], detail: Detail) -> Vec<Block> {
        let mut blocks = vec![about(record, None)];
        let rows = backup_figures(record, figures);
        blocks.extend((!rows.is_empty()).then(|| tables::backup(record, &rows).into()));
        blocks.extend(details(record, figures, detail));
        blocks
    }

    fn charts(&self, _part: &Part<'_>) -> &'static [Make] {
        &[study::study, cases::compared]
    }
}
