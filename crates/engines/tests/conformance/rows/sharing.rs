//! Several sessions on one database, as several processes have it: through a store that was joined.

use std::thread;

use super::case::{Case, cases};

#[test]
fn sessions_on_one_database_wait_for_each_other() {
    const EACH: i64 = 3_000;
    let shares = |case: &&Case| case.engine.alone(&case.settings).is_none();
    for case in cases().iter().filter(shares) {
        case.with(1, |store, tables| {
            let location = store.location();
            let style = case.engine.styles(&case.settings)[0];
            thread::scope(|scope| {
                for worker in 0..3 {
                    let location = &location;
                    scope.spawn(move || {
                        let joined = case.engine.join(location, &case.settings).unwrap();
                        let mut session = joined.session(0).unwrap();
                        let start = worker * EACH;
                        session.insert(start..start + EACH, style, 100).unwrap();
                        assert!(session.add(0).unwrap() >= EACH.unsigned_abs());
                    });
                }
            });
            tables.flush_writes()?;
            let mut session = tables.session(0)?;
            let rows = 3 * EACH;
            assert_eq!(session.sum()?, rows * (rows - 1), "{}", case.name());
            Ok(())
        });
    }
}
