//! The sentences of pages, each whole, with a slot for each name and figure. A list in
//! a slot is separated by commas, or by semicolons if its items contain commas.

use std::fmt::Display;

/// Declares a function for each sentence, which fills its slots.
macro_rules! sentences {
    ($($name:ident($($slot:ident),*): $text:literal;)*) => {
        $(pub(crate) fn $name($($slot: impl Display),*) -> String {
            format!($text)
        })*
    };
}

// The store to take, or why none can be named.
sentences! {
    take(store, baseline, gains): "Take {store}. Against {baseline}: {gains}.";
    take_cheapest(store): "Take {store}: it costs least of what was measured.";
    keep(store): "Keep {store}: nothing that was measured is more than 3 % faster.";
    gain(work, verdict): "{work} {verdict}";
    gain_in_all(ratio, interval): "{ratio} ({interval})";
    gain_of_space(ratio): "space {ratio}×";
    too_few_rounds(rounds, least): "No answer yet: {rounds} of the {least} rounds that it needs ran.";
    too_few_rounds_in(rounds, least, time): "No answer yet: {rounds} of the {least} rounds that it needs fit into {time}.";
    large_value_unread(): "No answer yet: not all keys were read, and the largest value, which decides the average, may be among the rest; more --time reads it.";
    none_to_compare(time): "No answer yet: fewer than two candidates have two rounds of all their work after {time}.";
    without_rival(store): "No answer yet: nothing was measured that {store} can be compared with.";
    no_difference(): "No answer yet: no difference is shown.";
    fastest(store): "Fastest so far: {store}.";
    fastest_by(store, ratio, than, interval): "Fastest so far: {store}, {ratio} than {than} ({interval}).";
    now_failed(why): "What is there now could not be measured: {why}.";
    weighed(reads, updates): "Weighed by {reads} reads and {updates} updates; storemark advise --reads N weighs others.";
    only_limits(): "All targets are limits of this machine: there is no store to choose.";
}

// What the store gives up, and what is faster or comes next.
sentences! {
    gives_up(list): "It gives up: {list}.";
    faster_still(store, by, interval, list): "{store} is {by} faster still ({interval}), if you can give up: {list}.";
    faster_with_settings(store, ratio, than, interval): "Faster with other settings: {store}; {ratio} than {than} ({interval}).";
    in_exchange(list): "In exchange: {list}.";
    next(store, cost, when): "Next: {store}, {cost} of the cost; {when}.";
    next_level(store, cost, when): "Next: {store}, {cost} of the cost, a difference that is not shown; {when}.";
    sharing_of(store): "What each setting of {store} does to readers and writers at the same time:";
    sharing(better, worse, reads, updates): "{better} instead of {worse}: {reads}; {updates}.";
    sharing_for(better, worse, reads, updates, trades): "{better} instead of {worse}: {reads}; {updates}. In exchange: {trades}.";
    sharing_time(operation, from, to): "{operation} takes {to} instead of {from}";
    sharing_time_and_slowdown(operation, from, to, slow_from, slow_to): "{operation} takes {to} instead of {from}, {slow_to} its time alone instead of {slow_from}";
    sharing_refused(time, from, to): "{time}, {to} refused instead of {from}";
    sharing_same(list): "No difference is shown by: {list}.";
    wins_below(share): "it would win below {share} reads";
    wins_above(share): "it would win above {share} reads";
    wins_if(list): "it would win if this matters: the first takes {list}";
    wins_never(): "nothing that was measured speaks for it";
    takes_no_more(): "nothing of what the table shows";
    update_time(by): "{by}× the time of an update";
    read_time(by): "{by}× the time of a read";
    cold_read_time(by): "{by}× the time of a cold read";
    more_space(by): "{by}× the space";
    more_memory(megabytes): "{megabytes:.0} MB more memory";
}

// The line of a case.
sentences! {
    case_alone(case, store, time): "{case}: {store} {time}";
    case_ahead(case, store, time, ratio, baseline, interval): "{case}: {store} {time}, {ratio} than {baseline} ({interval})";
    case_next(case, store, time, next, ratio, interval): "{case}: {store} {time}; next: {next}, {ratio} ({interval})";
    case_open(case): "{case}: no difference shown";
    case_nearest(case, store, ratio, baseline, interval): "{case}: no difference shown; {store} {ratio} than {baseline} ({interval})";
    case_unknown(case, why): "{case}: no store can be named, {why}";
    also_same(line, stores): "{line}; the same within ±3 %: {stores}";
    also_fast(line, stores): "{line}; may be as fast: {stores}";
    more_lines(count): "more lines in the tables: {count}";
}

// The fastest store by size.
sentences! {
    by_size(case, ranges): "{case}, by size: {ranges}.";
    up_to_size(store, size, low, high): "{store} up to {size} ({low} to {high})";
    at_all_sizes(case, store, other, least, most): "{case}, by size: {store} before {other} at all sizes from {least} to {most}.";
    at_most_sizes(case, store, other, least, most): "{case}, by size: {store} before {other} at all sizes from {least} to {most}, not shown at some.";
    below(size): "below {size}";
    above(size): "above {size}";
    inline_up_to(engine, size, low, high, setting, bytes): "Threshold: {engine} reads values up to {size} ({low} to {high}) faster inline, larger ones faster from a place of their own ({setting}={bytes}).";
    inline_at_all_sizes(engine, least, most): "Threshold: {engine} reads values of all sizes from {least} to {most} faster inline.";
    inline_at_no_size(engine, least, most): "Threshold: {engine} reads values of all sizes from {least} to {most} faster from a place of their own.";
}

