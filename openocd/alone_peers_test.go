//go:build peers

package openocd_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/child"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
	"github.com/stem-hw/stem-hw/openocd"
)

// owner is the variable that makes this program one that drives an OpenOCD until
// it is killed.
const owner = "STEM_HW_TEST_OWNER"

func TestMain(m *testing.M) {
	if address := os.Getenv(owner); address != "" {
		drive(address)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// drive says a line before each thing that it does.
func drive(address string) {
	ctx := context.Background()
	host, port, _ := strings.Cut(address, ":")
	path, err := exec.LookPath("openocd")
	if err != nil {
		return
	}
	fmt.Println("begin")
	sup, err := child.New()
	if err != nil {
		return
	}
	fmt.Println("ask")
	a, err := openocd.Ask(ctx, sup, openocd.Found{Path: path, Where: "PATH"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("connect")
	w, err := openocd.Connect(ctx, openocd.Options{
		All: []openocd.Abilities{a}, Adapter: openocd.Adapter{Kind: openocd.JTAGBitbang, Host: host, Port: port},
		Log: func(string) { fmt.Println("log") },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		fmt.Println("command")
		if _, err := w.Process().Do(ctx, "riscv dmi_read 0x11"); err != nil {
			fmt.Println(err)
			return
		}
	}
}

// marked are the processes that have a text in their environment.
func marked(t *testing.T, mark string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if env, err := os.ReadFile(f); err == nil && bytes.Contains(env, []byte(mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// TestPeerKilled: whoever drives an OpenOCD is killed at ten random moments, and
// nothing of it is left.
func TestPeerKilled(t *testing.T) {
	stock(t)
	for round := range 10 {
		address := probed.New(t, probed.Board{Arch: image.ArchRISCV}).ListenJTAG()
		mark := fmt.Sprintf("STEM_HW_TEST_MARK=%d-%d", os.Getpid(), rand.Int64())
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), owner+"="+address, mark)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		last := ""
		for range 1 + rand.IntN(60) {
			if !lines.Scan() {
				t.Fatalf("round %d: the owner ended by itself behind %q", round, last)
			}
			last = lines.Text()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		left := marked(t, mark)
		for end := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(end); left = marked(t, mark) {
			time.Sleep(10 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Errorf("round %d, killed behind %q: the processes %v are left", round, last, left)
		}
	}
}

// TestPeerReachedByNobody: an OpenOCD that runs has no socket that listens, and
// another account cannot open its Tcl port.
func TestPeerReachedByNobody(t *testing.T) {
	a := stock(t)
	address := probed.New(t, probed.Board{Arch: image.ArchRISCV}).ListenJTAG()
	w, err := openocd.Connect(t.Context(), openocd.Options{
		All: []openocd.Abilities{a}, Adapter: at(t, openocd.JTAGBitbang, address),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pid := w.Process().PID()
	sockets := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) < 3 {
		t.Fatalf("%d files are open, %v", len(fds), err)
	}
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err != nil {
			continue
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
		if st, err := os.Stat(fd); err == nil && st.Mode()&os.ModeNamedPipe != 0 && !strings.HasPrefix(to, "pipe:[") {
			t.Errorf("it has the FIFO %s open", to)
		}
	}
	if len(sockets) != 1 {
		t.Errorf("%d sockets are open, want the one to the board", len(sockets))
	}
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(data), "\n") {
			const state, inode, listening = 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listening && sockets[f[inode]] {
				t.Errorf("it listens: %s", line)
			}
		}
	}
	if os.Getuid() != 0 {
		t.Log("not root: another account cannot be tried")
		return
	}
	const nobody = 65534
	for _, script := range []string{
		fmt.Sprintf("echo shutdown > /proc/%d/fd/0", pid), fmt.Sprintf("cat /proc/%d/fd/1", pid), fmt.Sprintf("kill %d", pid),
	} {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("another account does %q: %s", script, out)
		}
	}
	if _, err := w.Process().Do(t.Context(), "version"); err != nil {
		t.Errorf("it does not run on: %v", err)
	}
}
