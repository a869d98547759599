package probe

import (
	"context"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// cores is the number of cores of an RP2350; both is the mask of all.
const (
	cores = 2
	both  = 1<<cores - 1
)

// coreState is what a core does.
type coreState struct {
	halted, sleeping, lockedUp bool
}

// engine is the pair of cores of one architecture. Masks have a bit for each
// core.
type engine interface {
	arch() image.Arch
	registers() []target.Register
	// limits are the numbers of breakpoint and watchpoint comparators of a core.
	limits() (breakpoints, watchpoints int)
	// states says what the cores do, and whether one was reset since the last
	// call of takeReset.
	states(ctx context.Context) (s [cores]coreState, reset bool, err error)
	takeReset(ctx context.Context) error
	// enable makes the halted cores stop at breakpoint instructions.
	enable(ctx context.Context) error
	halt(ctx context.Context, mask uint32) error
	resume(ctx context.Context, mask uint32) error
	step(ctx context.Context, core int) error
	// stopped says why and where a core stopped; points are those in force.
	stopped(ctx context.Context, core int) (target.Stop, error)
	register(ctx context.Context, core, num int) (uint64, error)
	setRegister(ctx context.Context, core, num int, v uint64) error
	pc(ctx context.Context, core int) (uint32, error)
	setPC(ctx context.Context, core int, pc uint32) error
	// points puts hardware points into force on both cores. running cores that
	// would have to be halted for it are left to the caller: needsHalt.
	points(ctx context.Context, ps []target.Point) error
	needsHalt() bool
	// read and write access memory as a core sees it; halted says that it is.
	read(ctx context.Context, core int, addr uint32, p []byte, halted bool) error
	write(ctx context.Context, core int, addr uint32, p []byte, halted bool) error
	// enter prepares a halted core to execute code.
	enter(ctx context.Context, core int, pc, sp uint32, args ...uint32) error
	// catchReset makes both cores stop at their reset vector.
	catchReset(ctx context.Context, on bool) error
	// resetCores resets the cores and nothing else.
	resetCores(ctx context.Context) error
	// forget drops what is known of registers: the chip was reset.
	forget()
	// release takes back what a debugger changed and lets the cores run.
	release(ctx context.Context) error
	// call says which registers carry the arguments and the result of a
	// semihosting call, and where the program goes on behind it: ok is false if
	// the core does not stand at one.
	semihosting(ctx context.Context, core int, pc uint32) (arg0, arg1 int, next uint32, ok bool)
	// crash says in words what faulted, "" if nothing did.
	crash(ctx context.Context, core int) string
	// breakpoint is the instruction of a software breakpoint of a length.
	breakpoint(length uint32) []byte
}
