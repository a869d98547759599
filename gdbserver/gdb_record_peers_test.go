//go:build peers

package gdbserver_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/gdbserver"
)

// TestPeerGdbRecords writes the conversation that TestReplay replays. It is
// needed after a change of the example or of what the server answers.
func TestPeerGdbRecords(t *testing.T) {
	if os.Getenv("STEM_HW_RECORD") == "" {
		t.Skip("set STEM_HW_RECORD=1 to record the conversation again")
	}
	gdb, err := exec.LookPath("gdb-multiarch")
	if err != nil {
		t.Skip("gdb-multiarch is not installed")
	}
	var log bytes.Buffer
	srv := conversationServer(t, func(o *gdbserver.Options) {
		o.Log = &log
		o.Now = func() time.Time { return time.Time{} }
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	serving, stop := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(serving, l)
	}()
	elf, err := filepath.Abs(conversationELF)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-q", "-nx", "-batch", "-iex", "set osabi none", "-iex", "set confirm off", "-ex", "file " + elf, "-ex", "target remote " + l.Addr().String()}
	for _, cmd := range []string{
		"load", "compare-sections .text", "break main", "continue", "info threads", "backtrace", "info registers", "print/x $misa", "next", "step",
		"hbreak place_3", "continue", "finish", "x/8i $pc", "print total", "set var total = 7", "print total", "thread 2", "backtrace 1", "thread 1",
		"delete", "watch total", "continue", "continue", "delete", "break depth if n == 3", "continue", "up", "info locals", "stepi 5", "delete",
		"monitor info", "monitor nonsense", "x/4wx 0x60000000", "set var *(int*)0x40120000 = 1", "print depth(3)", "break spin", "continue",
		"set var go = 1", "delete", "continue", "info threads",
	} {
		args = append(args, "-ex", cmd)
	}
	out, err := exec.CommandContext(ctx, gdb, args...).CombinedOutput()
	stop()
	<-served
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, string(out), "matched", "Breakpoint 1, main", "hart 1", "exited with code 01")
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(conversation, log.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
