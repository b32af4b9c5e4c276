// A whole store behind storemark_store.h in Go by cgo, to copy: put your library in the place of the toy.
// skeleton.c says when each hook is called, and storemark_store.h what it has to do.
//     go build -buildmode=c-shared -o libskeleton.so skeleton.go toy.go
package main

/*
#include "storemark_store.h"
#include <stdio.h>
#include <stdlib.h>
#define ONCE __attribute__((weak)) // cgo compiles this text twice, and the linker takes one of both
struct storemark_store { uintptr_t handle; }; struct storemark_session { uintptr_t handle; };
// The hooks as cgo declares them, which knows no const.
int go_open(char *, int, storemark_pair *, size_t, storemark_store **), go_close(storemark_store *);
char *go_setting(storemark_store *, char *);
int go_session(storemark_store *, storemark_session **), go_begin(storemark_session *, int), go_commit(storemark_session *);
void go_end(storemark_session *), go_roll_back(storemark_session *);
int go_get(storemark_session *, void *, size_t, void *, size_t, size_t *);
int go_put(storemark_session *, void *, size_t, void *, size_t, int), go_remove(storemark_session *, void *, size_t);
int go_scan(storemark_session *, void *, size_t, int, void *, void *);
ONCE _Thread_local char words[256]; // for the last failure of this thread
ONCE const char *last_error(void) { return words; }
extern const char *_GoStringPtr(_GoString_); extern size_t _GoStringLen(_GoString_); // of cgo, for static inline functions only
ONCE int failed(const char *text) { return snprintf(words, sizeof words, "%s", text), STOREMARK_FAILED; }
static inline int show(void *visit, void *visitor, _GoString_ key, _GoString_ value) {
	return ((storemark_visit *)visit)(visitor, _GoStringPtr(key), _GoStringLen(key), _GoStringPtr(value), _GoStringLen(value));
}
ONCE const storemark_plugin *storemark_store_plugin(void) {
	static const storemark_setting settings[] = { { "sync", "full|off", "whether each commit is flushed" }, { 0 } };
	static const storemark_durability classes[] = {
		{ STOREMARK_NONE, "sync=off", "pwrite(2) of the changes at each commit, no flush" },
		{ STOREMARK_DURABLE, "sync=full", "pwrite(2) of the changes and fsync(2) of the file at each commit" }, { 0 } };
	static const storemark_plugin plugin = {
		.version = STOREMARK_STORE_VERSION, .name = "toy", .library_version = "1", .can = STOREMARK_OWN_CALLS |
			STOREMARK_WRITERS | STOREMARK_BATCHES | STOREMARK_SNAPSHOTS | STOREMARK_RESIDENT | STOREMARK_UNCHANGED,
		.settings = settings, .durability = classes, .open = (void *)go_open, .close = go_close,
		.setting = (void *)go_setting, .session = go_session, .end = go_end, .begin = go_begin, .commit = go_commit,
		.roll_back = go_roll_back, .get = (void *)go_get, .put = (void *)go_put, .remove = (void *)go_remove,
		.scan = (void *)go_scan, .last_error = last_error };
	return &plugin;
}
*/
import "C"

import (
	"os"
	"runtime/cgo"
	"unsafe"
)

// One thread's use of a store. A batch holds the lock of the toy, or an operation without one.
type session struct {
	*toy
	inBatch bool
}
func (s *session) begin() { s.lock.Lock(); s.inBatch = true }
func (s *session) end()   { s.inBatch = false; s.lock.Unlock() }

// C holds handles: it may keep no pointer of Go.
func storeOf(of *C.storemark_store) *toy         { return cgo.Handle(of.handle).Value().(*toy) }
func sessionOf(of *C.storemark_session) *session { return cgo.Handle(of.handle).Value().(*session) }

