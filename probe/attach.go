package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/rom"
	"github.com/stem-hw/stem-hw/probe/swd"
)

// Access ports of the chip (RP2350 datasheet 3.5.2).
const (
	apROMTable    uint32 = 0x00000
	apCore0       uint32 = 0x02000
	apCore1       uint32 = 0x04000
	apDebugModule uint32 = 0x0a000
	apRP          uint32 = 0x80000
)

// Identifications (RP2350 datasheet 3.5; raspberrypi/openocd
// tcl/target/rp2350.cfg).
const (
	dpidrRP2350  uint32 = 0x4c013477
	dpidrRP2040  uint32 = 0x0bc12477
	targetRP2350 uint32 = 0x00040927
	chipRP2350   uint32 = 0x00004927
	idMask       uint32 = 0x0fffffff
)

// Registers that are read to know a chip.
const (
	regChipID = 0x40000000
	otpData   = 0x40130000 // rows 0 to 3 are the chip's 64-bit id
)

// Chip is what is known of a chip.
type Chip struct {
	// ID is the chip's 64-bit identity as its USB serial number shows it: 16
	// hexadecimal digits.
	ID string `json:"id"`
	// Revision is the silicon: "A2".
	Revision string `json:"revision"`
	// DPIDR, TargetID and ChipID are the identifications that were read.
	DPIDR    uint32 `json:"dpidr"`
	TargetID uint32 `json:"targetid"`
	ChipID   uint32 `json:"chip_id"`
	// ROM is the version of the boot ROM.
	ROM byte `json:"rom_version"`
	// Arch is what each core executes.
	Arch [cores]image.Arch `json:"arch"`
	// FlashSize in bytes; FlashKnown is false where it is the usual one and not
	// what the chip shows.
	FlashSize  uint32 `json:"flash_size"`
	FlashKnown bool   `json:"flash_known"`
	// Dormant says that the debug port had to be woken.
	Dormant bool `json:"dormant"`
}

// errNoArch is a chip none of whose cores can be debugged.
var errNoArch = errors.New("both cores are held in reset")

// attach opens the port and finds out what there is.
func (t *Target) attach(ctx context.Context) error {
	if err := t.port.Connect(ctx); err != nil {
		return err
	}
	t.chip.DPIDR, t.chip.TargetID, t.chip.Dormant = t.port.DPIDR(), t.port.TargetID(), t.port.Woken()
	if t.chip.DPIDR == dpidrRP2040 || t.chip.TargetID != 0 && t.chip.TargetID&idMask != targetRP2350 {
		return &chipError{dpidr: t.chip.DPIDR, targetID: t.chip.TargetID}
	}
	if t.chip.TargetID == 0 && t.chip.DPIDR != dpidrRP2350 {
		return &chipError{dpidr: t.chip.DPIDR}
	}
	if t.o.Rescue {
		return t.attachRescued(ctx)
	}
	if err := t.port.PowerUp(ctx); err != nil {
		return t.unpowered(ctx, err)
	}
	return t.examineSettled(ctx)
}

// examineSettled is examine on a chip that may switch its architecture just now,
// and refuses for a moment.
func (t *Target) examineSettled(ctx context.Context) error {
	err := t.examine(ctx)
	var refused *mem.Error
	var fault *swd.Error
	for range 5 {
		if !errors.As(err, &refused) && (!errors.As(err, &fault) || fault.Kind != swd.Fault) {
			break
		}
		if perr := pause(ctx, 20*time.Millisecond); perr != nil {
			return perr
		}
		err = t.examine(ctx)
	}
	return err
}

