//! Finds out whether the kernel moves unused pages out of memory: DAMON, set up through sysfs or as
//! `damon_reclaim` (Linux, Documentation/admin-guide/mm/damon). Page caches lose pages to it while
//! there is memory to spare.

use std::{path::Path, time::Duration};

use crate::text::{entries, read_line, read_number};

/// Returns how long a page must be unused until it is moved out; `None` if it stays, or only root
/// may know.
pub(crate) fn pages_out_after() -> Option<Duration> {
    let (module, admin) = ("/sys/module/damon_reclaim/parameters", "/sys/kernel/mm/damon/admin");
    by_module(Path::new(module)).into_iter().chain(by_schemes(Path::new(admin))).min()
}

fn by_module(parameters: &Path) -> Option<Duration> {
    let on = read_line(parameters.join("enabled")).is_some_and(|enabled| enabled == "Y");
    let age = || read_number(parameters.join("min_age")).map(Duration::from_micros);
    on.then(age).flatten()
}

fn by_schemes(admin: &Path) -> Option<Duration> {
    let threads = entries(&admin.join("kdamonds")).map(|entry| entry.path());
    let running =
        threads.filter(|thread| read_line(thread.join("state")).is_some_and(|state| state == "on"));
    let contexts = running.flat_map(|thread| entries(&thread.join("contexts")));
    contexts.filter_map(|context| of_context(&context.path())).min()
}

/// Returns the shortest age of a context's schemes. Ages are counted in intervals of aggregation.
fn of_context(context: &Path) -> Option<Duration> {
    let interval = read_number(context.join("monitoring_attrs/intervals/aggr_us"))?;
    let age = |scheme: &Path| {
        let out = read_line(scheme.join("action"))? == "pageout";
        let intervals = read_number(scheme.join("access_pattern/age/min"))?;
        out.then_some(Duration::from_micros(interval.saturating_mul(intervals)))
    };
    entries(&context.join("schemes")).filter_map(|scheme| age(&scheme.path())).min()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("it is below the root")).expect("a folder");
            fs::write(path, format!("{content}\n")).expect("a file");
        }
        root
    }

    #[test]
    fn a_scheme_that_pages_out_is_found() {
        let found = |state, action| {
            let root = tree(&[
                ("kdamonds/nr_kdamonds", "1"),
                ("kdamonds/0/state", state),
                ("kdamonds/0/contexts/0/monitoring_attrs/intervals/aggr_us", "5000000"),
                ("kdamonds/0/contexts/0/schemes/0/action", action),
                ("kdamonds/0/contexts/0/schemes/0/access_pattern/age/min", "12"),
            ]);
            by_schemes(root.path())
        };
        assert_eq!(found("on", "pageout"), Some(Duration::from_secs(60)));
        assert_eq!(found("off", "pageout"), None);
        assert_eq!(found("on", "lru_prio"), None);
        assert_eq!(by_schemes(Path::new("/nowhere")), None);
    }

    #[test]
    fn a_module_that_reclaims_is_found() {
        let found = |on| by_module(tree(&[("enabled", on), ("min_age", "120000000")]).path());
        assert_eq!(found("Y"), Some(Duration::from_secs(120)));
        assert_eq!(found("N"), None);
    }
}
