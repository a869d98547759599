package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/faults"
)

// wholeFile is a file that is written over a while and appears when it is whole.
// What is no ordinary file (a pipe, /dev/stdout) is written directly.
type wholeFile struct {
	*os.File
	path string // where it goes; empty if it is there
}

// createWhole begins a file.
func createWhole(path string) (*wholeFile, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, unwritable(path, err)
		}
		return &wholeFile{File: f}, nil
	} else if err == nil && st.IsDir() {
		return nil, unwritable(path, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist})
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, unwritable(path, err)
	}
	return &wholeFile{File: f, path: path}, nil
}

func unwritable(path string, err error) error {
	return &faults.Fault{
		Code: faults.CodeFileAccess, Status: faults.StatusUsage,
		Summary: path + ": cannot write the file", Seen: err.Error(), Wanted: "a file that may be written",
	}
}

// Close finishes the file.
func (w *wholeFile) Close() error {
	if w.path == "" {
		return w.File.Close()
	}
	err := w.Chmod(0o644)
	if cerr := w.File.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(w.Name(), w.path)
	}
	if err != nil {
		w.Abandon()
		return unwritable(w.path, err)
	}
	return nil
}

// Abandon removes an unfinished file.
func (w *wholeFile) Abandon() {
	// It may be closed already, and gone.
	_ = w.File.Close()
	if w.path != "" {
		_ = os.Remove(w.Name())
	}
}
