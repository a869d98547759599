package virtual

import "encoding/binary"

// PICOBOOT (pico-sdk, boot/picoboot.h).
const (
	picobootMagic = 0x431fd10b
	commandSize   = 32
	pageSize      = 256

	reqPicobootReset  = 0x41
	reqPicobootStatus = 0x42
)

// Commands.
const (
	cmdExclusive      = 0x01
	cmdReboot         = 0x02
	cmdFlashErase     = 0x03
	cmdRead           = 0x84
	cmdWrite          = 0x05
	cmdExitXIP        = 0x06
	cmdEnterCmdXIP    = 0x07
	cmdExec           = 0x08
	cmdVectorizeFlash = 0x09
	cmdReboot2        = 0x0a
	cmdGetInfo        = 0x8b
	cmdOTPRead        = 0x8c
	cmdOTPWrite       = 0x0d
)

// picobootStatus is the outcome of a command.
type picobootStatus uint32

const (
	pbOK              picobootStatus = 0
	pbUnknownCommand  picobootStatus = 1
	pbCommandLength   picobootStatus = 2
	pbTransferLength  picobootStatus = 3
	pbAddress         picobootStatus = 4
	pbAlignment       picobootStatus = 5
	pbInterleaved     picobootStatus = 6
	pbRebooting       picobootStatus = 7
	pbNotPermitted    picobootStatus = 10
	pbArgument        picobootStatus = 11
	pbBufferTooSmall  picobootStatus = 12
	pbUnsupportedEdit picobootStatus = 17
)

// command is the 32 bytes that begin everything.
type command struct {
	token  uint32
	id     uint8
	size   uint8
	length uint32
	args   [16]byte
}

// parseCommand reads a command packet; ok is false for the wrong length or magic.
func parseCommand(p []byte) (c command, ok bool) {
	le := binary.LittleEndian
	if len(p) != commandSize || le.Uint32(p) != picobootMagic {
		return c, false
	}
	c = command{token: le.Uint32(p[4:]), id: p[8], size: p[9], length: le.Uint32(p[12:])}
	copy(c.args[:], p[16:])
	return c, true
}

// word is an argument.
func (c *command) word(i int) uint32 { return binary.LittleEndian.Uint32(c.args[4*i:]) }

// otp are the arguments of OTP commands.
func (c *command) otp() (row, count int, ecc bool) {
	le := binary.LittleEndian
	return int(le.Uint16(c.args[:])), int(le.Uint16(c.args[2:])), c.args[4] != 0
}

// picobootPhase is what comes next on the endpoints.
type picobootPhase uint8

const (
	pbCommand  picobootPhase = iota
	pbDataOut                // the host sends data
	pbDataIn                 // the host takes data
	pbAckIn                  // the device acknowledges with an empty packet
	pbAckOut                 // the host does
	pbFinished               // halted; the host has to clear it
)

// picoboot is the PICOBOOT interface.
type picoboot struct {
	flash *flashState
	halt  func(address uint8)
	// unhalt clears the halts of both endpoints.
	unhalt func()

	phase      picobootPhase
	cmd        command
	status     picobootStatus
	inProgress bool

	buf  [pageSize]byte // the ROM's only buffer; it keeps what was in it
	fill int            // bytes in buf
	sent int            // of them taken by the host
	done uint32         // bytes of the transfer dealt with
}

// reset is a reset of the bus, a new configuration, and the request RESET.
func (p *picoboot) reset() {
	p.phase, p.cmd, p.status, p.inProgress = pbCommand, command{}, pbOK, false
	p.fill, p.sent, p.done = 0, 0, 0
	p.flash.uf2.Locked = false
}

// control answers the requests to the interface.
func (p *picoboot) control(s Setup) (reply []byte, ok bool) {
	switch {
	case s.In() && s.Request == reqPicobootStatus && s.Length == 16:
		b := make([]byte, 16)
		binary.LittleEndian.PutUint32(b, p.cmd.token)
		binary.LittleEndian.PutUint32(b[4:], uint32(p.status))
		b[8] = p.cmd.id
		if p.inProgress {
			b[9] = 1
		}
		return b, true
	case !s.In() && s.Request == reqPicobootReset:
		p.reset()
		p.unhalt()
		return nil, true
	}
	return nil, false
}

// fail ends the command: both endpoints halt.
func (p *picoboot) fail(s picobootStatus) {
	p.status, p.inProgress, p.phase = s, false, pbFinished
	p.halt(epPicobootOut)
	p.halt(epPicobootIn)
}

// cleared lets the next command come, once a halt is gone.
func (p *picoboot) cleared() {
	if p.phase == pbFinished {
		p.phase = pbCommand
	}
}

// out takes a packet.
func (p *picoboot) out(b []byte) Answer {
	switch p.phase {
	case pbCommand:
		p.begin(b)
		return Acknowledged
	case pbDataOut:
		return p.data(b)
	case pbAckOut: // empty by the book; picotool sends a byte
		p.phase = pbCommand
		return Acknowledged
	}
	return Later
}

// in gives a packet.
func (p *picoboot) in() ([]byte, Answer) {
	switch p.phase {
	case pbAckIn:
		p.phase = pbCommand
		return nil, Acknowledged
	case pbDataIn:
	default:
		return nil, Later
	}
	if p.sent == p.fill {
		n := min(pageSize, int(p.cmd.length-p.done))
		if s := p.execute(n); s != pbOK {
			p.fail(s)
			return nil, Stalled
		}
		p.fill, p.sent = n, 0
	}
	out := p.buf[p.sent:min(p.sent+packetSize, p.fill)]
	p.sent += len(out)
	if p.sent == p.fill {
		p.done += uint32(p.fill)
		if p.done == p.cmd.length {
			p.acknowledge()
		}
	}
	return out, Acknowledged
}

// data takes a packet of the data phase. The ROM acts on each page before it
// takes the next one.
func (p *picoboot) data(b []byte) Answer {
	n := min(pageSize, int(p.cmd.length-p.done))
	p.fill += copy(p.buf[p.fill:n], b)
	if p.fill < n {
		return Acknowledged
	}
	if s := p.execute(n); s != pbOK {
		p.fail(s)
		return Acknowledged
	}
	p.fill = 0
	p.done += uint32(n)
	if p.done == p.cmd.length {
		p.acknowledge()
	}
	return Acknowledged
}

// acknowledge ends a command: an empty packet against the direction of the
// command follows.
func (p *picoboot) acknowledge() {
	p.inProgress = false
	p.fill, p.sent = 0, 0
	if p.cmd.id&0x80 != 0 {
		p.phase = pbAckOut
	} else {
		p.phase = pbAckIn
	}
}
