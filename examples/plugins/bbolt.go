// bbolt behind storemark_store.h, in Go by cgo: a B+tree in one memory-mapped file, which one writer at a time changes
// by writing copies of pages. The keys are those of one bucket. To compile it with the library of Debian:
//     apt-get install golang-github-coreos-bbolt-dev
//     GO111MODULE=off GOPATH=/usr/share/gocode go build -buildmode=c-shared -o bbolt.so bbolt.go
package main

/*
#include "storemark_store.h"
#include <stdio.h>
#define ONCE __attribute__((weak)) // cgo compiles this text twice, and the linker takes one of both
#define HOOK(name) .name = (void *)go_##name
// The hooks as cgo declares them, which knows no const. C holds handles as stores and sessions: it may keep no pointer of Go.
int go_open(char *, int, storemark_pair *, size_t, uintptr_t *), go_close(uintptr_t), go_session(uintptr_t, uintptr_t *);
int go_begin(uintptr_t, int), go_commit(uintptr_t), go_get(uintptr_t, void *, size_t, void *, size_t, size_t *);
int go_put(uintptr_t, void *, size_t, void *, size_t, int), go_remove(uintptr_t, void *, size_t);
int go_scan(uintptr_t, void *, size_t, int, void *, void *);
void go_end(uintptr_t), go_roll_back(uintptr_t);
char *go_setting(uintptr_t, char *);
extern const char *_GoStringPtr(_GoString_); extern size_t _GoStringLen(_GoString_); // of cgo, for inline functions
ONCE _Thread_local char words[256]; // that this thread said last: a setting, or why a hook failed
ONCE const char *last_error(void) { return words; }
static inline char *say(_GoString_ text) {
	return snprintf(words, sizeof words, "%.*s", (int)_GoStringLen(text), _GoStringPtr(text)), words;
}
static inline int show(void *visit, void *visitor, _GoString_ key, _GoString_ value) {
	return ((storemark_visit *)visit)(visitor, _GoStringPtr(key), _GoStringLen(key), _GoStringPtr(value), _GoStringLen(value));
}
ONCE const storemark_plugin *storemark_store_plugin(void) {
	static const storemark_setting settings[] = {
		{ "sync", "on|off", "whether each commit is flushed, and the file when it grows" },
		{ "freelist", "array|hashmap", "how free pages are kept in memory" },
		{ "freelist_sync", "on|off", "whether commits write the list of free pages, or opening a store finds them again" },
		{ "page_size", "4096|16384|65536", "bytes in a page of a new store [those of a page of memory]" },
		{ "bucket", "TEXT", "the bucket that holds the keys [blobs]" }, { 0 } };
	static const storemark_durability classes[] = {
		{ STOREMARK_NONE, "sync=off", "pwrite(2) of pages, then of the meta page, at each commit, no flush" },
		{ STOREMARK_DURABLE, "sync=on", "pwrite(2) and fdatasync(2) of pages, then of the meta page, at each commit; "
			"where the file grows, a flush of its new length before" }, { 0 } };
	static const storemark_plugin plugin = {
		.version = STOREMARK_STORE_VERSION, .name = "bbolt", .library_version = "1.3.6", // it has none to ask for
		.can = STOREMARK_OWN_CALLS | STOREMARK_WRITERS | STOREMARK_BATCHES | STOREMARK_SNAPSHOTS | STOREMARK_UNCHANGED,
		.settings = settings, .durability = classes, HOOK(open), HOOK(close), HOOK(setting), HOOK(session), HOOK(end),
		HOOK(begin), HOOK(commit), HOOK(roll_back), HOOK(get), HOOK(put), HOOK(remove), HOOK(scan), .last_error = last_error };
	return &plugin;
}
*/
import "C"

import (
	"errors"
	"runtime/cgo"
	"strconv"
	"time"
	"unsafe"

	bolt "go.etcd.io/bbolt"
)

// A store, or one thread's use of it, with the bucket in the transaction of the batch that is open.
type session struct {
	*bolt.DB
	name  []byte // of the bucket
	batch *bolt.Bucket
}
func sessionOf(of C.uintptr_t) *session { return cgo.Handle(of).Value().(*session) }
func (s session) handle() C.uintptr_t   { return C.uintptr_t(cgo.NewHandle(&s)) }
func (s *session) end() *bolt.Tx        { tx := s.batch.Tx(); s.batch = nil; return tx }

// Bytes of C are there until the hook returns, and those of bbolt until the transaction ends.
func bytes(start unsafe.Pointer, length C.size_t) []byte { return unsafe.Slice((*byte)(start), length) }
func text(bytes []byte) string                           { return *(*string)(unsafe.Pointer(&bytes)) }

var errNo = errors.New("the key is absent, or must be")
var codes = map[error]C.int{errNo: C.STOREMARK_NO, bolt.ErrTimeout: C.STOREMARK_BUSY, bolt.ErrInvalid: C.STOREMARK_CORRUPT,
	bolt.ErrChecksum: C.STOREMARK_CORRUPT, bolt.ErrKeyTooLarge: C.STOREMARK_UNSUPPORTED,
	bolt.ErrKeyRequired: C.STOREMARK_UNSUPPORTED, bolt.ErrValueTooLarge: C.STOREMARK_UNSUPPORTED}
