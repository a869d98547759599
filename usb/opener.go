package usb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// opener says which process has a device node open, as far as this account may
// see it: "process 4711 (openocd)"; "" if nobody is seen. root is where /proc is.
func opener(root, node string) string {
	dirs, err := filepath.Glob(filepath.Join(root, "proc", "[0-9]*", "fd"))
	if err != nil {
		return ""
	}
	own := strconv.Itoa(os.Getpid())
	for _, dir := range dirs {
		pid := filepath.Base(filepath.Dir(dir))
		files, err := os.ReadDir(dir)
		if err != nil || pid == own {
			continue
		}
		for _, f := range files {
			if to, err := os.Readlink(filepath.Join(dir, f.Name())); err != nil || to != node {
				continue
			}
			name, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "comm"))
			if err != nil {
				return "process " + pid
			}
			return fmt.Sprintf("process %s (%s)", pid, strings.ToValidUTF8(strings.TrimSpace(string(name)), "?"))
		}
	}
	return ""
}
