package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Podman starts an account's podman service and returns its address
// (unix:///…); it ends with the test.
func (u User) Podman(t testing.TB) string {
	t.Helper()
	need(t)
	socket := filepath.Join(u.Runtime(), "podman", "podman.sock")
	u.Run(t, "mkdir", "-p", filepath.Dir(socket))
	if exists(socket) {
		if err := os.Remove(socket); err != nil {
			t.Fatal(err)
		}
	}
	line := u.Line("podman", "system", "service", "--time=0", "unix://"+socket)
	cmd := exec.Command(line[0], line[1:]...)
	log, err := os.CreateTemp("", "podman")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it ends by a signal
		close(gone)
	}()
	t.Cleanup(func() {
		// runuser hands the signal on.
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-gone
		}
		log.Close()
		if t.Failed() {
			b, err := os.ReadFile(log.Name())
			t.Logf("podman system service: %s %v", b, err)
		}
	})
	Wait(t, "podman's service listens", func() bool { return exists(socket) })
	return "unix://" + socket
}

// Image makes a container image in an account's store, without a registry, out
// of programs of this machine with the libraries they need; a folder or another
// file is copied to the same place. busybox and its commands are always there.
func (u User) Image(t testing.TB, name string, programs ...string) string {
	t.Helper()
	need(t)
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	root := filepath.Join(dir, "root")
	for _, d := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "tmp", "dev", "proc", "sys", "root"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+d, filepath.Join(root, d)); err != nil {
			t.Fatal(err)
		}
	}
	accounts := "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n"
	if err := os.WriteFile(filepath.Join(root, "etc/passwd"), []byte(accounts), 0o644); err != nil { //nolint:gosec // everybody reads it
		t.Fatal(err)
	}
	for _, p := range append([]string{"/usr/bin/busybox"}, programs...) {
		path, err := exec.LookPath(p)
		if err != nil {
			path = p // a folder, or a file that is no program
		}
		copyInto(t, root, path)
	}
	// Links for the commands, but never over a program that was asked for.
	for _, applet := range strings.Fields(Run(t, "busybox", "--list")) {
		link := filepath.Join(root, "usr/bin", applet)
		if !exists(link) && !exists(filepath.Join(root, "usr/sbin", applet)) {
			if err := os.Symlink("busybox", link); err != nil {
				t.Fatal(err)
			}
		}
	}
	tar := filepath.Join(dir, "image.tar")
	Run(t, "tar", "-C", root, "--owner=0", "--group=0", "-cf", tar, ".")
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the account reads it
		t.Fatal(err)
	}
	ref := fmt.Sprintf("localhost/%s:latest", name)
	u.Run(t, "podman", "import", "--change", "CMD=[\"/bin/sh\"]", tar, ref)
	return ref
}

// copyInto copies a file or folder to the same place below root, with the
// libraries that it names.
func copyInto(t testing.TB, root, path string) {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, path)
	if exists(to) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	Run(t, "cp", "-rL", real, to)
	info, err := os.Stat(real)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		return
	}
	for _, word := range strings.Fields(Try(t, "ldd", real).Out) {
		if strings.HasPrefix(word, "/") && word != path {
			copyInto(t, root, word)
		}
	}
}