func result(err error) C.int {
	if err == nil {
		return C.STOREMARK_OK
	}
	C.say(err.Error())
	if code, known := codes[err]; known {
		return code
	}
	return C.STOREMARK_FAILED
}

// within does one operation, in a transaction of its own (View or Update) if no batch is open.
func within(of C.uintptr_t, own func(*bolt.DB, func(*bolt.Tx) error) error, work func(*bolt.Bucket) error) C.int {
	s := sessionOf(of)
	if s.batch != nil {
		return result(work(s.batch))
	}
	return result(own(s.DB, func(tx *bolt.Tx) error { return work(tx.Bucket(s.name)) }))
}

//export go_open
func go_open(path *C.char, access C.int, set *C.storemark_pair, count C.size_t, to *C.uintptr_t) C.int {
	asked := map[string]string{"freelist": "array", "bucket": "blobs"}
	for _, pair := range unsafe.Slice(set, count) {
		asked[C.GoString(pair.name)] = C.GoString(pair.value)
	}
	name, exists, noSync := []byte(asked["bucket"]), false, asked["sync"] == "off"
	pageSize, _ := strconv.Atoi(asked["page_size"]) // 0 is that of the system
	db, err := bolt.Open(C.GoString(path), 0o666, &bolt.Options{ReadOnly: access == C.STOREMARK_READ, Timeout: time.Second,
		NoSync: noSync, NoGrowSync: noSync, NoFreelistSync: asked["freelist_sync"] == "off", PageSize: pageSize,
		FreelistType: bolt.FreelistType(asked["freelist"])})
	if err != nil {
		return result(err)
	}
	if access == C.STOREMARK_CREATE {
		err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket(name); return err })
	} else if db.View(func(tx *bolt.Tx) error { exists = tx.Bucket(name) != nil; return nil }); !exists {
		err = bolt.ErrBucketNotFound
	}
	if err != nil {
		db.Close()
		return result(err)
	}
	*to = session{DB: db, name: name}.handle()
	return C.STOREMARK_OK
}
//export go_close
func go_close(of C.uintptr_t) C.int { defer cgo.Handle(of).Delete(); return result(sessionOf(of).Close()) }
//export go_setting
func go_setting(of C.uintptr_t, name *C.char) *C.char {
	s, word := sessionOf(of), map[bool]string{true: "off", false: "on"}
	return C.say(map[string]string{"sync": word[s.NoSync], "freelist_sync": word[s.NoFreelistSync], "bucket": string(s.name),
		"freelist": string(s.FreelistType), "page_size": strconv.Itoa(s.Info().PageSize)}[C.GoString(name)])
}
//export go_session
func go_session(of C.uintptr_t, to *C.uintptr_t) C.int { *to = sessionOf(of).handle(); return C.STOREMARK_OK }
//export go_end
func go_end(of C.uintptr_t) { cgo.Handle(of).Delete() }
//export go_begin
func go_begin(of C.uintptr_t, mode C.int) C.int {
	s := sessionOf(of)
	tx, err := s.Begin(mode == C.STOREMARK_WRITE)
	if err == nil {
		s.batch = tx.Bucket(s.name)
	}
	return result(err)
}
//export go_commit
func go_commit(of C.uintptr_t) C.int {
	tx := sessionOf(of).end()
	if tx.Writable() {
		return result(tx.Commit())
	}
	return result(tx.Rollback())
}
//export go_roll_back
func go_roll_back(of C.uintptr_t) { sessionOf(of).end().Rollback() }
//export go_get
func go_get(of C.uintptr_t, key unsafe.Pointer, size C.size_t, into unsafe.Pointer, room C.size_t, length *C.size_t) C.int {
	return within(of, (*bolt.DB).View, func(bucket *bolt.Bucket) error {
		value := bucket.Get(bytes(key, size))
		if value == nil {
			return errNo
		}
		if *length = C.size_t(len(value)); *length <= room {
			copy(bytes(into, room), value)
		}
		return nil
	})
}
//export go_put
func go_put(of C.uintptr_t, key unsafe.Pointer, size C.size_t, value unsafe.Pointer, length C.size_t, how C.int) C.int {
	return within(of, (*bolt.DB).Update, func(bucket *bolt.Bucket) error {
		if how != C.STOREMARK_UPSERT && (bucket.Get(bytes(key, size)) != nil) != (how == C.STOREMARK_UPDATE) {
			return errNo
		}
		// bbolt copies the key, but keeps the value until the transaction ends.
		return bucket.Put(bytes(key, size), append([]byte{}, bytes(value, length)...))
	})
}
//export go_remove
func go_remove(of C.uintptr_t, key unsafe.Pointer, size C.size_t) C.int {
	return within(of, (*bolt.DB).Update, func(bucket *bolt.Bucket) error {
		if bucket.Get(bytes(key, size)) == nil {
			return errNo
		}
		return bucket.Delete(bytes(key, size))
	})
}
//export go_scan
func go_scan(of C.uintptr_t, from unsafe.Pointer, size C.size_t, _ C.int, visit, visitor unsafe.Pointer) C.int {
	return within(of, (*bolt.DB).View, func(bucket *bolt.Bucket) error {
		cursor := bucket.Cursor()
		for key, value := cursor.Seek(bytes(from, size)); key != nil; key, value = cursor.Next() {
			if value != nil && C.show(visit, visitor, text(key), text(value)) != 0 { // nil is a nested bucket
				break
			}
		}
		return nil
	})
}
func main() {}
