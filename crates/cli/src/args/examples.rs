//! Examples of the commands whose options stand in no file of their own. A test types each line.

pub(super) const ALL: &str = "\
Examples:
  storemark run                              files against SQLite on made-up blobs
  storemark run --data ~/thumbnails          the same with your own files
  storemark copy thumbs.db files:thumbs      move the data to the winner
  storemark help targets                     how stores are named";

pub(super) const REPORT: &str = "\
Examples:
  storemark report run.json                  the tables of `storemark run --json run.json`
  storemark report run.json --explain        with what goes along with the differences
  storemark report run.json --html run.html  a page with charts
  storemark report run.json --csv            every trial as a row
  storemark report - --verbose               a record from standard input, with all findings";

pub(super) const INIT: &str = "\
Examples:
  storemark init test1.db                                   1,000 blobs of 10,000 bytes
  storemark init test2.db --count 2k --size 10k --variance 2k
  storemark init test1.db --force --seed 7                  in its place, the same each time";

pub(super) const STAT: &str = "\
Examples:
  storemark stat test1.db                    number and sizes of blobs, pages, integrity
  storemark stat test1.db --vacuum           rewritten without free pages first";

pub(super) const EXPORT: &str = "\
Examples:
  storemark export test1.db test1.dir        files 000001, 000002, …
  storemark export test1.db test1.tree --tree
  storemark export test1.db test1.dir --force";

pub(super) const IMPORT: &str = "\
Examples:
  storemark import thumbnails thumbs.db      names, modes and times are kept
  storemark import thumbnails thumbs.db --force --pagesize 8192";

pub(super) const COPY: &str = "\
Examples:
  storemark copy thumbs.db files:thumbs               into a folder
  storemark copy thumbs lmdb:thumbs.lmdb              into another engine
  storemark copy thumbs sqlite:new.db?page_size=8192  with a setting that a store keeps
  storemark copy thumbs files:thumbs2 --resume        go on with what was interrupted";

pub(super) const VERIFY: &str = "\
Examples:
  storemark verify thumbs.db thumbs          exit code 3 if anything differs
  storemark verify thumbs lmdb:thumbs.lmdb";

pub(super) const ENGINES: &str = "\
Examples:
  storemark engines                          all that this build has
  storemark engines sqlite                   one, with each setting and what it accepts";

pub(super) const DOCTOR: &str = "\
Examples:
  storemark doctor                           the current folder's disk, in a minute and a little
  storemark doctor /srv --quick              another folder's, in ten seconds
  storemark doctor --strict --json           for scripts";

pub(super) const CALIBRATE: &str = "\
Examples:
  storemark calibrate                        false alarms and detections, in about five minutes
  storemark calibrate sqlite: --same 20 --slowed 0
  storemark calibrate thumbs.db --slow-down 10% --check";

pub(super) const COMPLETIONS: &str = "\
Examples:
  storemark completions bash > ~/.local/share/bash-completion/completions/storemark
  storemark completions zsh > ~/.zfunc/_storemark          with ~/.zfunc in fpath
  storemark completions fish > ~/.config/fish/completions/storemark.fish";

pub(super) const MAN: &str = "\
Examples:
  storemark man ~/.local/share/man/man1      then: man storemark-run";

pub(super) const HELP: &str = "\
Examples:
  storemark help run                         all options of a command
  storemark help targets                     how stores are named
  storemark help durability                  what the classes promise, by engine
  storemark help sizes                       how numbers and times are written";
