package child

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestService(t *testing.T) {
	log, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	report, err := StartService(context.Background(), Service{
		Program: "/bin/sh", Name: "service", Env: []string{"PATH=/usr/bin:/bin"}, Log: log,
		Args: []string{"-c", "echo $$ $(pwd) >&3; exec 3>&-; echo said >&2; exec sleep 600"},
	})
	if err != nil {
		t.Fatal(err)
	}
	number, dir, _ := strings.Cut(strings.TrimSpace(string(report)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || dir != "/" {
		t.Fatalf("%q", report)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	// It lives in a session of its own.
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("session %d, %v", sid, err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if said, _ := os.ReadFile(log.Name()); string(said) == "said\n" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the log has %q", said)
		}
	}
}

func TestServiceThatNeverReports(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := StartService(ctx, Service{Program: "/bin/sh", Name: "service", Args: []string{"-c", "exec sleep 600"}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := StartService(context.Background(), Service{Program: "/nowhere", Name: "service"}); err == nil {
		t.Error("a program that does not exist was started")
	}
	// One that ends without a word has reported nothing.
	report, err := StartService(context.Background(), Service{Program: "/bin/true", Name: "service"})
	if err != nil || len(report) != 0 {
		t.Errorf("%q, %v", report, err)
	}
}
