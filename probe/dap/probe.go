package dap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Commands (CMSIS-DAP 2.1.1).
const (
	cmdInfo              = 0x00
	cmdHostStatus        = 0x01
	cmdConnect           = 0x02
	cmdDisconnect        = 0x03
	cmdTransferConfigure = 0x04
	cmdTransfer          = 0x05
	cmdTransferBlock     = 0x06
	cmdWriteAbort        = 0x08
	cmdSWJPins           = 0x10
	cmdSWJClock          = 0x11
	cmdSWJSequence       = 0x12
	cmdSWDConfigure      = 0x13
	cmdSWDSequence       = 0x1d

	statusOK = 0x00
)

// Capabilities in the answer to Info(0xf0).
const (
	CapSWD  uint8 = 1 << 0
	CapJTAG uint8 = 1 << 1
)

// Info is what a probe says of itself.
type Info struct {
	Vendor, Product, Serial string
	// Protocol is the version of CMSIS-DAP, Firmware that of the probe's own
	// program; either may be empty.
	Protocol, Firmware string
	Capabilities       uint8
	PacketSize         int
	PacketCount        int
}

// Options say how a probe is used.
type Options struct {
	// Depth is how many packets are outstanding at most; 0 is as many as the
	// probe holds.
	Depth int
	// Log, if not nil, gets a line for each packet.
	Log func(line string)
	// Timeout bounds the wait for an answer; 0 is fifteen seconds: a probe that was
	// pulled out is known at once, and a busy machine takes its time.
	Timeout time.Duration
}

// Probe is a CMSIS-DAP probe. It is used by one goroutine at a time.
type Probe struct {
	t    Transport
	o    Options
	info Info
	// broken is the error after which answers cannot be told apart any more.
	broken error
}

// defaultPacketSize is what every probe can take until it says more.
const defaultPacketSize = 64

// Open asks a probe what it is. The transport belongs to the probe from here
// on, also after an error.
func Open(ctx context.Context, t Transport, o Options) (*Probe, error) {
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	p := &Probe{t: t, o: o, info: Info{PacketSize: defaultPacketSize, PacketCount: 1}}
	if err := p.identify(ctx); err != nil {
		_ = t.Close()
		return nil, err
	}
	return p, nil
}

// identify reads the information a probe has.
func (p *Probe) identify(ctx context.Context) error {
	caps, err := p.ask(ctx, 0xf0)
	if err != nil {
		return err
	}
	if len(caps) > 0 {
		p.info.Capabilities = caps[0]
	}
	for _, s := range []struct {
		id uint8
		to *string
	}{{1, &p.info.Vendor}, {2, &p.info.Product}, {3, &p.info.Serial}, {4, &p.info.Protocol}, {9, &p.info.Firmware}} {
		v, err := p.ask(ctx, s.id)
		if err != nil {
			return err
		}
		*s.to = clean(v)
	}
	size, err := p.ask(ctx, 0xff)
	if err != nil {
		return err
	}
	count, err := p.ask(ctx, 0xfe)
	if err != nil {
		return err
	}
	if len(size) >= 2 {
		p.info.PacketSize = int(binary.LittleEndian.Uint16(size))
	}
	if len(count) >= 1 {
		p.info.PacketCount = int(count[0])
	}
	if p.info.PacketSize < defaultPacketSize || p.info.PacketSize > MaxPacket {
		return fmt.Errorf("%w: a packet size of %d bytes", ErrAnswer, p.info.PacketSize)
	}
	p.info.PacketCount = max(p.info.PacketCount, 1)
	return nil
}

// clean is a text of the probe's as it may be shown.
func clean(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}

// ask reads one piece of information.
func (p *Probe) ask(ctx context.Context, id uint8) ([]byte, error) {
	a, err := p.Command(ctx, []byte{cmdInfo, id})
	if err != nil {
		return nil, err
	}
	if len(a) < 2 || int(a[1]) > len(a)-2 {
		return nil, fmt.Errorf("%w: information %#02x of % x", ErrAnswer, id, a)
	}
	return a[2 : 2+int(a[1])], nil
}

// Info is what the probe said when it was opened.
func (p *Probe) Info() Info { return p.info }

// Depth is how many packets are outstanding at most.
func (p *Probe) Depth() int {
	if p.o.Depth > 0 {
		return min(p.o.Depth, p.info.PacketCount)
	}
	return p.info.PacketCount
}

// Close gives the probe back without a word to it.
func (p *Probe) Close() error { return p.t.Close() }

// Command sends one packet and returns its answer, which begins with the same
// byte.
func (p *Probe) Command(ctx context.Context, packet []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.send(ctx, packet); err != nil {
		return nil, err
	}
	return p.receive(ctx, packet[0])
}

// send hands a packet over. One that is half gone cannot be taken back, so only
// time ends it.
func (p *Probe) send(ctx context.Context, packet []byte) error {
	if p.broken != nil {
		return p.broken
	}
	if p.o.Log != nil {
		p.o.Log("> " + describe(packet))
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.o.Timeout)
	defer cancel()
	if err := p.t.Send(wait, packet); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the probe took no packet within %v: %w", p.o.Timeout, ErrSilent)
		}
		return p.breaks(lost(err))
	}
	return nil
}