// How sure the answer is, and what would settle it.
sentences! {
    compared_on_all(last, all, values, bytes, rounds): "How sure: the last {last} of {all} candidates were compared on all {values} values ({bytes}) in {rounds} rounds.";
    compared_on_sample(last, all, values, of, bytes, rounds): "How sure: the last {last} of {all} candidates were compared on {values} of {of} values ({bytes}), a sample by size, in {rounds} rounds.";
    compared_by_roles(last, all, roles, values, bytes, rounds): "How sure: the last {last} of {all} candidates were compared with {roles} at the same time, on {values} values generated in the sizes of the data ({bytes}), in {rounds} rounds.";
    settle_by_rounds(option): "To settle what is inconclusive: {option}, or --time without that.";
    settle_by_all(option): "To settle what is inconclusive: {option}, which measures all values.";
    settle_by_time(option): "To settle what is inconclusive: {option} (for the whole command), or a quieter machine.";
    settle_by_place(stores): "More time does not settle {stores}: copies of a store differ as much by where their files are on the disk; --scratch DIR places them elsewhere.";
    settle_by_quiet(): "More time does not settle it in a day: it takes a quieter machine (`storemark doctor` shows what disturbs).";
    try_time(time): "Try --time {time}.";
    not_measured(list): "Not measured yet: {list}.";
    not_covered(list): "Not covered: {list}.";
    left_out(list): "Left out: {list}.";
    no_time(): "there was no time for it";
    left_out_because(stores, why): "{stores} ({why})";
}

// A comparison of two records.
sentences! {
    divided_by(control): "times are divided by those of the control, {control}, in the same rounds";
    divided_by_except(control, cases): "times are divided by those of the control, {control}, in the same rounds; not in {cases}, where it has none";
    no_control(): "times are not divided by those of a control: that takes the baseline and another target in both records";
    single_record(share): "one record a side does not show smaller changes: two records of one program, minutes apart, differ by {share} % (standard deviation), which the intervals contain; compare folders of several records a side, taken in turns";
    changed(change, ratio, least): "{change}: time new ÷ old {ratio}, sees changes from {least} % on";
    changed_unseen(change, ratio): "{change}: time new ÷ old {ratio}, sees no change";
    gated(target, figure, baseline, ratio): "{target}: {figure} ÷ that of {baseline} {ratio}";
    counted(target, counter, from, to, rounds): "{target}: {counter} per operation {from} → {to}, in each of {rounds} rounds";
    counted_waveringly(target, counter, least, most, rounds): "{target}: {counter} per operation differ from round to round, by {least} to {most} in {rounds} rounds; not compared";
    counted_once(target, counter): "{target}: {counter}: one round does not show whether the count repeats";
    not_counted(target, counter): "{target}: {counter} are not known of both";
}

// A history of records.
sentences! {
    history_step(line, change, file, ratio): "{line}: {change} since {file}, {ratio}";
    history_differs(step, differs): "{step}; the record before it differs in: {differs}";
    history_creep(line, change, first, last, each): "{line}: creeps by {each} a record, {change} from {first} to {last}";
    history_group(machine, data): "{machine}; {data}";
    history_groups(groups): "records of other machines, data and conditions are not compared: {groups} groups";
    history_few(least): "changes are shown from {least} records of one group on";
}

// What coincides with a verdict, how far a store scales, and what is not shown at once.
sentences! {
    coincides(target, verdict, list): "{target}, {verdict}: this coincides with {list}";
    time_differs(name, from, to, change): "time {name} {from} → {to} µs ({change})";
    count_differs(name, from, to, change): "{name} {from} → {to} ({change})";
    scales_to(target, clients, low, high, most): "{target}: one more client adds up to {clients} ({low} to {high}), of {most} measured";
    repeated_counters(list): "the same per blob in every round, so that --fail-on can compare it: {list}";
    hidden_findings(more, notes): "More findings: {more}; notes: {notes}";
}

// What to do next.
sentences! {
    target(target): "Target: {target}";
    durability(class, how): "Durability {class}: {how}.";
    power_cut(command): "Cut its power, by simulation: {command}";
    move_data(source, target): "Move: storemark copy {source} {target}";
    move_and_open(source, target): "Move, and open it with these settings: storemark copy {source} {target}";
    check_data(source, target): "Check: storemark verify {source} {target}";
    measure_own_files(command): "With your own files: storemark {command} --data DIR";
    advise_own_data(): "With your own data: storemark advise DIR";
    as_one_run(command): "As one run: {command}";
}

// The question that a page answers.
sentences! {
    how_fast(store, what): "How fast is {store} for {what}?";
    which_is_fastest(what): "Which store is fastest for {what}?";
    which_is_fastest_by_size(what): "Which store is fastest for {what}, at which size?";
}

/// Lists items in a slot; `None` if there are none.
pub(crate) fn list(items: &[impl AsRef<str>]) -> Option<String> {
    let items: Vec<_> = items.iter().map(AsRef::as_ref).collect();
    let separator = if items.iter().any(|item| item.contains(',')) { "; " } else { ", " };
    (!items.is_empty()).then(|| items.join(separator))
}