// attachRescued resets the chip through the RP-AP, which needs neither power nor
// clocks, and halts it in the boot ROM.
func (t *Target) attachRescued(ctx context.Context) error {
	if err := t.rescue(ctx); err != nil {
		return t.unpowered(ctx, err)
	}
	t.run, t.attached = both, false
	end := time.Now().Add(resetTime)
	for {
		err := t.examine(ctx)
		if err == nil {
			break
		}
		if t.isLost(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
	return t.haltAll(ctx)
}

// unpowered adds what the RP-AP, which needs no power, says of the chip's.
func (t *Target) unpowered(ctx context.Context, err error) error {
	var pe *swd.PowerError
	if t.way != nil || !errors.As(err, &pe) {
		return err
	}
	e := &powerError{err: pe}
	for i, off := range []uint32{0x8, 0xc, 0x10, 0x14} {
		v, rerr := t.port.ReadAP(ctx, apRP+off)
		if rerr != nil {
			return e
		}
		e.states[i] = v
	}
	e.known = true
	return e
}

// examine finds out which architecture the cores have and opens them. It is done
// again after resets that may have changed it.
func (t *Target) examine(ctx context.Context) error {
	if t.way != nil {
		return t.examineWay(ctx)
	}
	var present [cores]bool
	err := t.port.Retry(ctx, func() error {
		v, err := t.port.Do(ctx, []swd.Access{{Addr: apROMTable}, {Addr: apROMTable + 4}})
		if err == nil {
			present = [cores]bool{v[0]&1 != 0, v[1]&1 != 0}
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, arm := range present {
		t.chip.Arch[i] = image.ArchRISCV
		if arm {
			t.chip.Arch[i] = image.ArchARM
		}
	}
	if present[0] != present[1] {
		return &mixedError{t.chip.Arch}
	}
	if present[0] {
		t.eng, err = openArm(ctx, t.port, t.o.CatchFaults)
	} else {
		t.eng, err = openRISCV(ctx, t.port)
	}
	if err != nil {
		return err
	}
	return t.know(ctx)
}

// examineWay is examine by another way.
func (t *Target) examineWay(ctx context.Context) error {
	c, arch, err := t.way.Examine(ctx)
	if err != nil {
		return err
	}
	t.eng, t.chip.Arch, t.chip.DPIDR = wayCores{c}, arch, t.way.DPIDR()
	if arch[0] != arch[1] {
		return &mixedError{arch}
	}
	return t.know(ctx)
}

// know reads the chip's identity.
func (t *Target) know(ctx context.Context) error {
	var b [8]byte
	if err := t.eng.read(ctx, 0, regChipID, b[:4], false); err != nil {
		return err
	}
	t.chip.ChipID = binary.LittleEndian.Uint32(b[:])
	if t.chip.ChipID&idMask != chipRP2350 {
		return &chipError{dpidr: t.chip.DPIDR, targetID: t.chip.TargetID, chipID: t.chip.ChipID}
	}
	t.chip.Revision = revision(t.chip.ChipID >> 28)
	table, err := rom.Read(ctx, t.eng.arch(), func(ctx context.Context, addr uint32, p []byte) error {
		return t.eng.read(ctx, 0, addr, p, false)
	})
	if err != nil {
		return err
	}
	t.chip.ROM = table.Version
	if err := t.eng.read(ctx, 0, otpData, b[:], false); err == nil {
		t.chip.ID = fmt.Sprintf("%016X", binary.LittleEndian.Uint64(b[:]))
	}
	if !t.chip.FlashKnown {
		t.guessFlash(ctx)
	}
	return nil
}

// revision names the silicon (RP2350 datasheet, appendix C).
func revision(r uint32) string {
	switch r {
	case 0:
		return "A0"
	case 2:
		return "A2"
	case 3:
		return "A3"
	case 8:
		return "A4"
	}
	return fmt.Sprintf("unknown (%d)", r)
}

// usualFlash is the flash of a Pico 2.
const usualFlash = 4 << 20

// guessFlash finds the size of the flash by where its contents appear again,
// without disturbing a program that runs from it. Blank flash shows nothing.
func (t *Target) guessFlash(ctx context.Context) {
	t.chip.FlashSize = usualFlash
	const sample = 64
	first := make([]byte, sample)
	if t.eng.read(ctx, 0, xipNoTranslate, first, false) != nil || bytes.Count(first, first[:1]) == sample {
		return
	}
	for size := uint32(1 << 20); size <= 8<<20; size *= 2 {
		again := make([]byte, sample)
		if t.eng.read(ctx, 0, xipNoTranslate+size, again, false) != nil {
			return
		}
		if bytes.Equal(first, again) {
			t.chip.FlashSize, t.chip.FlashKnown = size, true
			return
		}
	}
}

// checkLock says whether an access port allows what debugging needs.
func checkLock(status uint32) error {
	switch {
	case status&mem.DeviceEnabled == 0:
		return errLocked
	case status&mem.SecureEnabled == 0:
		return errSecureLocked
	}
	return nil
}

var (
	errLocked       = errors.New("debugging is disabled in the chip's fuses")
	errSecureLocked = errors.New("access to Secure memory is disabled in the chip's fuses")
)
