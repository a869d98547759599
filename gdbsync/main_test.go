package gdbsync

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestMain lets the test program play what runs in the pane of gdb.
func TestMain(m *testing.M) {
	if text := os.Getenv("GDBSYNC_TEST_PANE"); text != "" {
		os.Exit(playPane(text))
	}
	os.Exit(m.Run())
}

func playPane(text string) int {
	var opt Options
	if err := json.Unmarshal([]byte(text), &opt); err != nil {
		fmt.Println(err)
		return 1
	}
	opt.In, opt.Out = os.Stdin, os.Stdout
	opt.Say = func(format string, args ...any) { fmt.Printf("\r\n[sync] "+format+"\r\n", args...) }
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	if err := Run(ctx, opt); err != nil && ctx.Err() == nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