// lost marks an error of the transport that says that the probe is gone.
func lost(err error) error {
	for _, other := range []error{ErrLost, ErrAnswer, ErrSilent, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// receive waits for an answer to command id. An answer under way is always
// waited for, also when ctx ends: the next one would be taken for it.
func (p *Probe) receive(ctx context.Context, id uint8) ([]byte, error) {
	if p.broken != nil {
		return nil, p.broken
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.o.Timeout)
	defer cancel()
	a, err := p.t.Receive(wait)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the probe did not answer within %v: %w", p.o.Timeout, ErrSilent)
		}
		return nil, p.breaks(lost(err))
	}
	if p.o.Log != nil {
		p.o.Log("< " + describeAnswer(a))
	}
	if len(a) == 0 || a[0] != id {
		return nil, p.breaks(fmt.Errorf("%w: command %#02x is answered by % x", ErrAnswer, id, a[:min(len(a), 8)]))
	}
	return a, nil
}

// ErrSilent is in the chain of an error when the probe stopped answering.
var ErrSilent = errors.New("the probe is silent")

// breaks remembers that the conversation cannot go on.
func (p *Probe) breaks(err error) error {
	if p.broken == nil {
		p.broken = err
	}
	return err
}

// simple performs a command that is answered by a status alone.
func (p *Probe) simple(ctx context.Context, what string, packet ...byte) error {
	a, err := p.Command(ctx, packet)
	if err != nil {
		return err
	}
	if len(a) < 2 {
		return p.breaks(fmt.Errorf("%w: no status for %s", ErrAnswer, what))
	}
	if a[1] != statusOK {
		return fmt.Errorf("the probe refuses %s", what)
	}
	return nil
}

// Connect takes the pins for SWD.
func (p *Probe) Connect(ctx context.Context) error {
	a, err := p.Command(ctx, []byte{cmdConnect, 1})
	if err != nil {
		return err
	}
	if len(a) < 2 || a[1] != 1 {
		return errors.New("the probe cannot do SWD")
	}
	return nil
}

// Disconnect lets go of the pins.
func (p *Probe) Disconnect(ctx context.Context) error {
	return p.simple(ctx, "to disconnect", cmdDisconnect)
}

// Lights switches the status lights: connected, and running.
func (p *Probe) Lights(ctx context.Context, on bool) error {
	v := byte(0)
	if on {
		v = 1
	}
	for which := range byte(2) {
		if err := p.simple(ctx, "a status light", cmdHostStatus, which, v); err != nil {
			return err
		}
	}
	return nil
}

// SetClock sets the clock of the wires in Hz.
func (p *Probe) SetClock(ctx context.Context, hz uint32) error {
	return p.simple(ctx, fmt.Sprintf("a clock of %d kHz", hz/1000),
		binary.LittleEndian.AppendUint32([]byte{cmdSWJClock}, hz)...)
}

// Configure sets the idle clocks behind each access and how often WAIT is tried
// again. The turnaround is one clock, and there is no data phase behind WAIT
// and FAULT.
func (p *Probe) Configure(ctx context.Context, idle uint8, retries uint16) error {
	c := binary.LittleEndian.AppendUint16([]byte{cmdTransferConfigure, idle}, retries)
	if err := p.simple(ctx, "its transfer settings", append(c, 0, 0)...); err != nil {
		return err
	}
	return p.simple(ctx, "its SWD settings", cmdSWDConfigure, 0)
}

// Sequence drives n bits, the lowest of the first byte first.
func (p *Probe) Sequence(ctx context.Context, n int, bits []byte) error {
	for n > 0 {
		part := min(n, 256)
		packet := append([]byte{cmdSWJSequence, byte(part)}, bits[:(part+7)/8]...)
		if err := p.simple(ctx, "a sequence", packet...); err != nil {
			return err
		}
		n -= part
		bits = bits[min(len(bits), 32):]
	}
	return nil
}

// Sample lets n clocks pass (at most 64) in which the host drives nothing, and
// returns what the line showed.
func (p *Probe) Sample(ctx context.Context, n int) (uint64, error) {
	a, err := p.Command(ctx, []byte{cmdSWDSequence, 1, 0x80 | byte(n&0x3f)})
	if err != nil {
		return 0, err
	}
	if len(a) < 2+(n+7)/8 || a[1] != statusOK {
		return 0, errors.New("the probe cannot sample the line")
	}
	var v uint64
	for i, b := range a[2 : 2+(n+7)/8] {
		v |= uint64(b) << (8 * i)
	}
	return v, nil
}

// SelectTarget writes TARGETSEL, which nobody acknowledges, right behind a line
// reset (multidrop SWD).
func (p *Probe) SelectTarget(ctx context.Context, target uint32) error {
	packet := []byte{cmdSWDSequence, 3, 8, 0x99, 0x80 | 5, 33}
	packet = binary.LittleEndian.AppendUint32(packet, target)
	packet = append(packet, parity(target))
	a, err := p.Command(ctx, packet)
	if err != nil {
		return err
	}
	if len(a) < 2 || a[1] != statusOK {
		return errors.New("the probe cannot select one of several chips on a wire")
	}
	return nil
}

// Abort writes ABORT, past everything that waits.
func (p *Probe) Abort(ctx context.Context, v uint32) error {
	return p.simple(ctx, "to abort", binary.LittleEndian.AppendUint32([]byte{cmdWriteAbort, 0}, v)...)
}
