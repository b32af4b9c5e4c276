/* A whole store behind storemark_store.h, to copy for one of your own: put your library in the place of the toy.
 * What a hook has to do is in storemark_store.h; when it is called, and what most get wrong, is said here.
 *     cc -O2 -fPIC -shared -pthread -o libskeleton.so skeleton.c
 *     storemark conformance plugin:./libskeleton.so */
#define _POSIX_C_SOURCE 200809L
#include "storemark_store.h"
#include "toy.h"
#include <pthread.h>

/* What all sessions share. The toy bears one thread at a time: a batch holds the lock. */
struct storemark_store { toy toy; pthread_mutex_t lock; };
/* What one thread uses: a connection, a transaction, prepared statements. */
struct storemark_session { storemark_store *store; int in_batch; };

/* The words for the last failure, of each thread its own. They go into the line that ends the target. */
static _Thread_local const char *words = "";

static const char *last_error(void) { return words; }

/* Returns what a hook returns for an error of the library. */
static int result(int error) {
    if (error == 0) return STOREMARK_OK;
    words = error == TOY_NO_STORE ? "is no store of the toy" : strerror(error);
    return error == TOY_NO_STORE ? STOREMARK_CORRUPT : STOREMARK_FAILED;
}

/* Called for each trial, check and copy, off the clock. storemark has seen to it that nothing is at the path of
 * a new store, and something at that of another one; and that each setting has an accepted value. */
static int open_store(const char *path, int access, const storemark_pair *settings, size_t count,
                      storemark_store **store) {
    static const int flags[] = { O_RDONLY, O_RDWR, O_RDWR | O_CREAT | O_EXCL }; /* by access */
    storemark_store *new = toy_memory(calloc(1, sizeof *new));
    int error = toy_open(&new->toy, path, flags[access]);
    if (error != 0) return free(new), result(error);
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].name, "sync") == 0) new->toy.flushes = strcmp(settings[i].value, "full") == 0;
    pthread_mutex_init(&new->lock, NULL);
    *store = new;
    return STOREMARK_OK;
}

/* Called off the clock: the last moment for an error. */
static int close_store(storemark_store *store) {
    int error = toy_close(&store->toy);
    pthread_mutex_destroy(&store->lock);
    return free(store), result(error);
}

/* Called after opening. Ask the library; what was asked for is no answer. */
static const char *setting(storemark_store *store, const char *name) {
    return strcmp(name, "sync") != 0 ? NULL : store->toy.flushes ? "full" : "off";
}

/* Called in each thread that works, before the clock starts: the place for what takes long. */
static int session(storemark_store *store, storemark_session **session) {
    *session = toy_memory(calloc(1, sizeof **session));
    (*session)->store = store;
    return STOREMARK_OK;
}

static void end(storemark_session *session) { free(session); }

/* From here on all is on the clock: no hook allocates, formats or locks what the library does not.
 * The mode says what will be done (STOREMARK_READ or STOREMARK_WRITE); here readers wait as well. */
static int begin(storemark_session *session, int mode) {
    (void)mode;
    pthread_mutex_lock(&session->store->lock);
    session->in_batch = 1;
    return STOREMARK_OK;
}

/* When it returns, the durability class holds. */
static int commit(storemark_session *session) {
    int error = toy_commit(&session->store->toy);
    session->in_batch = 0;
    pthread_mutex_unlock(&session->store->lock);
    return result(error);
}

/* Called if an operation of the batch failed, or its session ends. */
static void roll_back(storemark_session *session) {
    toy_roll_back(&session->store->toy);
    session->in_batch = 0;
    pthread_mutex_unlock(&session->store->lock);
}

/* Begins a batch of one operation, unless one is open. */
static int alone(storemark_session *session) {
    return !session->in_batch && begin(session, STOREMARK_WRITE) == STOREMARK_OK;
}

/* A value that is longer than the room is not copied; its length tells how much room it needs. */
static int get(storemark_session *session, const void *key, size_t key_length, void *into, size_t room,
               size_t *length) {
    int found, is_alone = alone(session);
    const toy *toy = &session->store->toy;
    size_t at = toy_find(toy, key, key_length, &found);
    const toy_item *item = found ? toy->items[at] : NULL;
    if (item) *length = item->value;
    if (item && item->value <= room) memcpy(into, item->bytes + item->key, item->value);
    return is_alone && commit(session) != STOREMARK_OK ? STOREMARK_FAILED : item ? STOREMARK_OK : STOREMARK_NO;
}

enum { REMOVE = 3 }; /* besides STOREMARK_UPSERT, INSERT and UPDATE */
/* A value may be empty. Whether the key may, must not or must exist is looked at within the batch. */
static int put(storemark_session *session, const void *key, size_t key_length, const void *value,
               size_t value_length, int how) {
    int found, is_alone = alone(session), removes = how == REMOVE, done = STOREMARK_NO;
    toy *toy = &session->store->toy;
    toy_find(toy, key, key_length, &found);
    if (how == STOREMARK_UPSERT || found == (how != STOREMARK_INSERT))
        done = result(toy_change(toy, key, key_length, value, value_length, removes));
    return is_alone && commit(session) != STOREMARK_OK ? STOREMARK_FAILED : done;
}

static int remove_key(storemark_session *session, const void *key, size_t key_length) {
    return put(session, key, key_length, "", 0, REMOVE);
}

/* Called to list and copy a store, and for scans. A store without order sorts its keys here. */
static int scan(storemark_session *session, const void *from, size_t from_length, int values,
                storemark_visit *visit, void *visitor) {
    int found = 0, is_alone = alone(session);
    const toy *toy = &session->store->toy;
    (void)values; /* lengths cost as much as values */
    for (size_t at = from ? toy_find(toy, from, from_length, &found) : 0; at < toy->count; at++) {
        const toy_item *item = toy->items[at];
        if (visit(visitor, item->bytes, item->key, item->bytes + item->key, item->value) != 0) break;
    }
    return is_alone ? commit(session) : STOREMARK_OK;
}

const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_setting settings[] = { { "sync", "full|off", "whether each commit is flushed" }, { 0 } };
    static const storemark_durability classes[] = {
        { STOREMARK_NONE, "sync=off", "pwrite(2) of each change, no flush: a power cut loses what is not written yet" },
        { STOREMARK_DURABLE, "sync=full", "pwrite(2) of each change, fdatasync(2) of the file at each commit" },
        { 0 },
    };
    static const storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .name = "toy", .library_version = "1",
        .can = STOREMARK_WRITERS | STOREMARK_SNAPSHOTS | STOREMARK_RESIDENT | STOREMARK_UNCHANGED,
        .settings = settings, .durability = classes, .open = open_store, .close = close_store,
        .setting = setting, .session = session, .end = end, .begin = begin, .commit = commit,
        .roll_back = roll_back, .get = get, .put = put, .remove = remove_key, .scan = scan,
        .last_error = last_error, /* integrity, sync, check and stat are NULL: it has none */
    };
    return &plugin;
}
