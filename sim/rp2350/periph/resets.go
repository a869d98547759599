package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// The bits of RESETS.RESET (datasheet 7.5.3).
const (
	ResetADC = iota
	ResetBUSCTRL
	ResetDMA
	ResetHSTX
	ResetI2C0
	ResetI2C1
	ResetIOBank0
	ResetIOQSPI
	ResetJTAG
	ResetPadsBank0
	ResetPadsQSPI
	ResetPIO0
	ResetPIO1
	ResetPIO2
	ResetPLLSys
	ResetPLLUSB
	ResetPWM
	ResetSHA256
	ResetSPI0
	ResetSPI1
	ResetSYSCFG
	ResetSYSINFO
	ResetTBMAN
	ResetTIMER0
	ResetTIMER1
	ResetTRNG
	ResetUART0
	ResetUART1
	ResetUSBCTRL
	numResets
)

const (
	resetsReset = 0x0
	resetsWDSEL = 0x4
	resetsDone  = 0x8
	allResets   = 1<<numResets - 1
)

// Resets is the RESETS block (datasheet 7.5). Blocks come out of reset at once.
type Resets struct {
	storage
	sys System
}

func newResets(env Env, sys System) *Resets {
	return &Resets{newStorage("RESETS", env, regs.RESETS), sys}
}

// Reset holds every block in reset.
func (r *Resets) Reset() {
	r.storage.Reset()
	r.sys.HoldBlocks(r.Held())
}

// Held are the blocks held in reset.
func (r *Resets) Held() uint32 { return r.get(resetsReset) }

// WatchdogSelected are the blocks that the watchdog resets.
func (r *Resets) WatchdogSelected() uint32 { return r.get(resetsWDSEL) }

// watchdog resets the selected blocks.
func (r *Resets) watchdog() {
	r.set(resetsReset, r.Held()|r.WatchdogSelected())
	r.sys.HoldBlocks(r.Held())
}

// Read returns a register.
func (r *Resets) Read(offset uint32, peek bool) uint32 {
	if offset == resetsDone {
		return ^r.Held() & allResets
	}
	return r.storage.Read(offset, peek)
}

// Write writes a register.
func (r *Resets) Write(offset uint32, w Write) {
	old := r.Held()
	r.storage.Write(offset, w)
	if r.Held() != old {
		r.sys.HoldBlocks(r.Held())
	}
}
