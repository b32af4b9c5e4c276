/* A store in a shared object, which storemark measures and checks:
 *
 *     storemark run 'plugin:./libmystore.so?sync=full' files:
 *     storemark conformance plugin:./libmystore.so
 *
 * The object exports one function, storemark_store_plugin, which returns a table of the hooks below.
 * `storemark conformance --skeleton c DIR` (or cpp, go, rust) writes a whole store to copy. A store works in
 * a process of its own: if it crashes, its target ends, and nothing else.
 *
 * Keys and values are any bytes. Keys are in the order of memcmp, of two that start alike the shorter one
 * first. A pointer that a hook is given is valid until the hook returns, and NULL only where that is said.
 * What hooks print to standard output goes to standard error. Hooks of a store, and of its sessions, are
 * called from several threads at once; those of one session are called from one thread at a time. */
#ifndef STOREMARK_STORE_H
#define STOREMARK_STORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, which is raised when an object made with an older one would not work. */
#define STOREMARK_STORE_VERSION 1

/* What most hooks return. `last_error` has the words for those below zero. */
enum {
    STOREMARK_OK = 0,
    STOREMARK_NO = 1,           /* there is no such key; or `how` forbids to put it */
    STOREMARK_FAILED = -1,      /* the system, or a library, failed */
    STOREMARK_CORRUPT = -2,     /* the store is damaged */
    STOREMARK_BUSY = -3,        /* another session has its lock for longer than the store waits; it ends the
                                   measurement, as nothing is done again */
    STOREMARK_UNSUPPORTED = -4  /* the store cannot do that */
};

/* How a store is opened, and what a batch will do. */
enum { STOREMARK_READ = 0, STOREMARK_WRITE = 1, STOREMARK_CREATE = 2 };

/* Whether a key that is put may, must not, or must exist. */
enum { STOREMARK_UPSERT = 0, STOREMARK_INSERT = 1, STOREMARK_UPDATE = 2 };

/* What a store can do; the bits of `can`. */
enum {
    STOREMARK_WRITERS = 1,   /* several sessions may write at once (they may wait for each other) */
    STOREMARK_BATCHES = 2,   /* a batch is stored as a whole or not at all */
    STOREMARK_SNAPSHOTS = 4, /* a scan shows the store as it was at one moment */
    STOREMARK_RESIDENT = 8,  /* all values are in memory while the store is open */
    STOREMARK_UNCHANGED = 16, /* opening a store to read, and reading it, changes none of its files */
    STOREMARK_OWN_CALLS = 32 /* it calls the kernel without the C library, as Go does: its flushes are not counted */
};

/* A setting of a target (`?sync=full`). */
typedef struct {
    const char *name;    /* not store, lib or worker. `cache`, a SIZE, is what `run --memory` sets, and counts as
                            memory of the store; with `inline`, a SIZE, longer values are in files of their own */
    const char *accepts; /* words, "full|off"; whole numbers, "1..9"; or "SIZE", "NUMBER" or "TEXT". A size (4096,
                            10KiB) or number (5, 10k) arrives, and is returned, in digits; if the library
                            rounds it, offer words. */
    const char *help;    /* what it does, in one line */
} storemark_setting;

/* A durability class: what a commit survives. */
enum { STOREMARK_NONE = 0, STOREMARK_CONSISTENT = 1, STOREMARK_DURABLE = 2 };

typedef struct {
    int durability;       /* NONE; CONSISTENT: after a power cut every value is whole; DURABLE: and no
                             commit is lost */
    const char *settings; /* those that give it, "sync=full&log=on"; "" if none need be set */
    const char *how;      /* the system calls that keep it, and when: "fdatasync(2) of the log at each
                             commit". `storemark conformance` traces them. */
} storemark_durability;

typedef struct { const char *name, *value; } storemark_pair;
typedef struct storemark_store storemark_store;     /* an open store, as the object defines it */
typedef struct storemark_session storemark_session; /* one thread's use of it */

/* Is shown an item of a scan; if it does not return 0, the scan ends with STOREMARK_OK. */
typedef int storemark_visit(void *visitor, const void *key, size_t key_length, const void *value,
                            size_t value_length);

/* A hook that may be NULL has what happens then in brackets. */
typedef struct {
    uint32_t version;                       /* STOREMARK_STORE_VERSION */
    uint32_t can;                           /* STOREMARK_WRITERS | ... */
    const char *name, *library_version;     /* of the library: "leveldb", "1.23" */
    const char *integrity;                  /* how every flipped byte is found when a store is read, in words:
                                               "a checksum of each page"; NULL: not every one is */
    const storemark_setting *settings;      /* ends with a NULL name [no settings] */
    const storemark_durability *durability; /* ends with a NULL `how` [no class] */

    /* Opens the store at `path`: a file or a folder, in a folder that exists, and nothing next to it, as a copy
     * has `path` alone. STOREMARK_CREATE makes it, where nothing is; the others never do. `settings` are those
     * that the target has, NULL if none. */
    int (*open)(const char *path, int access, const storemark_pair *settings, size_t count,
                storemark_store **store);
    /* Closes it, after all its sessions have ended, whatever it returns. */
    int (*close)(storemark_store *store);
    /* Returns the value in effect of a declared setting, as the library reports it, or else as it was passed to
     * the library; one of NULL is not known, which a check fails. It is valid until the next call. [No setting
     * is known to be in effect.] */
    const char *(*setting)(storemark_store *store, const char *name);
    /* Makes all that is committed as durable as the class promises. [Commits do that.] */
    int (*sync)(storemark_store *store);
    /* Checks the whole store: STOREMARK_OK, or STOREMARK_CORRUPT. [It is only read.] */
    int (*check)(storemark_store *store);

    /* Starts one thread's use of the store, and ends it, without a batch that is open. */
    int (*session)(storemark_store *store, storemark_session **session);
    void (*end)(storemark_session *session);
    /* Starts a batch, which sees its own writes; without one, each read and write is a batch. [There are
     * no batches.] `commit` ends it, whatever it returns: then the durability class holds for it.
     * `roll_back` undoes it. `mode` is STOREMARK_READ or STOREMARK_WRITE. */
    int (*begin)(storemark_session *session, int mode);
    int (*commit)(storemark_session *session);
    void (*roll_back)(storemark_session *session);
    /* Sets `length` to that of the value, and copies the value to `into` if it is not longer than `room`. */
    int (*get)(storemark_session *session, const void *key, size_t key_length, void *into, size_t room,
               size_t *length);
    /* Sets `length` alone. [`get` with no room.] */
    int (*stat)(storemark_session *session, const void *key, size_t key_length, size_t *length);
    int (*put)(storemark_session *session, const void *key, size_t key_length, const void *value,
               size_t value_length, int how);
    /* Removes a key: STOREMARK_NO if there is none. The name is a word of C++. */
    int (*remove)(storemark_session *session, const void *key, size_t key_length);
    /* Shows items in the order of their keys, from the first that is not less than `from` on; from the
     * first of all if that is NULL. If `values` is 0, only the lengths of values are looked at, and
     * they may be NULL. The visitor calls no hook of this session. */
    int (*scan)(storemark_session *session, const void *from, size_t from_length, int values,
                storemark_visit *visit, void *visitor);
    /* Returns why the last hook of this thread failed, in one line; never NULL. */
    const char *(*last_error)(void);
} storemark_plugin;

/* What the object exports. The table is there as long as the object is loaded. */
#if defined _WIN32
__declspec(dllexport)
#elif defined __GNUC__
__attribute__((visibility("default")))
#endif
const storemark_plugin *storemark_store_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
