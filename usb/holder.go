package usb

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lock is one lock of /proc/locks on a whole open file.
type lock struct {
	pid          int
	major, minor uint32
	inode        uint64
}

// readLocks returns the locks of flock(2) that are held on this machine, by any
// account. Nobody has to open a file to see them.
func readLocks(root fs.FS) []lock { return parseLocks(read(root, "proc/locks")) }

// parseLocks reads /proc/locks (proc_locks(5)):
//
//	1: FLOCK  ADVISORY  WRITE 1234 00:06:456 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 1235 00:06:456 0 EOF      waits
func parseLocks(text string) (out []lock) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" {
			continue
		}
		id := strings.Split(f[5], ":")
		if len(id) != 3 {
			continue
		}
		major, ok1 := number(id[0], 16, 32)
		minor, ok2 := number(id[1], 16, 32)
		inode, ok3 := number(id[2], 10, 64)
		pid, err := strconv.Atoi(f[4])
		if ok1 && ok2 && ok3 && err == nil {
			out = append(out, lock{max(pid, 0), uint32(major), uint32(minor), inode})
		}
	}
	return out
}

// holder returns who has a node locked, nil if nobody has.
func (l *look) holder(n Node) *Holder {
	if n.Missing {
		return nil
	}
	for _, k := range l.locks {
		if k.inode == n.ino && k.major == unix.Major(n.dev) && k.minor == unix.Minor(n.dev) {
			return l.describe(k.pid, n.Path)
		}
	}
	return nil
}

// describe says what is known about a holder. The process and its account come
// from the kernel; what it does comes from its record, if that is its own.
func (l *look) describe(pid int, node string) *Holder {
	h := &Holder{PID: pid}
	st, err := fs.Stat(l.sys.Root, path.Join("proc", strconv.Itoa(pid)))
	if err != nil {
		return h // of another pid namespace
	}
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return h
	}
	h.User = l.user(s.Uid)
	h.Verb = l.command(pid)
	for _, dir := range recordDirs {
		name := path.Join(dir, recordName(s.Uid, node))
		st, err := fs.Stat(l.sys.Root, name)
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxRecord {
			continue
		}
		// Anybody may write into these folders: a record counts if the holder's
		// account owns it and it names the holder.
		if o, ok := st.Sys().(*syscall.Stat_t); !ok || o.Uid != s.Uid {
			continue
		}
		var r Holder
		if json.Unmarshal([]byte(read(l.sys.Root, name)), &r) == nil && r.PID == pid {
			h.Verb, h.Since = r.Verb, r.Since
			break
		}
	}
	return h
}

// command is the name of a process's program.
func (l *look) command(pid int) string {
	return strings.TrimSuffix(read(l.sys.Root, fmt.Sprintf("proc/%d/comm", pid)), "\n")
}

// recordDirs are where records of leases may be, from the root. Both can be
// written by every account, and files there only by their owner.
var recordDirs = []string{"run/lock", "tmp"}

const maxRecord = 4096

// recordName is the file of an account's lease: it depends on numbers alone.
func recordName(uid uint32, node string) string {
	var bus, num int
	_, _ = fmt.Sscanf(path.Base(path.Dir(node))+" "+path.Base(node), "%d %d", &bus, &num)
	return fmt.Sprintf("stem-hw-%d-usb-%03d-%03d.json", uid, bus, num)
}
