/* A toy of a library, for skeleton.c: keys in order, in memory, and a file to which each change is appended.
 * It knows nothing of storemark. One thread calls it at a time. Functions return 0, or an error of the system. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { /* as it is in the file */
    uint32_t key, value, removed, sum; /* the lengths of the key and of the value that follow, and the sum of all */
    unsigned char bytes[];
} toy_item;
typedef struct {
    int file, flushes;    /* whether each commit is flushed */
    off_t end, committed; /* where the next change is appended, and up to where changes are committed */
    toy_item **items;     /* in the order of their keys */
    size_t count, room;
} toy;
enum { TOY_HEAD = 8, TOY_NO_STORE = -1 };

static void *toy_memory(void *memory) {
    if (!memory) abort(); /* this process ends, and no other */
    return memory;
}

/* Returns where a key is, or where it would be. */
static size_t toy_find(const toy *t, const void *key, size_t length, int *found) {
    size_t low = 0, high = t->count;
    for (*found = 0; low < high && !*found;) {
        size_t middle = low + (high - low) / 2, own = t->items[middle]->key;
        int order = memcmp(t->items[middle]->bytes, key, length < own ? length : own);
        if (order == 0) order = (own > length) - (own < length);
        *found = order == 0;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return high;
}

static uint32_t toy_sum(const toy_item *of) {
    uint32_t sum = of->key ^ of->value ^ of->removed;
    for (size_t i = 0; i < (size_t)of->key + of->value; i++) sum = (sum ^ of->bytes[i]) * 16777619u;
    return sum;
}

/* Takes a change over into memory. */
static void toy_take(toy *t, toy_item *new) {
    int found, keeps = !new->removed;
    size_t at = toy_find(t, new->bytes, new->key, &found), after = at + (found != 0), rest = t->count - after;
    if (t->count == t->room) {
        t->room = 2 * t->room + 16;
        t->items = toy_memory(realloc(t->items, t->room * sizeof *t->items));
    }
    if (found) free(t->items[at]);
    memmove(t->items + at + keeps, t->items + after, rest * sizeof *t->items);
    t->count = at + (size_t)keeps + rest;
    if (keeps) t->items[at] = new;
    else free(new);
}

/* Reads the file up to `length`, or to the first change that is not whole: the next one overwrites it. */
static void toy_load(toy *t, off_t length) {
    while (t->count) free(t->items[--t->count]);
    for (t->end = TOY_HEAD; t->end < length;) {
        toy_item head, *new;
        if (pread(t->file, &head, sizeof head, t->end) != sizeof head) break;
        off_t size = (off_t)sizeof head + head.key + head.value;
        if (size > length - t->end) break;
        new = toy_memory(malloc((size_t)size));
        if (pread(t->file, new, (size_t)size, t->end) != size || toy_sum(new) != new->sum) {
            free(new);
            break;
        }
        toy_take(t, new);
        t->end += size;
    }
    t->committed = t->end;
}

static int toy_close(toy *t) {
    int failed = close(t->file) ? errno : 0;
    while (t->count) free(t->items[--t->count]);
    free(t->items);
    return failed;
}

/* Opens a file, or makes it: TOY_NO_STORE if it is not of this library. `flags` are those of open(2). */
static int toy_open(toy *t, const char *path, int flags) {
    static const char magic[TOY_HEAD] = "toystore";
    char found[TOY_HEAD] = "";
    *t = (toy){ .file = open(path, flags | O_CLOEXEC, 0666), .flushes = 1 };
    if (t->file < 0) return errno;
    if ((flags & O_CREAT) && write(t->file, magic, TOY_HEAD) != TOY_HEAD) return toy_close(t), EIO;
    if (pread(t->file, found, TOY_HEAD, 0) != TOY_HEAD || memcmp(found, magic, TOY_HEAD) != 0)
        return toy_close(t), TOY_NO_STORE;
    return toy_load(t, lseek(t->file, 0, SEEK_END)), 0;
}

/* Appends a change, and takes it over. */
static int toy_change(toy *t, const void *key, size_t length, const void *value, size_t size, int removed) {
    size_t bytes = sizeof(toy_item) + length + size;
    toy_item *new = toy_memory(malloc(bytes));
    *new = (toy_item){ (uint32_t)length, (uint32_t)size, (uint32_t)removed, 0 };
    memcpy(new->bytes, key, length);
    memcpy(new->bytes + length, value, size);
    new->sum = toy_sum(new);
    if (pwrite(t->file, new, bytes, t->end) != (ssize_t)bytes) return free(new), errno ? errno : EIO;
    t->end += (off_t)bytes;
    return toy_take(t, new), 0;
}

/* Ends a batch. */
static int toy_commit(toy *t) {
    if (t->end == t->committed) return 0;
    if (t->flushes && fdatasync(t->file) != 0) return errno;
    return t->committed = t->end, 0;
}

/* Undoes what is not committed. */
static void toy_roll_back(toy *t) {
    if (t->end > t->committed) toy_load(t, t->committed);
}
