package debugport

import (
	"encoding/binary"
	"time"
)

// Identity is what a probe says of itself.
type Identity struct {
	Vendor, Product, Serial, Firmware string
	// PacketSize is the size of a packet in bytes, PacketCount how many the
	// probe can hold.
	PacketSize  int
	PacketCount int
}

// DebugProbe is the identity of Raspberry Pi's Debug Probe with its present
// firmware (raspberrypi/debugprobe v2.3.1, include/DAP_config.h).
func DebugProbe(serial string) Identity {
	return Identity{
		Vendor: "Raspberry Pi", Product: "Debug Probe (CMSIS-DAP)", Serial: serial, Firmware: "2.0.0",
		PacketSize: 64, PacketCount: 6,
	}
}

// CMSIS-DAP commands (Arm CMSIS-DAP 2.1).
const (
	dapInfo              = 0x00
	dapHostStatus        = 0x01
	dapConnect           = 0x02
	dapDisconnect        = 0x03
	dapTransferConfigure = 0x04
	dapTransfer          = 0x05
	dapTransferBlock     = 0x06
	dapTransferAbort     = 0x07
	dapWriteABORT        = 0x08
	dapDelay             = 0x09
	dapResetTarget       = 0x0a
	dapSWJPins           = 0x10
	dapSWJClock          = 0x11
	dapSWJSequence       = 0x12
	dapSWDConfigure      = 0x13
	dapJTAGSequence      = 0x14
	dapJTAGConfigure     = 0x15
	dapJTAGIDCODE        = 0x16
	dapSWOTransport      = 0x17
	dapSWOData           = 0x1c
	dapSWDSequence       = 0x1d
	dapQueueCommands     = 0x7e
	dapExecuteCommands   = 0x7f
	dapInvalid           = 0xff

	dapOK    = 0x00
	dapError = 0xff
)

// Status bits beyond the acknowledge in an answer to Transfer.
const (
	ackProtocolError uint8 = 1 << 3
	ackMismatch      uint8 = 1 << 4
)

// Probe is a CMSIS-DAP probe on a line.
type Probe struct {
	id   Identity
	line *Line
	// LEDs tells of the host's status lights: connected, running.
	LEDs [2]bool

	clock      uint32 // SWD clock in Hz
	connected  bool
	idle       int // clocks after each transfer
	waitRetry  int
	matchRetry int
	matchMask  uint32
	dataPhase  bool
	turnaround int
	pins       uint8
	micros     float64 // what the clocks so far took
	retries    int     // within the packet being executed
}

// NewProbe returns a probe on line.
func NewProbe(id Identity, line *Line) *Probe {
	return &Probe{id: id, line: line, clock: 1000000, waitRetry: 100, turnaround: 1, pins: pinClock | pinData | pinReset}
}

// Clock is the SWD clock in Hz that the host chose.
func (p *Probe) Clock() uint32 { return p.clock }

// request is a packet of the host that is taken apart; a packet that is too
// short gives zeros and sets short.
type request struct {
	b     []byte
	short bool
}

