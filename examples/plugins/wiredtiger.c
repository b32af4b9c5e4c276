/* WiredTiger (Debian's libwiredtiger-dev) behind storemark_store.h: a home with one table and a write-ahead log.
 *     cc -O2 -fPIC -shared -o wiredtiger.so wiredtiger.c -lwiredtiger */
#include "storemark_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wiredtiger.h>

struct storemark_store { WT_EVENT_HANDLER handler; WT_CONNECTION *connection; WT_SESSION *session; char value[64]; };
struct storemark_session { WT_SESSION *wt; WT_CURSOR *cursor, *strict; /* which overwrites nothing */ };

static _Thread_local const char *words = "";
static const char *last_error(void) { return words; }

static int result(int error) {
    if (error == 0 || error == WT_NOTFOUND || error == WT_DUPLICATE_KEY) return error ? STOREMARK_NO : STOREMARK_OK;
    words = wiredtiger_strerror(error);
    if (error == WT_PANIC || error == WT_TRY_SALVAGE) return STOREMARK_CORRUPT;
    return error == WT_ROLLBACK ? STOREMARK_BUSY : STOREMARK_FAILED;
}

/* Keeps what `setting` looks for in a report. The handler is the first member of its store. */
static int note(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *message) {
    return (void)session, sscanf(message, "Log sync setting: %63s", ((storemark_store *)handler)->value), 0;
}

/* Closes the sessions as well, and makes a checkpoint. */
static int close_store(storemark_store *store) {
    int error = store->connection ? store->connection->close(store->connection, NULL) : 0;
    return free(store), result(error);
}

static const char *value_of(const char *name, const char *otherwise, const storemark_pair *settings, size_t count) {
    while (count > 0 && strcmp(settings[count - 1].name, name) != 0) count--;
    return count > 0 ? settings[count - 1].value : otherwise;
}

/* A reader may have to recover what a crash left, so it opens the home as a writer does. */
static int open_store(const char *path, int access, const storemark_pair *settings, size_t count,
                      storemark_store **store) {
    storemark_store *new = calloc(1, sizeof *new);
    int creates = access == STOREMARK_CREATE;
    char home[512], table[256];
    const char *sync = value_of("sync", "fsync", settings, count);
    snprintf(home, sizeof home, "create=%s,cache_size=%s,log=(enabled=true),transaction_sync=(enabled=true,method=%s),"
             "checkpoint=(wait=60),statistics=(fast)", creates ? "true" : "false",
             value_of("cache", "100MB", settings, count), strcmp(sync, "write") == 0 ? "none" : sync);
    snprintf(table, sizeof table, "key_format=u,value_format=u,checksum=on,leaf_page_max=%s",
             value_of("leaf_page_max", "32768", settings, count));
    new->handler.handle_message = note;
    if (creates) mkdir(path, 0777); /* WiredTiger fails if that did */
    int error = wiredtiger_open(path, &new->handler, home, &new->connection);
    if (error == 0) error = new->connection->open_session(new->connection, NULL, NULL, &new->session);
    if (error == 0 && creates) error = new->session->create(new->session, "table:store", table);
    return error == 0 ? (*store = new, STOREMARK_OK) : (close_store(new), result(error));
}

/* WiredTiger reports how it writes the log, and has the sizes among its statistics. */
static const char *setting(storemark_store *store, const char *name) {
    const char *title, *text, *of = strcmp(name, "cache") == 0 ? "statistics:" : "statistics:table:store";
    int64_t number;
    WT_CURSOR *cursor;
    if (strcmp(name, "sync") == 0) return store->connection->debug_info(store->connection, "log=true"), store->value;
    if (store->session->open_cursor(store->session, of, NULL, NULL, &cursor) != 0) return NULL;
    cursor->set_key(cursor, strcmp(name, "cache") == 0 ? WT_STAT_CONN_CACHE_BYTES_MAX : WT_STAT_DSRC_BTREE_MAXLEAFPAGE);
    int error = cursor->search(cursor);
    if (error == 0) error = cursor->get_value(cursor, &title, &text, &number);
    if (error == 0) snprintf(store->value, sizeof store->value, "%lld", (long long)number);
    cursor->close(cursor);
    return error == 0 ? store->value : NULL;
}

