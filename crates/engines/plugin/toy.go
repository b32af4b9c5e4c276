// A toy of a library, for skeleton.go: keys in memory, and a file to which each commit is appended. It knows
// nothing of storemark.
package main

import (
	"bytes"
	"encoding/gob"
	"os"
	"sort"
	"sync"
)

type toy struct {
	lock    sync.Mutex // held by whoever uses what follows
	file    *os.File
	flushes bool  // whether each commit is flushed
	end     int64 // where the next commit is written
	values  map[string]string
	keys    []string // in order; nil if they are to be sorted
	changes []change // that are not committed
}

type change struct {
	Key, Value string
	Removes    bool
}

func openToy(path string, flags int) (*toy, error) {
	file, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, err
	}
	t := &toy{file: file, flushes: true}
	if err = t.load(); err != nil {
		file.Close()
	}
	return t, err
}

// load reads the file up to the first commit that is not whole: the next one overwrites it.
func (t *toy) load() error {
	t.values, t.end = map[string]string{}, 0
	content, err := os.ReadFile(t.file.Name())
	if err != nil {
		return err
	}
	for rest := bytes.NewReader(content); ; t.end = rest.Size() - int64(rest.Len()) {
		var changes []change
		if gob.NewDecoder(rest).Decode(&changes) != nil {
			break
		}
		for _, change := range changes {
			t.apply(change)
		}
	}
	t.changes = nil
	return nil
}

func (t *toy) apply(change change) {
	_, exists := t.values[change.Key]
	if change.Removes {
		delete(t.values, change.Key)
	} else {
		t.values[change.Key] = change.Value
	}
	if exists == change.Removes {
		t.keys = nil
	}
	t.changes = append(t.changes, change)
}

// put returns whether it may.
func (t *toy) put(key, value string, may func(exists bool) bool) bool {
	_, exists := t.values[key]
	if !may(exists) {
		return false
	}
	t.apply(change{Key: key, Value: value})
	return true
}

// remove returns whether there was such a key.
func (t *toy) remove(key string) bool {
	_, exists := t.values[key]
	if exists {
		t.apply(change{Key: key, Removes: true})
	}
	return exists
}

// scan shows values in the order of their keys, from the first that is not less, as long as it is to go on.
func (t *toy) scan(from string, show func(key, value string) bool) {
	if t.keys == nil {
		for key := range t.values {
			t.keys = append(t.keys, key)
		}
		sort.Strings(t.keys)
	}
	for _, key := range t.keys[sort.SearchStrings(t.keys, from):] {
		if !show(key, t.values[key]) {
			break
		}
	}
}

// commit ends a batch, and undoes it if that fails.
func (t *toy) commit() error {
	if len(t.changes) == 0 {
		return nil
	}
	var commit bytes.Buffer
	err := gob.NewEncoder(&commit).Encode(t.changes)
	if err == nil {
		_, err = t.file.WriteAt(commit.Bytes(), t.end)
	}
	if err == nil && t.flushes {
		err = t.file.Sync()
	}
	if err != nil {
		t.file.Truncate(t.end)
		t.rollBack()
		return err
	}
	t.end += int64(commit.Len())
	t.changes = nil
	return nil
}

// rollBack undoes what is not committed.
func (t *toy) rollBack() {
	if len(t.changes) > 0 {
		t.load()
	}
}
