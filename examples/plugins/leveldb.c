/* LevelDB behind storemark_store.h (Debian: libleveldb-dev), without batches: LevelDB's do not see their own writes.
 *     storemark conformance --header > storemark_store.h
 *     cc -O2 -fPIC -shared -pthread -o leveldb.so leveldb.c -lleveldb */
#include "storemark_store.h"
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYNC, VERIFY, CACHE, SETTINGS, LOCKS = 64, REMOVE = 3 /* besides STOREMARK_UPSERT, INSERT and UPDATE */ };
static const storemark_setting declared[] = {
    [SYNC] = { "sync", "off|on", "whether each change is flushed" },
    [VERIFY] = { "verify", "off|on", "whether checksums are verified when blocks are read" },
    [CACHE] = { "cache", "SIZE", "of uncompressed blocks" },
    [SETTINGS] = { 0 },
};

/* LevelDB needs nothing for each thread: all use one session. */
struct storemark_session {
    leveldb_t *db;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
    pthread_mutex_t locks[LOCKS];
};
struct storemark_store {
    storemark_session session;
    leveldb_cache_t *cache;
    char values[SETTINGS][24];
};

static _Thread_local char words[200];
static const char *last_error(void) { return words; }

/* LevelDB tells kinds of errors by how their text starts: what is not of the system is about what files hold. */
static int result(char *error) {
    if (!error) return STOREMARK_OK;
    snprintf(words, sizeof words, "%s", error);
    leveldb_free(error);
    if (strncmp(words, "IO error: lock", 14) == 0) return STOREMARK_BUSY;
    return strncmp(words, "IO error", 8) == 0 ? STOREMARK_FAILED : STOREMARK_CORRUPT;
}

static int close_store(storemark_store *store) {
    if (store->session.db) leveldb_close(store->session.db);
    leveldb_readoptions_destroy(store->session.read);
    leveldb_writeoptions_destroy(store->session.write);
    leveldb_cache_destroy(store->cache);
    return free(store), STOREMARK_OK;
}

static int open_store(const char *path, int access, const storemark_pair *settings, size_t count,
                      storemark_store **store) {
    char *error = NULL;
    leveldb_options_t *options = leveldb_options_create();
    storemark_store *new = malloc(sizeof *new);
    if (!new) abort(); /* this process ends, and no other */
    *new = (storemark_store){ .values = { "off", "off", "8388608" } }; /* as LevelDB has them */
    for (size_t i = 0; i < count; i++)
        for (int at = 0; at < SETTINGS; at++)
            if (strcmp(settings[i].name, declared[at].name) == 0)
                snprintf(new->values[at], sizeof new->values[at], "%s", settings[i].value);
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&new->session.locks[i], NULL);
    new->session.read = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(new->session.read, strcmp(new->values[VERIFY], "on") == 0);
    new->session.write = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(new->session.write, strcmp(new->values[SYNC], "on") == 0);
    new->cache = leveldb_cache_create_lru(strtoull(new->values[CACHE], NULL, 10));
    leveldb_options_set_cache(options, new->cache);
    leveldb_options_set_create_if_missing(options, access == STOREMARK_CREATE); /* it always opens to write */
    new->session.db = leveldb_open(options, path, &error);
    leveldb_options_destroy(options);
    if (error) return close_store(new), result(error);
    return *store = new, STOREMARK_OK;
}

/* LevelDB reports no option. It cannot change these: two go with each call, and the cache is made here. */
static const char *setting(storemark_store *store, const char *name) {
    for (int at = 0; at < SETTINGS; at++)
        if (strcmp(name, declared[at].name) == 0) return store->values[at];
    return NULL;
}

static int session(storemark_store *store, storemark_session **to) { return *to = &store->session, STOREMARK_OK; }
static void end(storemark_session *session) { (void)session; }

static int get(storemark_session *s, const void *key, size_t key_length, void *into, size_t room, size_t *length) {
    char *error = NULL, *value = leveldb_get(s->db, s->read, key, key_length, length, &error);
    if (!value) return error ? result(error) : STOREMARK_NO;
    if (*length <= room) memcpy(into, value, *length);
    return leveldb_free(value), STOREMARK_OK;
}

/* With one lock for all keys, no two threads could write at once, and LevelDB would not share a flush among them. */
static pthread_mutex_t *lock_of(storemark_session *s, const unsigned char *key, size_t length) {
    size_t hash = 0;
    while (length) hash = 31 * hash + key[--length];
    return &s->locks[hash % LOCKS];
}

/* LevelDB writes and deletes without a look at what there is: `how` costs a read. */
static int put(storemark_session *s, const void *key, size_t key_length, const void *value, size_t length, int how) {
    size_t old;
    char *error = NULL;
    pthread_mutex_t *lock = lock_of(s, key, key_length);
    pthread_mutex_lock(lock);
    int done = how == STOREMARK_UPSERT ? STOREMARK_OK : get(s, key, key_length, &old, 0, &old);
    if (how == STOREMARK_INSERT && done >= 0) done = done == STOREMARK_NO ? STOREMARK_OK : STOREMARK_NO;
    if (done == STOREMARK_OK && how == REMOVE) leveldb_delete(s->db, s->write, key, key_length, &error);
    else if (done == STOREMARK_OK) leveldb_put(s->db, s->write, key, key_length, value, length, &error);
    pthread_mutex_unlock(lock);
    return error ? result(error) : done;
}

static int remove_key(storemark_session *s, const void *key, size_t key_length) {
    return put(s, key, key_length, "", 0, REMOVE);
}

static int scan(storemark_session *s, const void *from, size_t from_length, int values, storemark_visit *visit,
                void *visitor) {
    char *error = NULL;
    leveldb_iterator_t *at = leveldb_create_iterator(s->db, s->read);
    if (from) leveldb_iter_seek(at, from, from_length);
    else leveldb_iter_seek_to_first(at);
    for (size_t key_length, length; leveldb_iter_valid(at); leveldb_iter_next(at)) {
        const char *key = leveldb_iter_key(at, &key_length), *value = leveldb_iter_value(at, &length);
        if (visit(visitor, key, key_length, value, length) != 0) break;
    }
    leveldb_iter_get_error(at, &error);
    leveldb_iter_destroy(at);
    return (void)values, result(error); /* lengths cost as much as values */
}

const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_durability classes[] = {
        { STOREMARK_CONSISTENT, "sync=off", "write(2) of changes to a log with checksums, fdatasync(2) of its table" },
        { STOREMARK_DURABLE, "sync=on", "write(2) of each change to the log, fdatasync(2) of the log at each commit" },
        { 0 },
    };
    static char version[24];
    static const storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .name = "leveldb", .library_version = version,
        .can = STOREMARK_WRITERS | STOREMARK_SNAPSHOTS, .settings = declared, .durability = classes,
        .open = open_store, .close = close_store, .setting = setting, .session = session, .end = end, .get = get,
        .put = put, .remove = remove_key, .scan = scan, .last_error = last_error,
    };
    snprintf(version, sizeof version, "%d.%d", leveldb_major_version(), leveldb_minor_version());
    return &plugin;
}
