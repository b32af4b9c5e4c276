/* Tokyo Cabinet's B+ tree behind storemark_store.h (Debian: libtokyocabinet-dev).
 *     storemark conformance --header > storemark_store.h
 *     cc -O2 -fPIC -shared -pthread -o tokyocabinet.so tokyocabinet.c -ltokyocabinet */
#include "storemark_store.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tcbdb.h>

/* What other threads write becomes part of an open transaction, and they read what it may undo: here they wait. */
struct storemark_store { TCBDB *db; pthread_rwlock_t lock; };
struct storemark_session { TCBDB *db; pthread_rwlock_t *lock; int in_batch, mode; };

static _Thread_local const char *words = "";
static const char *last_error(void) { return words; }

static int result(TCBDB *db, bool succeeded) {
    if (succeeded) return STOREMARK_OK;
    int error = tcbdbecode(db); /* of this thread */
    if (error == TCENOREC || error == TCEKEEP) return STOREMARK_NO;
    words = tcbdberrmsg(error);
    if (error == TCELOCK || error == TCETHREAD) return STOREMARK_BUSY; /* it is open in another process, or here */
    return error == TCEMETA || error == TCERHEAD || error == TCEMISC ? STOREMARK_CORRUPT : STOREMARK_FAILED;
}

static int close_store(storemark_store *store) {
    int done = result(store->db, tcbdbclose(store->db));
    tcbdbdel(store->db);
    pthread_rwlock_destroy(&store->lock);
    return tcfree(store), done;
}

static int open_store(const char *path, int access, const storemark_pair *settings, size_t count,
                      storemark_store **store) {
    static const int modes[] = { BDBOREADER, BDBOWRITER, BDBOWRITER | BDBOCREAT }; /* by access */
    int mode = modes[access] | BDBOLCKNB, members = 0;
    TCBDB *db = tcbdbnew();
    tcbdbsetmutex(db); /* several threads use it */
    for (size_t i = 0; i < count; i++) {
        const char *name = settings[i].name, *value = settings[i].value;
        if (strcmp(name, "sync") == 0 && strcmp(value, "on") == 0) mode |= BDBOTSYNC;
        if (strcmp(name, "cache_leaves") == 0) tcbdbsetcache(db, atoi(value), 0);
        if (strcmp(name, "leaf_members") == 0) members = atoi(value);
    }
    tcbdbtune(db, members, 0, 0, -1, -1, BDBTLARGE); /* without that, a file ends at 2 GiB */
    int done = result(db, tcbdbopen(db, path, mode));
    if (done != STOREMARK_OK) return tcbdbdel(db), done;
    *store = tcmalloc(sizeof **store); /* which ends this process, and no other, if there is no memory */
    **store = (storemark_store){ db, PTHREAD_RWLOCK_INITIALIZER };
    return STOREMARK_OK;
}

static const char *setting(storemark_store *store, const char *name) {
    static _Thread_local char text[16];
    int is_cache = strcmp(name, "cache_leaves") == 0, is_leaf = strcmp(name, "leaf_members") == 0;
    if (strcmp(name, "sync") == 0) return store->db->hdb->omode & HDBOTSYNC ? "on" : "off";
    snprintf(text, sizeof text, "%u", (unsigned)(is_cache ? store->db->lcnum : tcbdblmemb(store->db)));
    return is_cache || is_leaf ? text : NULL;
}

static int session(storemark_store *store, storemark_session **session) {
    *session = tcmalloc(sizeof **session);
    **session = (storemark_session){ store->db, &store->lock, 0, STOREMARK_READ };
    return STOREMARK_OK;
}
static void end(storemark_session *session) { tcfree(session); }

