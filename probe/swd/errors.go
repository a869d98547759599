package swd

import "fmt"

// Kind is the kind of failure of an access.
type Kind uint8

const (
	// Fault: the access port or what is behind it refused.
	Fault Kind = iota
	// Wait: it never finished.
	Wait
	// Parity: data arrived spoilt, here or there.
	Parity
	// Silent: nobody acknowledged.
	Silent
)

// Bits of CTRL/STAT.
const (
	StickyOverrun uint32 = 1 << 1
	StickyCompare uint32 = 1 << 4
	StickyError   uint32 = 1 << 5
	WriteError    uint32 = 1 << 7
	powerRequest  uint32 = 1<<28 | 1<<30
	PowerAck      uint32 = 1<<29 | 1<<31
	resetRequest  uint32 = 1 << 26
	resetAck      uint32 = 1 << 27
)

// Error is an access that failed.
type Error struct {
	Kind Kind
	// Addr is the register of the access port, Write whether it was written.
	Addr  uint32
	Write bool
	// Stat is CTRL/STAT after it, if it could be read.
	Stat uint32
	// Done is how many accesses before it were certainly performed.
	Done int
}

// Error describes the failure.
func (e *Error) Error() string {
	verb := "reading"
	if e.Write {
		verb = "writing"
	}
	var why string
	switch e.Kind {
	case Fault:
		why = fmt.Sprintf("FAULT (CTRL/STAT 0x%08x)", e.Stat)
	case Wait:
		why = "WAIT, without end"
	case Parity:
		why = "wrong parity"
	case Silent:
		why = "no acknowledge"
	}
	return fmt.Sprintf("%s register 0x%05x of the access ports: %s", verb, e.Addr, why)
}

// Transient reports whether trying again may help.
func (e *Error) Transient() bool { return e.Kind != Fault }

// Line is what the line shows when nobody answers.
type Line uint8

const (
	// LineUnknown: the probe cannot look at it.
	LineUnknown Line = iota
	// LineHigh: the pull-up holds it.
	LineHigh
	// LineLow: something holds it down.
	LineLow
	// LineNoisy: it follows whatever is near.
	LineNoisy
)

// NoAnswerError says that no debug port answered.
type NoAnswerError struct {
	// Line is what the line showed meanwhile.
	Line Line
	// Clock is the slowest clock that was tried, in Hz.
	Clock uint32
	// Garbled says that something answered, and never twice the same.
	Garbled bool
}

// Error describes it.
func (e *NoAnswerError) Error() string {
	what := map[Line]string{
		LineUnknown: "nobody answers", LineHigh: "nobody answers, and the line stays high",
		LineLow: "nobody answers, and the line stays low", LineNoisy: "nobody answers, and the line carries noise",
	}[e.Line]
	if e.Garbled {
		what = "what answers is different each time"
	}
	return fmt.Sprintf("%s, down to %d kHz", what, e.Clock/1000)
}

// PowerError says that the debug domain was not powered.
type PowerError struct{ Stat uint32 }

// Error describes it.
func (e *PowerError) Error() string {
	return fmt.Sprintf("the debug power request is not acknowledged (CTRL/STAT 0x%08x)", e.Stat)
}
