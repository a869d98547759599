package session

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes the keeper the parent of every process of the session whose own
// parent ended, so that a process of a session is always known as one: Keepers
// finds its keeper above it. What ends without a parent that waits is waited for
// here.
func adopt(ctx context.Context) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	go func() {
		t := time.NewTicker(5 * time.Second)
		defer t.Stop()
		old := map[int]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			// A child of the supervisor's is waited for at once; one that is still
			// there the second time has nobody.
			dead := map[int]bool{}
			for _, pid := range zombies() {
				if old[pid] {
					_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
					continue
				}
				dead[pid] = true
			}
			old = dead
		}
	}()
	return nil
}

// zombies are the children of this process that have ended.
func zombies() (out []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			if _, state, ok := parent(pid); ok && state == 'Z' {
				out = append(out, pid)
			}
		}
	}
	return out
}

// parent is a process's parent and its state.
func parent(pid int) (ppid int, state byte, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name is in brackets and may have any characters in it.
	i := strings.LastIndexByte(string(text), ')')
	if i < 0 {
		return 0, 0, false
	}
	f := strings.Fields(string(text[i+1:]))
	if len(f) < 2 || len(f[0]) != 1 {
		return 0, 0, false
	}
	ppid, err = strconv.Atoi(f[1])
	return ppid, f[0][0], err == nil
}

// Above says whether one of some processes is above a process, or is it.
func Above(pid int, of map[int]bool) bool {
	for range 1000 {
		if of[pid] {
			return true
		}
		up, _, ok := parent(pid)
		if !ok || up <= 0 {
			return false
		}
		pid = up
	}
	return false
}

// Keepers are the processes that keep the sessions that run.
func (g *Registry) Keepers() map[int]bool {
	out := map[int]bool{}
	all, _ := g.List()
	for i := range all {
		if all[i].State == Running && all[i].Keeper > 0 {
			out[all[i].Keeper] = true
		}
	}
	return out
}
