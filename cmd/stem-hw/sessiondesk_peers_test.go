//go:build peers

package main

import (
	"os/exec"
	"strings"
)

func (d *sessionDesk) typed(runtime, window, line string) {
	d.t.Helper()
	for _, args := range [][]string{{"-l", "--", line}, {"Enter"}} {
		if out, err := exec.Command("tmux", append([]string{"-S", runtime + "/t.sock", "send-keys", "-t", "stem:" + window}, args...)...).CombinedOutput(); err != nil {
			d.t.Fatalf("tmux: %v\n%s", err, out)
		}
	}
}

func (d *sessionDesk) screen(runtime, window string) string {
	out, _ := exec.Command("tmux", "-S", runtime+"/t.sock", "capture-pane", "-p", "-t", "stem:"+window).Output()
	return strings.TrimSpace(string(out))
}

// left are the processes that still have something to do with the desk.
func (d *sessionDesk) left() (out []string) {
	lines, _ := exec.Command("ps", "-eo", "pid,args").Output()
	for _, l := range strings.Split(string(lines), "\n") {
		if strings.Contains(l, d.dir+"/") && !strings.Contains(l, "ps -eo") {
			out = append(out, l)
		}
	}
	return out
}
