package board

import (
	"os"
	"strings"

	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/semihost"
)

// GdbFiles offers the folder of semihosting to gdb.
func GdbFiles(files *semihost.Files) gdbserver.Files { return gdbFiles{files} }

type gdbFiles struct{ files *semihost.Files }

// Open implements gdbserver.Files. The flags of gdb's File-I/O protocol are
// turned into those of the host (GDB manual, "Open Flags").
func (g gdbFiles) Open(name string, flags int, mode uint32) (gdbserver.File, error) {
	host := flags & 3 // O_RDONLY, O_WRONLY, O_RDWR
	for gdb, f := range map[int]int{0x8: os.O_APPEND, 0x200: os.O_CREATE, 0x400: os.O_TRUNC, 0x800: os.O_EXCL} {
		if flags&gdb != 0 {
			host |= f
		}
	}
	return g.files.OpenFlags(name, host, os.FileMode(mode&0o777))
}

// Remove implements gdbserver.Files.
func (g gdbFiles) Remove(name string) error { return g.files.Remove(name) }

// logWriter writes lines to a log.
type logWriter func(format string, args ...any)

func (l logWriter) Write(p []byte) (int, error) {
	l("%s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}