static void end(storemark_session *session) { session->wt->close(session->wt, NULL), free(session); }
static int session(storemark_store *store, storemark_session **session) {
    storemark_session *new = *session = calloc(1, sizeof *new);
    int error = store->connection->open_session(store->connection, NULL, "isolation=snapshot", &new->wt);
    if (error == 0) error = new->wt->open_cursor(new->wt, "table:store", NULL, NULL, &new->cursor);
    if (error == 0) error = new->wt->open_cursor(new->wt, "table:store", NULL, "overwrite=false", &new->strict);
    return error == 0 ? STOREMARK_OK : (free(new), result(error));
}

static int begin(storemark_session *session, int mode) {
    return (void)mode, result(session->wt->begin_transaction(session->wt, NULL));
}
static int commit(storemark_session *session) { return result(session->wt->commit_transaction(session->wt, NULL)); }
static void roll_back(storemark_session *session) { session->wt->rollback_transaction(session->wt, NULL); }

/* Ends an operation. A cursor that is not reset keeps its page in memory, and its snapshot. */
static int done(WT_CURSOR *cursor, int error) { return cursor->reset(cursor), result(error); }

static int get(storemark_session *session, const void *key, size_t key_length, void *into, size_t room,
               size_t *length) {
    WT_ITEM item = { .data = key, .size = key_length };
    session->cursor->set_key(session->cursor, &item);
    int error = session->cursor->search(session->cursor);
    if (error == 0) error = session->cursor->get_value(session->cursor, &item);
    if (error == 0 && (*length = item.size) <= room) memcpy(into, item.data, item.size);
    return done(session->cursor, error);
}

/* Outside a batch, WiredTiger commits each change, and repeats one that another session was in the way of. */
static int put(storemark_session *session, const void *key, size_t key_length, const void *value,
               size_t value_length, int how) {
    WT_CURSOR *cursor = how == STOREMARK_UPSERT ? session->cursor : session->strict;
    WT_ITEM key_item = { .data = key, .size = key_length }, value_item = { .data = value, .size = value_length };
    cursor->set_key(cursor, &key_item), cursor->set_value(cursor, &value_item);
    return done(cursor, how == STOREMARK_UPDATE ? cursor->update(cursor) : cursor->insert(cursor));
}

static int remove_key(storemark_session *session, const void *key, size_t key_length) {
    WT_ITEM item = { .data = key, .size = key_length };
    session->strict->set_key(session->strict, &item);
    return done(session->strict, session->strict->remove(session->strict));
}

/* Until it is reset, a cursor shows one snapshot. */
static int scan(storemark_session *session, const void *from, size_t from_length, int values,
                storemark_visit *visit, void *visitor) {
    WT_CURSOR *cursor = session->cursor;
    WT_ITEM key = { .data = from, .size = from_length }, value;
    int error = 0, order = -1; /* of the key that is found, and `from` */
    if (from) cursor->set_key(cursor, &key), error = cursor->search_near(cursor, &order);
    if (error == 0 && order < 0) error = cursor->next(cursor);
    while (error == 0 && !(error = cursor->get_key(cursor, &key)) && !(error = cursor->get_value(cursor, &value)) &&
           visit(visitor, key.data, key.size, value.data, value.size) == 0)
        error = cursor->next(cursor);
    return (void)values, done(cursor, error == WT_NOTFOUND ? 0 : error);
}

const storemark_plugin *storemark_store_plugin(void) {
    static const storemark_setting settings[] = {
        { "cache", "SIZE", "the memory for pages" },
        { "sync", "fsync|write", "whether a commit flushes the log, or only writes it" },
        { "leaf_page_max", "4096|8192|16384|32768|65536|131072", "how large a leaf page may be" }, { 0 },
    };
    static const storemark_durability classes[] = {
        { STOREMARK_DURABLE, "sync=fsync", "pwrite(2) and fdatasync(2) of the log at each commit" },
        { STOREMARK_CONSISTENT, "sync=write", "pwrite(2) of the log at a commit, fdatasync(2) at a checkpoint" }, { 0 },
    };
    static const storemark_plugin plugin = {
        .version = STOREMARK_STORE_VERSION, .name = "wiredtiger", .library_version = "3.2.1",
        .can = STOREMARK_WRITERS | STOREMARK_BATCHES | STOREMARK_SNAPSHOTS, .integrity = "a checksum of each page",
        .settings = settings, .durability = classes, .open = open_store, .close = close_store, .setting = setting,
        .session = session, .end = end, .begin = begin, .commit = commit, .roll_back = roll_back, .get = get,
        .put = put, .remove = remove_key, .scan = scan, .last_error = last_error,
    };
    return &plugin;
}
