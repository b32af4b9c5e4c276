/* Berkeley DB (Debian's libdb5.3-dev) behind storemark_store.h: a transactional environment with one B-tree.
 *     cc -O2 -fPIC -shared -pthread -o berkeleydb.so berkeleydb.c -ldb-5.3 */
#include "storemark_store.h"
#include <db.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct storemark_store { DB_ENV *env; DB *tree; char value[32]; };
struct storemark_session { DB_ENV *env; DB *tree; DB_TXN *batch; int writes; };
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER; /* of batches that write, see `begin` */

static _Thread_local const char *words = "";
static const char *last_error(void) { return words; }
static int result(int error) {
    if (error == 0 || error == DB_NOTFOUND || error == DB_KEYEXIST) return error ? STOREMARK_NO : STOREMARK_OK;
    words = db_strerror(error);
    if (error == DB_RUNRECOVERY || error == DB_PAGE_NOTFOUND) return STOREMARK_CORRUPT;
    return error == DB_LOCK_DEADLOCK ? STOREMARK_BUSY : STOREMARK_FAILED;
}

/* Leaves nothing to recover, and no log that is not needed. */
static int close_store(storemark_store *store) {
    int error = store->tree ? store->tree->close(store->tree, 0) : 0;
    if (error == 0 && store->tree) error = store->env->txn_checkpoint(store->env, 0, 0, 0);
    int closed = store->env->close(store->env, 0);
    return free(store), result(error ? error : closed);
}

/* Each access may write, to recover what a crash left. A private environment has its cache in this process. */
static int open_store(const char *path, int access, const storemark_pair *settings, size_t count,
                      storemark_store **store) {
    unsigned long long cache = 256 << 10;
    u_int32_t parts = DB_PRIVATE | DB_THREAD | DB_INIT_TXN | DB_INIT_LOG | DB_INIT_LOCK | DB_INIT_MPOOL;
    u_int32_t flags = DB_AUTO_COMMIT | DB_THREAD, unflushed = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].name, "cache") == 0) cache = strtoull(settings[i].value, NULL, 10);
        else unflushed = strcmp(settings[i].value, "write") == 0;
    if (cache < 500 << 20) cache = (cache - 4096) / 5 * 4; /* Berkeley DB adds a quarter, and up to a page */
    if (access == STOREMARK_CREATE) mkdir(path, 0777), flags |= DB_CREATE;
    storemark_store *new = calloc(1, sizeof *new);
    db_env_create(&new->env, 0);
    int error = new->env->set_cachesize(new->env, (u_int32_t)(cache >> 30), (u_int32_t)(cache % (1 << 30)), 1);
    if (error == 0) error = new->env->set_flags(new->env, DB_TXN_WRITE_NOSYNC, (int)unflushed);
    if (error == 0) error = new->env->set_lk_detect(new->env, DB_LOCK_MINWRITE);
    if (error == 0) error = new->env->log_set_config(new->env, DB_LOG_AUTO_REMOVE, 1);
    if (error == 0) error = new->env->open(new->env, path, DB_CREATE | DB_RECOVER | parts, 0666);
    if (error == 0) error = db_create(&new->tree, new->env, 0);
    if (error == 0) error = new->tree->set_flags(new->tree, DB_CHKSUM);
    if (error == 0) error = new->tree->open(new->tree, NULL, "store.db", NULL, DB_BTREE, flags, 0666);
    return error == 0 ? (*store = new, STOREMARK_OK) : (close_store(new), result(error));
}

static const char *setting(storemark_store *store, const char *name) {
    u_int32_t gigabytes, bytes, flags;
    int caches;
    store->env->get_flags(store->env, &flags);
    if (strcmp(name, "sync") == 0) return flags & DB_TXN_WRITE_NOSYNC ? "write" : "full";
    store->env->get_cachesize(store->env, &gigabytes, &bytes, &caches);
    snprintf(store->value, sizeof store->value, "%llu", ((unsigned long long)gigabytes << 30) + bytes);
    return store->value;
}
/* Without a checkpoint now and then, the log would grow without end: one after each 64 MiB of it. */
static int sync_store(storemark_store *store) { return result(store->env->txn_checkpoint(store->env, 65536, 0, 0)); }

static void end(storemark_session *session) { free(session); }
static int session(storemark_store *store, storemark_session **session) {
    *session = calloc(1, sizeof **session);
    return **session = (storemark_session){ .env = store->env, .tree = store->tree }, STOREMARK_OK;
}

/* Locks are of pages: two batches that write would soon wait for each other, and one of them had to fail. */
static int ended(storemark_session *session, int error) {
    session->batch = NULL;
    if (session->writes) pthread_mutex_unlock(&writing);
    return result(error);
}
static int begin(storemark_session *session, int mode) {
    if ((session->writes = mode == STOREMARK_WRITE)) pthread_mutex_lock(&writing);
    int error = session->env->txn_begin(session->env, NULL, &session->batch, 0);
    return error == 0 ? STOREMARK_OK : ended(session, error);
}
static int commit(storemark_session *session) { return ended(session, session->batch->commit(session->batch, 0)); }
static void roll_back(storemark_session *session) { ended(session, session->batch->abort(session->batch)); }

static DBT item(const void *data, size_t size) { return (DBT){ .data = (void *)data, .size = (u_int32_t)size }; }
/* Outside a batch, an operation is repeated if it had to give up its locks, so that another one could go on. */
static int get(storemark_session *session, const void *key, size_t key_length, void *into, size_t room,
               size_t *length) {
    DBT of = item(key, key_length), value = { .data = into, .ulen = (u_int32_t)room, .flags = DB_DBT_USERMEM };
    int error;
    do error = session->tree->get(session->tree, session->batch, &of, &value, 0);
    while (error == DB_LOCK_DEADLOCK && !session->batch);
    return *length = value.size, error == DB_BUFFER_SMALL ? STOREMARK_OK : result(error);
}

static int put(storemark_session *session, const void *key, size_t key_length, const void *value,
               size_t value_length, int how) { /* removes the key if the value is NULL */
    DBT of = item(key, key_length), new = item(value, value_length);
    DB *tree = session->tree;
    DB_TXN *batch = session->batch;
    int error;
    do {
        error = session->batch ? 0 : session->env->txn_begin(session->env, NULL, &batch, 0);
        if (error != 0) return result(error);
        if (how == STOREMARK_UPDATE) error = tree->exists(tree, batch, &of, DB_RMW);
        if (!value) error = tree->del(tree, batch, &of, 0);
        else if (error == 0) error = tree->put(tree, batch, &of, &new, how == STOREMARK_INSERT ? DB_NOOVERWRITE : 0);
        if (!session->batch) error = error == 0 ? batch->commit(batch, 0) : (batch->abort(batch), error);
    } while (error == DB_LOCK_DEADLOCK && !session->batch);
    return result(error);
}

static int remove_key(storemark_session *session, const void *key, size_t key_length) {
    return put(session, key, key_length, NULL, 0, STOREMARK_UPSERT);
}

/* Locks one page after the other. */
static int scan(storemark_session *session, const void *from, size_t from_length, int values,
                storemark_visit *visit, void *visitor) {
    DBT key = item(from, from_length), value = { 0 };
    DBC *cursor = NULL;
    u_int32_t to = from ? DB_SET_RANGE : DB_FIRST;
    int error = session->tree->cursor(session->tree, session->batch, &cursor, DB_READ_COMMITTED);
    for (; error == 0 && (error = cursor->get(cursor, &key, &value, to)) == 0; to = DB_NEXT)
        if (visit(visitor, key.data, key.size, value.data, value.size) != 0) break;
    if (cursor) cursor->close(cursor);
    return (void)values, error == DB_NOTFOUND ? STOREMARK_OK : result(error);
}

const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_setting settings[] = {
        { "cache", "SIZE", "the memory for pages" },
        { "sync", "full|write", "whether a commit flushes the log, or only writes it" }, { 0 },
    };
    static const storemark_durability classes[] = {
        { STOREMARK_DURABLE, "sync=full", "pwrite(2) and fdatasync(2) of the log at each commit" },
        { STOREMARK_CONSISTENT, "sync=write", "pwrite(2) of the log at a commit, fdatasync(2) before pages" }, { 0 },
    };
    static const storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .name = "berkeleydb", .library_version = "5.3.28",
        .can = STOREMARK_WRITERS | STOREMARK_BATCHES, .integrity = "a checksum of each page", .settings = settings,
        .durability = classes, .open = open_store, .close = close_store, .setting = setting, .sync = sync_store,
        .session = session, .end = end, .begin = begin, .commit = commit, .roll_back = roll_back, .get = get,
        .put = put, .remove = remove_key, .scan = scan, .last_error = last_error,
    };
    return &plugin;
}
