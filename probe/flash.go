package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/loader"
	"github.com/stem-hw/stem-hw/probe/rom"
	"github.com/stem-hw/stem-hw/target/flashing"
)

// Sizes of flash.
const (
	sectorSize = flashing.SectorSize
	pageSize   = flashing.PageSize
	blockSize  = 64 << 10
	blockErase = 0xd8
)

// Limits of time: the longest that a datasheet allows (W25Q32JV, 9.6), and as
// much again for a boot ROM on a slow clock.
const (
	shortCall   = 5 * time.Second
	sectorLimit = time.Second
	pageLimit   = 50 * time.Millisecond
)

// flashSession is the loader running on core 0, while both cores are held for it.
type flashSession struct {
	s  *loader.Session
	fn map[string]uint32
	// stale: XIP may show what was there before.
	stale bool
	// blank are sectors that were erased here and not programmed since.
	blank map[uint32]bool
}

// romFunctions are what flashing calls.
var romFunctions = []string{"SR", "IF", "EX", "RE", "RP", "FC", "RA", "XM"}

// machine is the chip as the loader needs it.
type machine struct{ t *Target }

// Read implements loader.Machine.
func (m machine) Read(ctx context.Context, addr uint32, p []byte) error {
	return m.t.eng.read(ctx, 0, addr, p, false)
}

// Write implements loader.Machine.
func (m machine) Write(ctx context.Context, addr uint32, p []byte) error {
	return m.t.eng.write(ctx, 0, addr, p, false)
}

// Start implements loader.Machine.
func (m machine) Start(ctx context.Context, pc, sp, arg uint32) error {
	if err := m.t.eng.enter(ctx, 0, pc, sp, arg); err != nil {
		return err
	}
	return m.t.eng.resume(ctx, 1)
}

// Stopped implements loader.Machine.
func (m machine) Stopped(ctx context.Context) (pc uint32, halted bool, err error) {
	s, _, err := m.t.eng.states(ctx)
	if err != nil || !s[0].halted {
		return 0, false, err
	}
	pc, err = m.t.eng.pc(ctx, 0)
	return pc, true, err
}

// Stop implements loader.Machine.
func (m machine) Stop(ctx context.Context) error {
	m.t.eng.forget()
	return m.t.eng.halt(ctx, both)
}

// beginFlash prepares the chip: both cores reset and halted, nothing else at
// work, the loader running, the flash in a state in which it takes commands.
func (t *Target) beginFlash(ctx context.Context) (err error) {
	if t.flash != nil {
		return nil
	}
	t.flashChanged = false
	if err := t.resetHalted(ctx, t.coreReset); err != nil {
		return err
	}
	if err := t.quiet(ctx); err != nil {
		return err
	}
	table, err := rom.Read(ctx, t.eng.arch(), func(ctx context.Context, addr uint32, p []byte) error {
		return t.eng.read(ctx, 0, addr, p, true)
	})
	if err != nil {
		return err
	}
	f := &flashSession{fn: map[string]uint32{}, blank: map[uint32]bool{}}
	names := romFunctions
	if t.eng.arch() == image.ArchRISCV {
		names = append([]string{"SS"}, names...)
	}
	for _, n := range names {
		if f.fn[n], err = table.Func(n); err != nil {
			return err
		}
	}
	if f.s, err = loader.Start(ctx, machine{t}, t.eng.arch()); err != nil {
		return err
	}
	t.flash = f
	calls := [][]uint32{{f.fn["SR"], 1}}
	if ss, ok := f.fn["SS"]; ok {
		calls = append(calls, []uint32{ss, loader.Zeros})
	}
	for _, c := range append(calls, []uint32{f.fn["IF"]}, []uint32{f.fn["EX"]}, []uint32{f.fn["RA"]}) {
		if err := f.s.Queue(ctx, shortCall, c[0], c[1:]...); err != nil {
			return err
		}
	}
	f.stale = true
	if err := f.s.Wait(ctx); err != nil {
		return err
	}
	if err := t.awaitFlash(ctx); err != nil {
		return err
	}
	return t.flashID(ctx)
}

