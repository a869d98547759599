package board

import (
	"errors"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// hello is the first frame of a client, and of a server.
type hello struct {
	Protocol int        `json:"protocol"`
	Version  string     `json:"version"`
	PID      int        `json:"pid"`
	Verb     string     `json:"verb,omitempty"`
	Dir      string     `json:"dir,omitempty"`
	Fault    *wireFault `json:"fault,omitempty"`
}

// op is what a request asks for.
type op string

const (
	opDescribe op = "describe"
	opStats    op = "stats"
	opHold     op = "hold"
	opRelease  op = "release"
	opLend     op = "lend"
	opRead     op = "read"
	opErase    op = "erase"
	opProgram  op = "program"
	opLoad     op = "load"
	opAdopt    op = "adopt"
	opReset    op = "reset"
	opConsole  op = "console"
	opGdb      op = "gdb"
	opStop     op = "stop"
)

// request is one request. Data is the length of the data frame behind it.
type request struct {
	Op   op     `json:"op"`
	Addr uint32 `json:"addr,omitempty"`
	N    uint32 `json:"n,omitempty"`
	Data int    `json:"data,omitempty"`

	Reset   ResetTo        `json:"reset,omitempty"`
	Adopt   *Adoption      `json:"adopt,omitempty"`
	Image   *ramImage      `json:"image,omitempty"`
	Gdb     *GdbOptions    `json:"gdb,omitempty"`
	Console *ConsoleWishes `json:"console,omitempty"`
}

// answer is the answer to one request.
type answer struct {
	Fault *wireFault    `json:"fault,omitempty"`
	Info  *Info         `json:"info,omitempty"`
	Stats *target.Stats `json:"stats,omitempty"`
	Data  int           `json:"data,omitempty"`
}

// ResetTo is what a board does after a reset.
type ResetTo string

const (
	// ResetRun starts what is in flash.
	ResetRun ResetTo = "run"
	// ResetHalt stops before the first instruction.
	ResetHalt ResetTo = "halt"
	// ResetBootsel waits for something to be loaded.
	ResetBootsel ResetTo = "bootsel"
)

// Adoption tells a board about the program that was put into its flash.
type Adoption struct {
	Program Program    `json:"program"`
	Arch    image.Arch `json:"arch"`
	// Semihosting is the folder whose files the program may use; empty is none.
	Semihosting string `json:"semihosting,omitempty"`
}

// ramImage is an image for RAM; its contents are in the data frame, one segment
// behind the other.
type ramImage struct {
	Arch     image.Arch `json:"arch"`
	Entry    uint32     `json:"entry"`
	HasEntry bool       `json:"has_entry"`
	Segments []segment  `json:"segments"`
}

type segment struct {
	Addr uint32 `json:"addr"`
	Size int    `json:"size"`
}

// GdbOptions say how gdb is served.
type GdbOptions struct {
	// RTOS is "auto", "none" or "freertos".
	RTOS string `json:"rtos"`
	// ELFPath is the name under which gdb asks for the program.
	ELFPath string `json:"elf_path,omitempty"`
	// Files is a folder that gdb's remote get and put may use; empty is none.
	Files string `json:"files,omitempty"`
	// Log logs every packet to the server's log.
	Log bool `json:"log,omitempty"`
}

// ConsoleWishes say what a console wants to see.
type ConsoleWishes struct {
	// History asks for what was printed since the last reset.
	History bool `json:"history"`
}

// Info describes a board that is served.
type Info struct {
	Name      string     `json:"name"`
	Serial    string     `json:"serial"`
	PID       int        `json:"pid"`
	Version   string     `json:"version"`
	Mode      board.Mode `json:"mode"`
	Detail    string     `json:"detail,omitempty"`
	Arch      image.Arch `json:"arch"`
	FlashSize uint32     `json:"flash_size"`
	// Used is the number of sectors of flash that are not blank.
	Used     int       `json:"used_sectors"`
	Program  *Program  `json:"program,omitempty"`
	Since    time.Time `json:"since"`
	Consoles int       `json:"consoles"`
	Gdb      bool      `json:"gdb"`
	Holder   *User     `json:"holder,omitempty"`
	// ArmOff and RISCVOff say what the fuses forbid.
	ArmOff   bool `json:"arm_off,omitempty"`
	RISCVOff bool `json:"riscv_off,omitempty"`
}

// Event is what happened to the board while a console was attached.
type Event struct {
	// Event is "reset", "running", "ended", "crashed", "halted", "bootsel",
	// "used", "back", "lost" (output was dropped) or "stopped".
	Event string `json:"event"`
	// Text says more.
	Text string `json:"text,omitempty"`
	// Code is the exit status of a program that ended.
	Code int `json:"code,omitempty"`
}

// wireFault is a fault on the wire.
type wireFault struct {
	Code    faults.Code   `json:"code"`
	Status  faults.Status `json:"status"`
	Summary string        `json:"summary"`
	Seen    string        `json:"seen,omitempty"`
	Wanted  string        `json:"wanted,omitempty"`
	Details []string      `json:"details,omitempty"`
	Try     []string      `json:"try,omitempty"`
	Cause   string        `json:"cause,omitempty"`
}

func toWire(err error) *wireFault {
	if err == nil {
		return nil
	}
	f := faults.Of(err)
	if f == nil {
		f = &faults.Fault{Code: faults.CodeTargetFailed, Status: faults.StatusTarget, Summary: "the simulated board failed", Err: err}
	}
	w := &wireFault{f.Code, f.Status, f.Summary, f.Seen, f.Wanted, f.Details, f.Try, ""}
	if f.Err != nil {
		w.Cause = f.Err.Error()
	}
	return w
}

func (w *wireFault) fault() error {
	if w == nil {
		return nil
	}
	f := &faults.Fault{Code: w.Code, Status: w.Status, Summary: w.Summary, Seen: w.Seen, Wanted: w.Wanted, Details: w.Details, Try: w.Try}
	if w.Cause != "" {
		f.Err = errors.New(w.Cause)
	}
	return f
}