func (r *request) u8() uint8 {
	if len(r.b) < 1 {
		r.short = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *request) u16() uint16 { return uint16(r.u8()) | uint16(r.u8())<<8 }
func (r *request) u32() uint32 { return uint32(r.u16()) | uint32(r.u16())<<16 }

func (r *request) bytes(n int) []byte {
	if n > len(r.b) {
		r.short = true
		n = len(r.b)
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

// Execute answers one packet; nil means that there is no answer.
func (p *Probe) Execute(packet []byte) []byte {
	r := &request{b: packet}
	p.retries = 0
	out := p.command(r, 0)
	if len(out) > p.id.PacketSize {
		out = out[:p.id.PacketSize]
	}
	return out
}

// command executes the command at the front of r. Packets of several commands
// nest once.
func (p *Probe) command(r *request, depth int) []byte {
	id := r.u8()
	if r.short {
		return []byte{dapInvalid}
	}
	switch id {
	case dapInfo:
		return p.info(r)
	case dapHostStatus:
		which, on := r.u8(), r.u8()
		if which < 2 {
			p.LEDs[which] = on&1 != 0
		}
		return []byte{id, dapOK}
	case dapConnect:
		port := r.u8()
		if port > 1 { // 0 is the default, which is SWD; there is no JTAG
			return []byte{id, 0}
		}
		p.connected = true
		return []byte{id, 1}
	case dapDisconnect:
		p.connected = false
		return []byte{id, dapOK}
	case dapTransferConfigure:
		p.idle = int(r.u8())
		p.waitRetry, p.matchRetry = int(r.u16()), int(r.u16())
		return []byte{id, dapOK}
	case dapTransfer:
		return p.transfer(r)
	case dapTransferBlock:
		return p.transferBlock(r)
	case dapTransferAbort:
		return nil
	case dapWriteABORT:
		r.u8()
		if _, ack := p.swd(0, r.u32()); ack != AckOK {
			return []byte{id, dapError}
		}
		return []byte{id, dapOK}
	case dapDelay:
		p.sleep(time.Duration(r.u16()) * time.Microsecond)
		return []byte{id, dapOK}
	case dapResetTarget:
		return []byte{id, dapOK, 0} // no reset sequence for this chip
	case dapSWJPins:
		return []byte{id, p.swjPins(r)}
	case dapSWJClock:
		hz := r.u32()
		if hz == 0 || r.short {
			return []byte{id, dapError}
		}
		p.clock = hz
		return []byte{id, dapOK}
	case dapSWJSequence:
		n := count(r.u8(), 256)
		p.shift(r.bytes((n+7)/8), n)
		return []byte{id, dapOK}
	case dapSWDConfigure:
		v := r.u8()
		p.turnaround, p.dataPhase = int(v&3)+1, v&4 != 0
		return []byte{id, dapOK}
	case dapSWDSequence:
		return p.swdSequence(r)
	case dapJTAGConfigure:
		r.bytes(int(r.u8()))
		return []byte{id, dapError}
	case dapJTAGSequence, dapJTAGIDCODE:
		r.b = nil
		return []byte{id, dapError}
	case dapQueueCommands, dapExecuteCommands:
		if depth > 0 {
			return []byte{dapInvalid}
		}
		return p.several(id, r)
	}
	r.b = nil
	return []byte{dapInvalid}
}

// several executes the commands of one packet.
func (p *Probe) several(id uint8, r *request) []byte {
	n := r.u8()
	out := []byte{dapExecuteCommands, n} // also for queued ones, which end as a batch
	for range n {
		if len(r.b) == 0 {
			break
		}
		out = append(out, p.command(r, 1)...)
	}
	return out
}

// count is a count in which 0 stands for full.
func count(n uint8, full int) int {
	if n == 0 {
		return full
	}
	return int(n)
}

// sleep is a time that the debugger asked to wait.
func (p *Probe) sleep(d time.Duration) {
	p.micros += float64(d.Microseconds())
	p.line.dp.spend(d)
}

// info answers DAP_Info.
func (p *Probe) info(r *request) []byte {
	var v []byte
	switch r.u8() {
	case 0x01:
		v = text(p.id.Vendor)
	case 0x02:
		v = text(p.id.Product)
	case 0x03:
		v = text(p.id.Serial)
	case 0x04, 0x09:
		v = text(p.id.Firmware)
	case 0xf0:
		v = []byte{0x31} // SWD, atomic commands, test domain timer
	case 0xf1:
		v = binary.LittleEndian.AppendUint32(nil, 1000000)
	case 0xfe:
		v = []byte{uint8(p.id.PacketCount)}
	case 0xff:
		v = binary.LittleEndian.AppendUint16(nil, uint16(p.id.PacketSize))
	}
	return append([]byte{dapInfo, uint8(len(v))}, v...)
}

func text(s string) []byte { return append([]byte(s), 0) }

// Pins of DAP_SWJ_Pins.
const (
	pinClock uint8 = 1 << 0
	pinData  uint8 = 1 << 1
	pinReset uint8 = 1 << 7
)

// swjPins drives pins one by one: a rising clock is an edge on the line. The
// probe has no reset wire.
func (p *Probe) swjPins(r *request) uint8 {
	out, mask, wait := r.u8(), r.u8(), r.u32()
	was := p.pins
	p.pins = was&^mask | out&mask
	if was&pinClock == 0 && p.pins&pinClock != 0 {
		p.edge(p.pins&pinData != 0, true)
	}
	if wait > 0 {
		p.sleep(time.Duration(min(wait, 3000000)) * time.Microsecond)
	}
	return p.pins&(pinClock|pinData) | pinReset
}

// shift sends bits while the host drives.
func (p *Probe) shift(data []byte, n int) {
	for i := range min(n, 8*len(data)) {
		p.edge(data[i/8]>>(i%8)&1 != 0, true)
	}
}

// swdSequence sends and reads raw bits.
func (p *Probe) swdSequence(r *request) []byte {
	n := r.u8()
	out := []byte{dapSWDSequence, dapOK}
	for range n {
		info := r.u8()
		if r.short {
			return []byte{dapSWDSequence, dapError}
		}
		clocks := count(info&0x3f, 64)
		if info&0x80 == 0 {
			p.shift(r.bytes((clocks+7)/8), clocks)
			continue
		}
		in := make([]byte, (clocks+7)/8)
		for i := range clocks {
			level := p.line.Level()
			if level {
				in[i/8] |= 1 << (i % 8)
			}
			p.edge(level, false)
		}
		out = append(out, in...)
	}
	return out
}

// Took is how long the clocks on the wires and the waits so far took, in
// simulated time.
func (p *Probe) Took() time.Duration { return time.Duration(p.micros * float64(time.Microsecond)) }