// Registers of what is made quiet.
const (
	regAccessLock  = 0x40060000
	regAccessReset = 0x40060008
	accessDebug    = 1 << 3
)

// quiet stops whatever could disturb the loader while the cores are halted: the
// watchdog, and what writes into memory by itself. ACCESSCTRL is opened if it is
// not locked.
func (t *Target) quiet(ctx context.Context) error {
	var b [4]byte
	if err := t.eng.read(ctx, 0, regAccessLock, b[:], true); err != nil {
		return err
	}
	writes := [][2]uint32{{regWatchdog, 0}, {regResetsSet, busMasters}, {regResetsClear, busMasters}}
	if b[0]&accessDebug == 0 {
		writes = append(writes, [2]uint32{regAccessReset, 0xacce0001})
	}
	for _, w := range writes {
		if err := t.poke(ctx, w[0], w[1]); err != nil {
			return err
		}
	}
	return nil
}

// Registers and bits of QMI in direct mode (RP2350 datasheet 12.14.5).
const (
	regQMIControl = 0x400d0000
	regQMISend    = 0x400d0004
	regQMIReceive = 0x400d0008
	qmiEnable     = 1 << 0
	qmiBusy       = 1 << 1
	qmiSelect     = 1 << 2
	qmiClock      = 30 << 22
	qmiOutput     = 1 << 19
	readID        = 0x9f
	readStatus    = 0x05
	statusBusy    = 1 << 0
)

// exchange sends a command to the flash and returns it with what came back: one
// byte for the command's own, then n. The loader waits in RAM meanwhile.
func (t *Target) exchange(ctx context.Context, command byte, n int) ([]byte, error) {
	if err := t.poke(ctx, regQMIControl, qmiEnable|qmiClock); err != nil {
		return nil, err
	}
	if err := t.poke(ctx, regQMIControl, qmiEnable|qmiSelect|qmiClock); err != nil {
		return nil, err
	}
	out := make([]byte, 1+n)
	for i := range out {
		send := uint32(qmiOutput)
		if i == 0 {
			send |= uint32(command)
		}
		if err := t.poke(ctx, regQMISend, send); err != nil {
			return nil, err
		}
		var b [4]byte
		for try := 0; ; try++ {
			if err := t.eng.read(ctx, 0, regQMIControl, b[:], false); err != nil {
				return nil, err
			}
			if b[0]&qmiBusy == 0 {
				break
			}
			if try == 1000 {
				return nil, errors.New("the flash interface stays busy")
			}
		}
		if err := t.eng.read(ctx, 0, regQMIReceive, b[:], false); err != nil {
			return nil, err
		}
		out[i] = b[0]
	}
	if err := t.poke(ctx, regQMIControl, qmiEnable|qmiClock); err != nil {
		return nil, err
	}
	return out, t.poke(ctx, regQMIControl, qmiClock)
}

