package semihost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/faults"
)

var (
	errRefused = errors.New("not a regular file below the folder")
	errQuota   = errors.New("more data than programs may write")
)

// quota is what programs may write through one Files in all.
const quota = 1 << 30

// Files is one folder whose regular files a program may use. Names are relative
// to it; links and ".." are refused, also where they would stay inside.
type Files struct {
	root *os.Root
	left int64
}

// OpenDir returns the folder dir.
func OpenDir(dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &faults.Fault{
			Code: faults.CodeFileAccess, Status: faults.StatusUsage,
			Summary: "the folder for semihosting files cannot be opened",
			Seen:    err.Error(), Wanted: "a folder", Try: []string{"mkdir -p " + dir},
		}
	}
	return &Files{root: root, left: quota}, nil
}

// Close closes the folder; files opened from it stay open.
func (f *Files) Close() error { return f.root.Close() }

// OpenFlags opens a file with flags and mode as in os.OpenFile. Only the
// access mode, O_APPEND, O_CREATE, O_EXCL and O_TRUNC count.
func (f *Files) OpenFlags(name string, flags int, perm fs.FileMode) (*File, error) {
	name, err := f.check(name)
	if err != nil {
		return nil, err
	}
	flags &= os.O_RDONLY | os.O_WRONLY | os.O_RDWR | os.O_CREATE | os.O_EXCL | os.O_TRUNC
	// Truncating waits until it is known that this is a regular file.
	file, err := f.root.OpenFile(name, flags&^os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK, perm&0o666)
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", name, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = unix.EISDIR
	} else if err == nil && !info.Mode().IsRegular() {
		err = errRefused
	}
	if err == nil && flags&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("opening %q: %w", name, err)
	}
	return &File{f: file, owner: f}, nil
}

func (f *Files) openMode(name string, m mode) (*File, error) {
	flags := os.O_RDONLY
	switch {
	case m.read && m.write:
		flags = os.O_RDWR
	case m.write:
		flags = os.O_WRONLY
	}
	if m.create {
		flags |= os.O_CREATE
	}
	if m.truncate {
		flags |= os.O_TRUNC
	}
	return f.OpenFlags(name, flags, 0o644)
}

// Remove deletes a file, never a folder.
func (f *Files) Remove(name string) error {
	name, err := f.checkFile(name)
	if err != nil {
		return err
	}
	return f.root.Remove(name)
}

// Rename renames a file. It never replaces a folder.
func (f *Files) Rename(from, to string) error {
	from, err := f.checkFile(from)
	if err != nil {
		return err
	}
	to, err = f.check(to)
	if err != nil {
		return err
	}
	if info, err := f.root.Lstat(to); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("renaming to %q: %w", to, errRefused)
	}
	// Both folders are opened through the root, so neither can be outside;
	// the last element of a name is never followed.
	fromDir, err := f.root.Open(path.Dir(from))
	if err != nil {
		return err
	}
	defer fromDir.Close()
	toDir, err := f.root.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer toDir.Close()
	err = unix.Renameat(int(fromDir.Fd()), path.Base(from), int(toDir.Fd()), path.Base(to))
	if err != nil {
		return fmt.Errorf("renaming %q: %w", from, err)
	}
	return nil
}

// checkFile is check for the name of an existing regular file.
func (f *Files) checkFile(name string) (string, error) {
	clean, err := f.check(name)
	if err != nil {
		return "", err
	}
	info, err := f.root.Lstat(clean)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%q: %w", name, errRefused)
	}
	return clean, nil
}

// check refuses names that leave the folder or pass a link, and returns the
// name in its shortest form.
func (f *Files) check(name string) (string, error) {
	refused := fmt.Errorf("%q: %w", name, errRefused)
	if name == "" || len(name) > maxName || strings.ContainsRune(name, 0) || path.IsAbs(name) {
		return "", refused
	}
	parts := strings.Split(name, "/")
	var done []string
	for _, p := range parts {
		if p == "" || p == "." {
			continue
		}
		if p == ".." {
			return "", refused
		}
		done = append(done, p)
	}
	if len(done) == 0 {
		return "", refused
	}
	for i := range done {
		info, err := f.root.Lstat(path.Join(done[:i+1]...))
		if errors.Is(err, fs.ErrNotExist) {
			break // whether it may be created is for the caller
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", refused
		}
	}
	return path.Join(done...), nil
}

// File is an open regular file.
type File struct {
	f     *os.File
	owner *Files
}

// ReadAt reads as io.ReaderAt says.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

// WriteAt writes as io.WriterAt says, up to the folder's quota. Bytes that a
// write behind the end leaves out count as written.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	grow := max(off+int64(len(p))-size, 0)
	if grow > f.owner.left {
		return 0, errQuota
	}
	n, err := f.f.WriteAt(p, off)
	f.owner.left -= grow
	return n, err
}

// Size is the present size in bytes.
func (f *File) Size() (int64, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }
