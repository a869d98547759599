package image

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/faults"
)

// WriteFile writes a file whole or not at all: into a temporary file beside
// it, which takes its place only after everything was written. An older file
// survives a failure.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	fail := func(err error) error {
		if faults.Of(err) != nil {
			return err
		}
		f := &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusWrite,
			Summary: path + ": cannot write the file", Err: err}
		var pe *fs.PathError
		if errors.As(err, &pe) {
			f.Err = pe.Err
		}
		return f
	}
	mode := fs.FileMode(0o644)
	if st, err := os.Stat(path); err == nil {
		if !st.Mode().IsRegular() {
			return writeThrough(path, write, fail)
		}
		mode = st.Mode().Perm()
		// A link keeps its target.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err = write(tmp); err != nil {
		return fail(err)
	}
	if err = tmp.Chmod(mode); err != nil {
		return fail(err)
	}
	if err = tmp.Sync(); err != nil {
		return fail(err)
	}
	if err = tmp.Close(); err != nil {
		return fail(err)
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return fail(err)
	}
	return nil
}

// writeThrough writes to a device or pipe, which cannot be replaced.
func writeThrough(path string, write func(io.Writer) error, fail func(error) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fail(err)
	}
	if err := write(f); err != nil {
		f.Close()
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	return nil
}
