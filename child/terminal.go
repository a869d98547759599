package child

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// takeTerminal puts the owner's group into the foreground of a terminal again.
// A background process that does so is stopped by SIGTTOU unless it ignores the
// signal.
func takeTerminal(tty *os.File) {
	if tty == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU)
	// A terminal that is gone needs no owner.
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, syscall.Getpgrp())
	signal.Reset(syscall.SIGTTOU)
}
