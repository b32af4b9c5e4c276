//! Targets and examples below the help of the commands that measure. A test types each line.

pub(crate) const RUN: &str = "\
Targets:
  a path                     a folder of files, an SQLite database, a pack file
  sqlite:FILE?api=blob       engine, location, settings
  sqlite:?api=blob&mmap=1GiB no location: a scratch store, filled and removed by storemark;
                             quote it in a shell
  mariadb: postgres: valkey: private servers, started and removed by storemark
  `storemark engines` lists all engines and their settings

Examples:
  storemark run                                        files against each engine on generated blobs
  storemark run test1.db test1.dir --blob-api          two stores of your own, reading
  storemark run test1.db test1.dir --update            updates, on scratch copies
  storemark run --data ~/thumbnails                    your own files, in scratch stores
  storemark run files: sqlite: --mix read=95,update=5 --distribution zipfian
  storemark run files: sqlite: lmdb: --ycsb a,b,c,d,e,f
  storemark run files: sqlite: --read --rate 1k,10k,100k
  storemark run files: sqlite: --update --durability durable --batch 100
  storemark run --size 1k,16k,256k --bytes 64MB        a sweep: where files overtake
  storemark run plan.toml --seed 7                     repeat what a plan or a record asks for

A number that may differ from run to run takes a list (--size 1k,4k --threads 1,2), and so does a
setting of a target (sqlite:?page_size=512,4096).";

pub(crate) const ROWS: &str = "\
Targets (each makes its own table in a scratch store, removed afterwards):
  csv:  jsonl:                    a file with a row a line
  sqlite:?sync=normal&null=no     store=file|memory  journal=  sync=  cache=  null=yes|no
  mariadb:?engine=innodb          engine=innodb|myisam|aria|memory|csv  sync=  cache=  null=yes|no
  postgres:?sync=off              sync=off|async|on  cache=  null=yes|no

Examples:
  storemark rows                                      the published table, as far as it goes
  storemark rows --processes 1,2,4 --shared           with a database each, and all on one
  storemark rows sqlite: csv: --style text,bulk       two of them
  storemark rows sqlite: --durability durable --batch 1 --rows 1000";

pub(crate) const QUEUE: &str = "\
Targets (each makes its own queue in a scratch store, removed afterwards):
  files:?write=rename             a file for each task  write=inplace|overwrite|rename
                                  sync=none|file|full
  sqlite:?journal=wal&sync=normal a table with an index  connection=own|shared|pool
                                  journal=  sync=  cache=

Examples:
  storemark queue                                     the published comparison, and what it left out
  storemark queue files: sqlite: --durability durable
  storemark queue --on .,/tmp                         on the file systems of two folders
  sudo storemark queue --on ext4,xfs,btrfs            on throw-away images";

pub(crate) const AGE: &str = "\
Targets (each in a scratch store, removed afterwards): files: sqlite: lmdb: redb: fjall: …

Examples:
  storemark age                                        files against SQLite, 64 MB of 256 kB each
  storemark age --size 1M --variance 500k --volume 1G --ages 0,1,2,4,8 --rounds 5
  storemark age files: sqlite: 'sqlite:?page_size=65536' --cache data-cold,warm
  storemark age 'files:?write=overwrite' files: --durability none";

pub(crate) const BACKUP: &str = "\
Stores of catalogues (each in a scratch repository, removed afterwards): sqlite: lmdb: redb: fjall:
  postgres: mariadb:

Examples:
  storemark backup                                     a generated folder, two modes of SQLite
  storemark backup ~/src sqlite: lmdb: redb:           a copy of your own folder
  storemark backup ~/src sqlite: --replay --files 1M   the operations of the catalogue alone
  storemark backup ~/src --keep /mnt/repository        the folder itself, in a repository that stays
  storemark backup list /mnt/repository
  storemark backup check /mnt/repository
  storemark backup restore /mnt/repository restored --snapshot 1

A repository is not encrypted. This is a benchmark whose data can be restored: for backups use
restic, borg, rustic or kopia.";

pub(crate) const LIFE: &str = "\
Targets (each in a scratch store, removed afterwards): files: sqlite: hybrid: lmdb: redb: fjall: …

Examples:
  storemark life                                       files against SQLite on generated values
  storemark life --data ~/thumbnails                   copies of your own files
  storemark life files: sqlite: lmdb: --durability durable --rounds 5
  sudo storemark life files: sqlite: --cache cold      opened without any cache";
