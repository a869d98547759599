package bootsel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
)

// driveWriter takes UF2 blocks. When Put returns they have arrived.
type driveWriter interface {
	Put(blocks []byte) error
	Close() error
}

// openDrive opens the drive: as a file of its file system if it is mounted, else
// the disk itself, else it has it mounted. how says which.
func openDrive(ctx context.Context, d usb.Drive, again func(context.Context) (usb.Device, bool, error)) (w driveWriter, how string, err error) {
	if d.Mount != "" {
		w, err = openMounted(d.Mount)
		if err == nil {
			return w, "mounted on " + d.Mount, nil
		}
	}
	var raw driveWriter
	refused := func(err error) bool { return errors.Is(err, fs.ErrPermission) }
	rerr := usb.WhenReady(ctx, "/", d.Partition, refused, func() (err error) {
		raw, err = openRaw(d.Partition)
		return err
	})
	if rerr == nil {
		return raw, "not mounted, " + d.Partition, nil
	}
	if d.Mount == "" {
		if err = mount(ctx, d.Partition); err == nil {
			if now, ok, lerr := again(ctx); lerr == nil && ok && now.Drive != nil && now.Drive.Mount != "" {
				if w, err = openMounted(now.Drive.Mount); err == nil {
					return w, "mounted on " + now.Drive.Mount, nil
				}
			}
		}
	}
	f := &faults.Fault{
		Code: faults.CodeNoAccess, Status: faults.StatusPermission,
		Summary: "the drive of the board cannot be written", Seen: d.Partition, Err: errors.Join(err, rerr),
		Wanted: "a mounted drive, or access to its disk",
		Try:    []string{"mount it: udisksctl mount -b " + d.Partition, "use the other way: --via bootsel"},
	}
	if !refused(rerr) {
		f.Code, f.Status = faults.CodeTargetFailed, faults.StatusTarget
	}
	return nil, "", f
}

// mount asks the desktop's service to mount a partition.
func mount(ctx context.Context, partition string) error {
	s, err := child.New()
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Run(ctx, child.Spec{Program: "udisksctl", Package: "udisks2", Args: []string{"mount", "--no-user-interaction", "-b", partition}}, 1<<16)
	return err
}

// mounted is a file on the drive.
type mounted struct{ f *os.File }

// fileName is what the file is called; the drive forgets it.
const fileName = "STEM_HW.UF2"

func openMounted(dir string) (driveWriter, error) {
	text, err := os.ReadFile(filepath.Join(dir, "INFO_UF2.TXT"))
	if err != nil {
		return nil, err
	}
	if err := checkInfo(string(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, fileName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	return &mounted{f}, nil
}

func (m *mounted) Put(b []byte) error {
	if _, err := m.f.Write(b); err != nil {
		return err
	}
	return unix.Fdatasync(int(m.f.Fd()))
}

func (m *mounted) Close() error { return m.f.Close() }

// raw is the partition itself. Blocks go behind its files, past the page cache: a
// boot ROM looks at every sector that is written.
type raw struct {
	f      *os.File
	buf    []byte // aligned, as direct writes want it
	at     int64
	begin  int64
	length int64
}

// rawSize is how much is written at once.
const rawSize = 64 << 10

func openRaw(partition string) (driveWriter, error) {
	look, err := os.Open(partition)
	if err != nil {
		return nil, err
	}
	defer look.Close()
	v, err := readVolume(look)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", partition, err)
	}
	text, err := v.file(look, infoFile)
	if err == nil {
		err = checkInfo(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", partition, err)
	}
	f, err := os.OpenFile(partition, os.O_WRONLY|unix.O_DIRECT|unix.O_SYNC, 0)
	if err != nil {
		return nil, err
	}
	buf, err := unix.Mmap(-1, 0, rawSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		f.Close()
		return nil, err
	}
	at := v.free()
	return &raw{f: f, buf: buf, at: at, begin: at, length: v.end - at}, nil
}

func (r *raw) Put(b []byte) error {
	for len(b) > 0 {
		n := copy(r.buf, b)
		if r.at+int64(n) > r.begin+r.length {
			return io.ErrShortWrite
		}
		if _, err := r.f.WriteAt(r.buf[:n], r.at); err != nil {
			return err
		}
		r.at += int64(n)
		b = b[n:]
	}
	return nil
}

func (r *raw) Close() error {
	return errors.Join(unix.Munmap(r.buf), r.f.Close())
}