static int begin(storemark_session *s, int mode) {
    (mode == STOREMARK_READ ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(s->lock);
    s->mode = mode;
    s->in_batch = mode == STOREMARK_READ || tcbdbtranbegin(s->db);
    if (!s->in_batch) pthread_rwlock_unlock(s->lock);
    return result(s->db, s->in_batch);
}

static int finish(storemark_session *s, bool commits) {
    bool done = s->mode == STOREMARK_READ || (commits ? tcbdbtrancommit : tcbdbtranabort)(s->db);
    s->in_batch = 0;
    pthread_rwlock_unlock(s->lock);
    return result(s->db, done);
}
static int commit(storemark_session *s) { return finish(s, true); }
static void roll_back(storemark_session *s) { finish(s, false); }

static int get(storemark_session *s, const void *key, size_t key_length, void *into, size_t room, size_t *length) {
    int size, is_alone = !s->in_batch && begin(s, STOREMARK_READ) == STOREMARK_OK;
    void *value = tcbdbget(s->db, key, (int)key_length, &size);
    int done = result(s->db, value != NULL);
    if (value) *length = (size_t)size;
    if (value && *length <= room) memcpy(into, value, *length);
    if (is_alone) commit(s);
    return tcfree(value), done;
}

enum { REMOVE = 3 }; /* besides STOREMARK_UPSERT, INSERT and UPDATE */
static int put(storemark_session *s, const void *key, size_t key_length, const void *value, size_t length, int how) {
    int size = (int)key_length, is_alone = !s->in_batch, begun = is_alone ? begin(s, STOREMARK_WRITE) : STOREMARK_OK;
    if (begun != STOREMARK_OK) return begun;
    bool done = how != STOREMARK_UPDATE || tcbdbvsiz(s->db, key, size) >= 0;
    if (how == REMOVE) done = tcbdbout(s->db, key, size);
    else if (done) done = (how == STOREMARK_INSERT ? tcbdbputkeep : tcbdbput)(s->db, key, size, value, (int)length);
    int put = result(s->db, done), ended = is_alone ? finish(s, put >= 0) : STOREMARK_OK;
    return ended == STOREMARK_OK ? put : ended;
}

static int remove_key(storemark_session *s, const void *key, size_t key_length) {
    return put(s, key, key_length, "", 0, REMOVE);
}

static int scan(storemark_session *s, const void *from, size_t from_length, int values, storemark_visit *visit,
                void *visitor) {
    int stops = 0, is_alone = !s->in_batch && begin(s, STOREMARK_READ) == STOREMARK_OK;
    TCXSTR *key = tcxstrnew(), *value = tcxstrnew();
    BDBCUR *at = tcbdbcurnew(s->db);
    bool found = from ? tcbdbcurjump(at, from, (int)from_length) : tcbdbcurfirst(at);
    while (found && !stops && (found = tcbdbcurrec(at, key, value))) {
        stops = visit(visitor, tcxstrptr(key), (size_t)tcxstrsize(key), tcxstrptr(value), (size_t)tcxstrsize(value));
        found = stops || tcbdbcurnext(at);
    }
    int done = result(s->db, found);
    tcbdbcurdel(at);
    tcxstrdel(key), tcxstrdel(value);
    if (is_alone) commit(s);
    return (void)values, done == STOREMARK_NO ? STOREMARK_OK : done; /* lengths cost as much as values */
}

const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_setting settings[] = {
        { "sync", "off|on", "whether each transaction is flushed" },
        { "cache_leaves", "64..1000000", "leaves of the tree that stay in memory" },
        { "leaf_members", "4..4096", "values in a leaf, if they fit into 16 KiB" },
        { 0 },
    };
    static const storemark_durability classes[] = {
        { STOREMARK_NONE, "sync=off", "pwrite(2) and a memory map, no flush: a power cut can damage the whole store" },
        /* Not durable: that a commit empties the log, which would undo it, is only flushed by the next transaction. */
        { STOREMARK_CONSISTENT, "sync=on", "fsync(2) of a log of old bytes, msync(2) and fsync(2) of the file" },
        { 0 },
    };
    static storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .name = "tokyocabinet",
        .can = STOREMARK_WRITERS | STOREMARK_BATCHES | STOREMARK_SNAPSHOTS, .settings = settings,
        .durability = classes, .open = open_store, .close = close_store, .setting = setting, .session = session,
        .end = end, .begin = begin, .commit = commit, .roll_back = roll_back, .get = get, .put = put,
        .remove = remove_key, .scan = scan, .last_error = last_error,
    };
    plugin.library_version = tcversion;
    return &plugin;
}