// awaitFlash waits for an erase that an earlier owner of the chip began: a reset
// of the chip does not stop its flash, which answers nothing but this meanwhile.
func (t *Target) awaitFlash(ctx context.Context) error {
	for end := time.Now().Add(shortCall); ; {
		b, err := t.exchange(ctx, readStatus, 1)
		if err != nil {
			return err
		}
		// Where no flash drives the line it reads as ones: flashID says so.
		if b[1]&statusBusy == 0 || b[1] == 0xff || time.Now().After(end) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// flashID asks the flash for its JEDEC identification and size.
func (t *Target) flashID(ctx context.Context) error {
	id, err := t.exchange(ctx, readID, 3)
	if err != nil {
		return err
	}
	if id[1] == 0 && id[2] == 0 || id[1] == 0xff && id[2] == 0xff {
		return &faults.Fault{
			Code: faults.CodeWriteFailed, Status: faults.StatusWrite,
			Summary: "no flash answers the chip", Seen: fmt.Sprintf("a JEDEC identification of % x", id[1:]),
			Wanted: "a flash chip on QSPI", Try: []string{"check the board", "load the program into RAM"},
		}
	}
	if size := id[3]; size >= 16 && size <= 24 {
		t.chip.FlashSize, t.chip.FlashKnown = 1<<size, true
	}
	return nil
}

// flush waits until the flash holds what was asked for, and XIP shows it.
func (t *Target) flush(ctx context.Context) error {
	f := t.flash
	if !f.stale {
		return f.s.Wait(ctx)
	}
	// 0Bh at a quarter of the system clock is within what every flash takes, and
	// three times as fast as what the ROM leaves.
	const fastRead, clockDivider = 1, 4
	if err := f.s.Queue(ctx, shortCall, f.fn["FC"]); err != nil {
		return err
	}
	if err := f.s.Queue(ctx, shortCall, f.fn["XM"], fastRead, clockDivider); err != nil {
		return err
	}
	f.stale = false
	return f.s.Wait(ctx)
}

// endFlash ends the loader, if it runs: the chip is reset, and halted.
func (t *Target) endFlash(ctx context.Context) error {
	if t.flash == nil {
		return nil
	}
	if err := t.dropFlash(ctx); err != nil {
		return err
	}
	if err := t.resetHalted(ctx, t.systemReset); err != nil {
		return err
	}
	return t.enterRAM(ctx)
}

// dropFlash ends the loader before a reset.
func (t *Target) dropFlash(ctx context.Context) error {
	f := t.flash
	if f == nil {
		return nil
	}
	if err := f.s.Wait(ctx); err != nil {
		return err
	}
	if err := f.s.Close(ctx); err != nil {
		return err
	}
	t.flash, t.run = nil, 0
	return nil
}

// errNoFlash is a range that is no flash.
func errNoFlash(addr, n, size uint32) error {
	return &faults.Fault{
		Code: faults.CodeUsage, Status: faults.StatusUsage,
		Summary: "this is no flash", Seen: fmt.Sprintf("0x%08x and %d bytes", addr, n),
		Wanted: fmt.Sprintf("a range from 0x%08x to 0x%08x", uint32(flashBase), flashBase+size),
	}
}

// inFlash checks a range.
func (t *Target) inFlash(addr, n uint32) error {
	if addr < flashBase || uint64(addr-flashBase)+uint64(n) > uint64(t.chip.FlashSize) {
		return errNoFlash(addr, n, t.chip.FlashSize)
	}
	return nil
}

// EraseFlash implements target.Flasher. It resets the cores first.
func (t *Target) EraseFlash(ctx context.Context, addr, n uint32) error {
	return t.do(ctx, func() error {
		if addr%sectorSize != 0 || n%sectorSize != 0 {
			f := faults.Usage("flash is erased in sectors of %d bytes", sectorSize)
			f.Seen = fmt.Sprintf("0x%08x and %d bytes", addr, n)
			return f
		}
		if err := t.inFlash(addr, n); err != nil || n == 0 {
			return err
		}
		if err := t.beginFlash(ctx); err != nil {
			return err
		}
		if err := t.inFlash(addr, n); err != nil {
			return err
		}
		return t.erase(ctx, addr-flashBase, n)
	})
}

// erase erases sectors by their place in flash. Whole blocks are erased at once,
// also where a part of one is blank already.
func (t *Target) erase(ctx context.Context, off, n uint32) error {
	f := t.flash
	end := off + n
	for block := off &^ (blockSize - 1); block != off; {
		if !f.blank[off-sectorSize] {
			break
		}
		off -= sectorSize
	}
	if off%blockSize != 0 {
		off = end - n // only a whole block is worth it
	}
	t.flashChanged = true
	f.stale = true
	for off < end {
		k := min(blockSize-off%blockSize, end-off)
		limit := time.Duration(k/sectorSize) * sectorLimit
		if err := f.s.Queue(ctx, limit+shortCall, f.fn["RE"], off, k, blockSize, blockErase); err != nil {
			return err
		}
		for a := off; a < off+k; a += sectorSize {
			f.blank[a] = true
		}
		off += k
	}
	return nil
}

// ProgramFlash implements target.Flasher. Programming goes on while the next
// bytes travel; what does not come to its end is told by a later call.
func (t *Target) ProgramFlash(ctx context.Context, addr uint32, p []byte) error {
	return t.do(ctx, func() error {
		if err := t.inFlash(addr, uint32(len(p))); err != nil || len(p) == 0 {
			return err
		}
		if err := t.beginFlash(ctx); err != nil {
			return err
		}
		if err := t.inFlash(addr, uint32(len(p))); err != nil {
			return err
		}
		return t.program(ctx, addr-flashBase, p)
	})
}

// program programs pages; what is missing in the first and last one is filled
// with ones, which change nothing.
func (t *Target) program(ctx context.Context, off uint32, p []byte) error {
	f := t.flash
	t.flashChanged = true
	f.stale = true
	if head := int(off % pageSize); head != 0 {
		p = append(bytes.Repeat([]byte{0xff}, head), p...)
		off -= uint32(head)
	}
	if tail := len(p) % pageSize; tail != 0 {
		p = append(p[:len(p):len(p)], bytes.Repeat([]byte{0xff}, pageSize-tail)...)
	}
	for len(p) > 0 {
		k := min(len(p), loader.BufferSize)
		limit := shortCall + time.Duration(k/pageSize)*pageLimit
		if err := f.s.QueueData(ctx, limit, f.fn["RP"], off, p[:k]); err != nil {
			return err
		}
		delete(f.blank, off&^(sectorSize-1))
		delete(f.blank, (off+uint32(k)-1)&^(sectorSize-1))
		off += uint32(k)
		p = p[k:]
	}
	return nil
}

// ReadFlash implements flashing.Device: it reads flash as it is stored, without
// disturbing a program that runs.
func (t *Target) ReadFlash(ctx context.Context, addr uint32, p []byte) error {
	return t.do(ctx, func() error {
		if err := t.inFlash(addr, uint32(len(p))); err != nil {
			return err
		}
		if t.flash != nil {
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
		return t.eng.read(ctx, 0, xipNoTranslate+addr-flashBase, p, t.flash == nil && t.run == 0)
	})
}

// MatchFlash implements flashing.Matcher: sectors are compared by their sums, on
// the chip.
func (t *Target) MatchFlash(ctx context.Context, addr uint32, want [][]byte) (same, blank []bool, err error) {
	err = t.do(ctx, func() error {
		n := uint32(len(want)) * sectorSize
		if err := t.inFlash(addr, n); err != nil {
			return err
		}
		if err := t.beginFlash(ctx); err != nil {
			return err
		}
		if err := t.inFlash(addr, n); err != nil {
			return err
		}
		if err := t.flush(ctx); err != nil {
			return err
		}
		sums, err := t.flash.s.Sums(ctx, sectorLimit, addr, len(want))
		if err != nil {
			return err
		}
		for i, s := range sums {
			same = append(same, s == loader.SumOf(want[i]))
			blank = append(blank, s == blankSum)
		}
		return nil
	})
	return same, blank, err
}

// blankSum are the sums of an erased sector.
var blankSum = loader.SumOf(bytes.Repeat([]byte{0xff}, sectorSize))

// PrepareFlash makes the chip ready for flashing and says how large its flash
// is.
func (t *Target) PrepareFlash(ctx context.Context) (size uint32, err error) {
	err = t.do(ctx, func() error {
		err := t.beginFlash(ctx)
		size = t.chip.FlashSize
		return err
	})
	return size, err
}
