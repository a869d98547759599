package mem

import (
	"context"
	"errors"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/swd"
)

// Registers, as offsets from the port.
const (
	regCSW = 0xd00
	regTAR = 0xd04
	regDRW = 0xd0c
	regBD0 = 0xd10
	regCFG = 0xdf4
	regIDR = 0xdfc
)

// Bits of CSW.
const (
	cswSize8  uint32 = 0
	cswSize16 uint32 = 1
	cswSize32 uint32 = 2
	cswInc    uint32 = 1 << 4
	cswPacked uint32 = 2 << 4
	cswIncAll uint32 = 3 << 4
	// DeviceEnabled and SecureEnabled say which accesses the chip allows.
	DeviceEnabled uint32 = 1 << 6
	SecureEnabled uint32 = 1 << 23
)

// Attributes of an access on the bus.
const (
	// AHB: data, privileged, debug software enabled, Secure.
	AHB uint32 = 0xa3000000
	// APB: privileged.
	APB uint32 = 0xa2000000
)

// AP is a MEM-AP.
type AP struct {
	port *swd.Port
	base uint32
	prot uint32
	// inc is the increment for words: on for memory, off for registers.
	inc    uint32
	packed bool
	// status is CSW as it was read back when the port was opened.
	status uint32

	csw, tar           uint32
	cswKnown, tarKnown bool
	chunks             Chunks
}

// Open looks at a MEM-AP. prot are the attributes, advance says whether the
// address advances from word to word.
func Open(ctx context.Context, port *swd.Port, base, prot uint32, advance bool) (*AP, error) {
	a := &AP{port: port, base: base, prot: prot, chunks: Chunks{Port: port}}
	if advance {
		a.inc = cswInc
	}
	err := port.Retry(ctx, func() error {
		v, err := port.Do(ctx, []swd.Access{
			{Addr: base + regCSW, Write: true, Value: prot | cswPacked | cswSize8}, {Addr: base + regCSW},
			{Addr: base + regCSW, Write: true, Value: prot | a.inc | cswSize32}, {Addr: base + regCSW},
		})
		if err != nil {
			return err
		}
		a.packed = v[0]&cswIncAll == cswPacked
		a.status = v[1]
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.csw, a.cswKnown = prot|a.inc|cswSize32, true
	return a, nil
}

// Status is CSW as it was when the port was opened: what the chip allows.
func (a *AP) Status() uint32 { return a.status }

// Port is the debug port the access port belongs to.
func (a *AP) Port() *swd.Port { return a.port }

// Base is the port's place among the access ports.
func (a *AP) Base() uint32 { return a.base }

// Identification reads IDR.
func (a *AP) Identification(ctx context.Context) (uint32, error) {
	return a.port.ReadAP(ctx, a.base+regIDR)
}

// Forget makes the port's registers unknown: after a reset of the chip.
func (a *AP) Forget() { a.cswKnown, a.tarKnown = false, false }

// Error is an access of memory that was refused.
type Error struct {
	Addr  uint32
	Write bool
	Err   error
}

// Error describes it.
func (e *Error) Error() string {
	verb := "read"
	if e.Write {
		verb = "write"
	}
	return fmt.Sprintf("cannot %s memory at 0x%08x: %v", verb, e.Addr, e.Err)
}

// Unwrap returns the failure of the access port.
func (e *Error) Unwrap() error { return e.Err }

// refused turns a FAULT into an *Error with the address at which it happened;
// addr is the address where the access began.
func (a *AP) refused(ctx context.Context, err error, addr uint32, write bool) error {
	a.Forget()
	var e *swd.Error
	if !errors.As(err, &e) || e.Kind != swd.Fault {
		return err
	}
	out := &Error{Addr: addr, Write: write, Err: err}
	if v, rerr := a.port.Do(ctx, []swd.Access{{Addr: a.base + regTAR}}); rerr == nil && v[0] >= addr {
		out.Addr = v[0]
	}
	return out
}

// setup are the accesses that bring CSW and TAR to what is wanted.
func (a *AP) setup(acc []swd.Access, csw, tar uint32) []swd.Access {
	csw |= a.prot
	if !a.cswKnown || a.csw != csw {
		acc = append(acc, swd.Access{Addr: a.base + regCSW, Write: true, Value: csw})
		a.csw, a.cswKnown = csw, true
	}
	if !a.tarKnown || a.tar != tar {
		acc = append(acc, swd.Access{Addr: a.base + regTAR, Write: true, Value: tar})
		a.tar, a.tarKnown = tar, true
	}
	return acc
}
