package image

import (
	"io"
	"os"
	"path/filepath"

	"github.com/stem-hw/stem-hw/faults"
)

// Batch writes several files that belong together: all take their places, or
// none does.
type Batch struct {
	files []batchFile
}

type batchFile struct {
	tmp  *os.File
	path string
}

// Create begins one file of the batch.
func (b *Batch) Create(path string) (io.Writer, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, batchFault(path, err)
	}
	b.files = append(b.files, batchFile{tmp, path})
	return tmp, nil
}

// Commit puts all files into their places.
func (b *Batch) Commit() error {
	for _, f := range b.files {
		if err := f.tmp.Chmod(0o644); err != nil {
			return batchFault(f.path, err)
		}
		if err := f.tmp.Sync(); err != nil {
			return batchFault(f.path, err)
		}
		if err := f.tmp.Close(); err != nil {
			return batchFault(f.path, err)
		}
	}
	for len(b.files) > 0 {
		f := b.files[0]
		if err := os.Rename(f.tmp.Name(), f.path); err != nil {
			return batchFault(f.path, err)
		}
		b.files = b.files[1:]
	}
	return nil
}

// Discard removes what was not committed.
func (b *Batch) Discard() {
	for _, f := range b.files {
		f.tmp.Close()
		os.Remove(f.tmp.Name())
	}
	b.files = nil
}

func batchFault(path string, err error) error {
	return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusWrite, Summary: path + ": cannot write the file", Err: err}
}
