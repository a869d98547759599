package virtual

import (
	"fmt"
	"strconv"
	"time"
)

// FaultKind is a kind of Fault.
type FaultKind string

// The kinds of faults.
const (
	// FaultUnplug pulls the cable and with it the board's power.
	FaultUnplug FaultKind = "unplug"
	// FaultPowerLoss takes the power away in the middle of a flash operation.
	FaultPowerLoss FaultKind = "power-loss"
	// FaultStuckBit makes a bit of flash keep its value.
	FaultStuckBit FaultKind = "stuck-bit"
	// FaultStall halts an endpoint until the host clears it.
	FaultStall FaultKind = "stall"
	// FaultSlowHost delays every transfer before it begins.
	FaultSlowHost FaultKind = "slow-host"
	// FaultFullFIFO makes endpoints answer NAK, as if what is behind them were full.
	FaultFullFIFO FaultKind = "full-fifo"
	// FaultSerial gives the board another serial number when it comes back.
	FaultSerial FaultKind = "serial"
)

// Flash operations of FaultPowerLoss.
const (
	CutErase   = "erase"
	CutProgram = "program"
)

// Fault is something that goes wrong on purpose. ParseFault reads one, String
// writes it; the grammar is there.
type Fault struct {
	Kind FaultKind
	// Board is the number of the board from 1, 0 for all of them; Probe means its
	// debug probe in place of the board itself.
	Board int
	Probe bool

	// At is when it happens, in simulated time since the board was first powered.
	At time.Duration
	// Count is which one of its kind is hit, from 1: of erases or programs
	// (FaultPowerLoss), of transfers (FaultStall), of returns to the bus
	// (FaultSerial).
	Count int
	// For is how long it lasts, 0 for ever.
	For time.Duration

	// Operation is CutErase or CutProgram.
	Operation string
	// Endpoint is an address; 0 in FaultFullFIFO is every OUT endpoint.
	Endpoint uint8
	// Addr, Bit and Level are the bit that is stuck, by its address in the
	// memory map.
	Addr  uint32
	Bit   uint8
	Level bool
	// Delay is that of FaultSlowHost.
	Delay time.Duration
	// Serial is the other serial number.
	Serial string
}

// Defaults of faults that do not say.
const (
	defaultOff   = time.Second           // without power, FaultPowerLoss
	defaultDelay = 10 * time.Millisecond // FaultSlowHost
)

// Applies reports whether a fault hits a board, from 1, or its probe.
func (f Fault) Applies(board int, probe bool) bool {
	return f.Probe == probe && (f.Board == 0 || f.Board == board)
}

// String is the fault as ParseFault reads it.
func (f Fault) String() string {
	s := ""
	if f.Probe {
		s = "probe"
	}
	if f.Board > 0 {
		s += strconv.Itoa(f.Board)
	}
	if s != "" {
		s += "/"
	}
	s += string(f.Kind)
	when := ""
	switch f.Kind {
	case FaultPowerLoss:
		s += ":" + f.Operation
	case FaultStuckBit:
		level := 0
		if f.Level {
			level = 1
		}
		s += fmt.Sprintf(":%#x.%d=%d", f.Addr, f.Bit, level)
	case FaultStall:
		s += fmt.Sprintf(":%#02x", f.Endpoint)
	case FaultSlowHost:
		s += ":" + f.Delay.String()
	case FaultFullFIFO:
		if f.Endpoint != 0 {
			s += fmt.Sprintf(":%#02x", f.Endpoint)
		}
	case FaultSerial:
		s += ":" + f.Serial
	case FaultUnplug:
	}
	switch {
	case f.Count > 0:
		when = "@" + strconv.Itoa(f.Count)
	case f.At > 0:
		when = "@" + f.At.String()
	}
	if f.For > 0 {
		when += "+" + f.For.String()
	}
	return s + when
}