// Bytes are there until the hook returns.
func text(start unsafe.Pointer, length C.size_t) string { return string(unsafe.Slice((*byte)(start), length)) }
func result(err error) C.int {
	if err == nil {
		return C.STOREMARK_OK
	}
	said := C.CString(err.Error())
	defer C.free(unsafe.Pointer(said))
	return C.failed(said)
}
var answer = map[bool]C.int{true: C.STOREMARK_OK, false: C.STOREMARK_NO}
var inEffect = map[bool]*C.char{true: C.CString("full"), false: C.CString("off")}

// within does one operation, as a batch of its own if none is open.
func within(of *C.storemark_session, work func(*toy) C.int) C.int {
	s := sessionOf(of)
	if s.inBatch {
		return work(s.toy)
	}
	s.begin()
	done := work(s.toy)
	if committed := go_commit(of); committed != C.STOREMARK_OK {
		return committed
	}
	return done
}

//export go_open
func go_open(path *C.char, access C.int, set *C.storemark_pair, count C.size_t, to **C.storemark_store) C.int {
	flags := [...]int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE | os.O_EXCL}
	toy, err := openToy(C.GoString(path), flags[access])
	if err != nil {
		return result(err)
	}
	for _, pair := range unsafe.Slice(set, count) { // there is one setting
		toy.flushes = C.GoString(pair.value) == "full"
	}
	*to = (*C.storemark_store)(C.malloc(C.sizeof_storemark_store))
	(*to).handle = C.uintptr_t(cgo.NewHandle(toy))
	return C.STOREMARK_OK
}
//export go_close
func go_close(of *C.storemark_store) C.int {
	defer C.free(unsafe.Pointer(of))
	defer cgo.Handle(of.handle).Delete()
	return result(storeOf(of).file.Close())
}
//export go_setting
func go_setting(of *C.storemark_store, _ *C.char) *C.char { return inEffect[storeOf(of).flushes] }
//export go_session
func go_session(of *C.storemark_store, to **C.storemark_session) C.int {
	*to = (*C.storemark_session)(C.malloc(C.sizeof_storemark_session))
	(*to).handle = C.uintptr_t(cgo.NewHandle(&session{toy: storeOf(of)}))
	return C.STOREMARK_OK
}
//export go_end
func go_end(of *C.storemark_session) { cgo.Handle(of.handle).Delete(); C.free(unsafe.Pointer(of)) }
//export go_begin
func go_begin(of *C.storemark_session, _ C.int) C.int { sessionOf(of).begin(); return C.STOREMARK_OK }
//export go_commit
func go_commit(of *C.storemark_session) C.int { defer sessionOf(of).end(); return result(sessionOf(of).commit()) }
//export go_roll_back
func go_roll_back(of *C.storemark_session) { defer sessionOf(of).end(); sessionOf(of).rollBack() }
//export go_get
func go_get(of *C.storemark_session, key unsafe.Pointer, size C.size_t, into unsafe.Pointer, room C.size_t, length *C.size_t) C.int {
	return within(of, func(toy *toy) C.int {
		value, exists := toy.values[text(key, size)]
		if *length = C.size_t(len(value)); *length <= room {
			copy(unsafe.Slice((*byte)(into), room), value)
		}
		return answer[exists]
	})
}
//export go_put
func go_put(of *C.storemark_session, key unsafe.Pointer, size C.size_t, value unsafe.Pointer, length C.size_t, how C.int) C.int {
	may := func(exists bool) bool { return how == C.STOREMARK_UPSERT || exists == (how == C.STOREMARK_UPDATE) }
	return within(of, func(toy *toy) C.int { return answer[toy.put(text(key, size), text(value, length), may)] })
}
//export go_remove
func go_remove(of *C.storemark_session, key unsafe.Pointer, size C.size_t) C.int {
	return within(of, func(toy *toy) C.int { return answer[toy.remove(text(key, size))] })
}
//export go_scan
func go_scan(of *C.storemark_session, from unsafe.Pointer, size C.size_t, _ C.int, visit, visitor unsafe.Pointer) C.int {
	goesOn := func(key, value string) bool { return C.show(visit, visitor, key, value) == 0 }
	return within(of, func(toy *toy) C.int { toy.scan(text(from, size), goesOn); return C.STOREMARK_OK })
}
func main() {}
