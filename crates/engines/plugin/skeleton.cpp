// A whole store behind storemark_store.h in C++, to copy: a std::map, and a file that each commit replaces.
// skeleton.c says when each hook is called, and storemark_store.h what it has to do.
//     c++ -std=c++17 -O2 -fPIC -shared -pthread -o libskeleton.so skeleton.cpp
#include "storemark_store.h"
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unistd.h>

using std::string; // compares bytes as the header asks

static void need(bool done, const string &what) {
    if (!done) throw std::runtime_error(what + ": " + strerror(errno));
}
static void flush(const string &path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    need(file >= 0 && fsync(file) == 0 && ::close(file) == 0, path);
}

struct storemark_store {
    string path;
    bool flushes = true;
    std::map<string, string> map = {};
    std::mutex lock = {}; // a batch holds it, or an operation without one

    void load() {
        map.clear();
        std::ifstream in(path, std::ios::binary);
        need(in.good(), path);
        for (size_t lengths[2]; in.read(reinterpret_cast<char *>(lengths), sizeof lengths);) {
            string key(lengths[0], 0), value(lengths[1], 0);
            in.read(key.data(), key.size()).read(value.data(), value.size());
            map[key] = value;
        }
    }
    void save() {
        string next = path + ".new";
        std::ofstream out(next, std::ios::binary);
        for (auto &[key, value] : map) {
            size_t lengths[2] = {key.size(), value.size()};
            out.write(reinterpret_cast<char *>(lengths), sizeof lengths);
            out.write(key.data(), key.size()).write(value.data(), value.size());
        }
        out.close();
        need(out.good(), next);
        if (flushes) flush(next);
        need(rename(next.c_str(), path.c_str()) == 0, path);
        if (flushes) flush(path.substr(0, path.rfind('/') + 1) + ".");
    }
};
struct storemark_session {
    storemark_store *store;
    bool in_batch = false, changed = false;

    void begin() { store->lock.lock(), in_batch = true; }
    void end() { in_batch = changed = false, store->lock.unlock(); }
    void commit() {
        if (changed) store->save();
        end();
    }
    void roll_back() {
        if (changed) store->load();
        end();
    }
};
static thread_local string words; // of the last failure
// Exceptions end here: the caller knows none.
template <class Work> static int caught(Work work) {
    try {
        return work();
    } catch (const std::exception &error) {
        return words = error.what(), STOREMARK_FAILED;
    }
}

// Does one operation, as a batch of its own if none is open.
template <class Work> static int within(storemark_session *session, Work work) {
    if (session->in_batch) return caught(work);
    session->begin();
    int done = caught(work), committed = caught([&] { return session->commit(), STOREMARK_OK; });
    if (committed == STOREMARK_OK) return done;
    return session->roll_back(), committed;
}

static string bytes(const void *start, size_t length) { return string(static_cast<const char *>(start), length); }
static int open_store(const char *path, int access, const storemark_pair *set, size_t count, storemark_store **store) {
    return caught([&] {
        auto opened = *store = new storemark_store{path};
        for (size_t i = 0; i < count; i++) opened->flushes = !strcmp(set[i].value, "full"); // there is one
        access == STOREMARK_CREATE ? opened->save() : opened->load();
        return STOREMARK_OK;
    });
}
static int get(storemark_session *session, const void *key, size_t size, void *into, size_t room, size_t *length) {
    return within(session, [&]() -> int {
        auto found = session->store->map.find(bytes(key, size));
        if (found == session->store->map.end()) return STOREMARK_NO;
        *length = found->second.size();
        if (*length <= room) memcpy(into, found->second.data(), *length);
        return STOREMARK_OK;
    });
}
static int put(storemark_session *session, const void *key, size_t size, const void *value, size_t length, int how) {
    return within(session, [&]() -> int {
        bool exists = session->store->map.count(bytes(key, size)) > 0;
        if (how != STOREMARK_UPSERT && exists != (how == STOREMARK_UPDATE)) return STOREMARK_NO;
        session->store->map[bytes(key, size)] = bytes(value, length);
        return session->changed = true, STOREMARK_OK;
    });
}
static int remove_key(storemark_session *session, const void *key, size_t size) {
    return within(session, [&]() -> int {
        bool existed = session->store->map.erase(bytes(key, size)) > 0;
        return session->changed |= existed, existed ? STOREMARK_OK : STOREMARK_NO;
    });
}
static int scan(storemark_session *session, const void *from, size_t size, int, storemark_visit *visit, void *to) {
    return within(session, [&]() -> int {
        auto &map = session->store->map;
        for (auto at = from ? map.lower_bound(bytes(from, size)) : map.begin(); at != map.end(); ++at)
            if (visit(to, at->first.data(), at->first.size(), at->second.data(), at->second.size())) break;
        return STOREMARK_OK;
    });
}

const storemark_plugin *storemark_store_plugin() {
    static const storemark_setting settings[] = {{"sync", "full|off", "whether each commit is flushed"}, {}};
    static const storemark_durability classes[] = {
        {STOREMARK_NONE, "sync=off", "write(2) and rename(2) of the whole file at each commit, no flush"},
        {STOREMARK_DURABLE, "sync=full", "write(2), fsync(2) and rename(2) of the whole file, fsync(2) of its folder"},
        {}};
    static const storemark_plugin plugin = {
        STOREMARK_STORE_VERSION, STOREMARK_WRITERS | STOREMARK_BATCHES | STOREMARK_SNAPSHOTS | STOREMARK_RESIDENT |
        STOREMARK_UNCHANGED, "map", "1", nullptr, settings, classes, open_store,
        [](storemark_store *store) { return delete store, int(STOREMARK_OK); },
        [](storemark_store *store, const char *) { return store->flushes ? "full" : "off"; }, nullptr, nullptr,
        [](storemark_store *of, storemark_session **to) { return *to = new storemark_session{of}, int(STOREMARK_OK); },
        [](storemark_session *session) { delete session; },
        [](storemark_session *session, int) { return session->begin(), int(STOREMARK_OK); },
        [](storemark_session *session) { return caught([&] { return session->commit(), STOREMARK_OK; }); },
        [](storemark_session *session) { session->roll_back(); },
        get, nullptr, put, remove_key, scan, [] { return words.c_str(); }};
    return &plugin;
}
