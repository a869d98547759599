package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// windowTime is how long a window may take to end by itself once its terminal is
// gone.
const windowTime = 3 * time.Second

// reapWindows ends what runs in the windows of a session. tmux gives each of them
// a session of its own, so they are no group of the keeper's; but they say on
// their command line whose they are. Their own children end with them.
func reapWindows(ctx context.Context, f Folder) {
	if f.Instance == "" || waitFor(ctx, windowTime, func() bool { return len(windowsOf(f)) == 0 }) {
		return
	}
	for _, pid := range windowsOf(f) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	waitFor(ctx, windowTime, func() bool { return len(windowsOf(f)) == 0 })
}

// windowsOf are the processes "stem-hw session pane KIND FOLDER" of ours.
func windowsOf(f Folder) (out []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		var st syscall.Stat_t
		dir := filepath.Join("/proc", e.Name())
		if syscall.Stat(dir, &st) != nil || int(st.Uid) != os.Getuid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		argv := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if len(argv) == 5 && argv[1] == "session" && argv[2] == "pane" && strings.HasPrefix(argv[4], f.Instance+"/") {
			out = append(out, pid)
		}
	}
	return out
}

// detached is a context for cleaning up: it lives on when ctx has ended.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), 30*time.Second, errors.New("cleaning up took too long"))
}
