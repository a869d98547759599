//go:build linux

package main

import (
	"regexp"
	"strings"
)

// kernelMark separates what the check found from the kernel's log.
const kernelMark = "=== log ==="

// kernelCheck prints what a device that is gone may have left: a port that is
// still taken, a task that waits for ever, a controller that cannot be unloaded
// because somebody holds a device or a transfer. Then it prints the log.
const kernelCheck = `
dir=/sys/devices/platform/vhci_hcd.0
taken() { awk '$1 == "hs" && $3 != "004"' $dir/status*; }
n=0
while [ -n "$(taken)" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
if [ -n "$(taken)" ]; then echo "ports that are still taken:"; taken; fi
udevadm settle -t 30 || echo "udev has not settled"
stuck() { ps -eo stat=,pid=,wchan=,comm= | awk '$1 ~ /^D/'; }
n=0
while [ -n "$(stuck)" ] && [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done
if [ -n "$(stuck)" ]; then echo "tasks that wait for ever:"; stuck; fi
if ! modprobe -r vhci_hcd 2>/tmp/unload; then echo "vhci_hcd cannot be unloaded:"; cat /tmp/unload; fi
modprobe vhci_hcd
udevadm settle -t 30
echo "` + kernelMark + `"
dmesg
`

// trouble is what a healthy kernel does not say.
var trouble = regexp.MustCompile(`\bWARNING:|\bBUG\b|\bOops\b|general protection fault|blocked for more than|` +
	`Call Trace:|KASAN|UBSAN|refcount_t|use-after-free|[Kk]ernel panic|rcu.*detected stall|soft lockup|` +
	`[Uu]nable to handle|list_(add|del) corruption|vhci_hcd.*(unknown|cannot find|bad header)|unexpected pdu`)

// complaints returns the lines of the log that tell of trouble, each with what
// follows it.
func complaints(lines []string) string {
	const after = 30
	var out []string
	until := -1
	for i, l := range lines {
		if trouble.MatchString(l) {
			until = i + after
			if !strings.Contains(l, "Call Trace") && !strings.Contains(l, "WARNING") && !strings.Contains(l, "BUG") {
				until = i + 3
			}
		}
		if i <= until {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
