package periph

import "github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"

// Identity is what the chip says of itself.
type Identity struct {
	// ChipID is SYSINFO.CHIP_ID; 0x20004927 is an RP2350 of stepping A2.
	ChipID uint32
	// QFN60 says that the package is the small one (RP2350A, on the Pico 2).
	QFN60 bool
	// GitRef is SYSINFO.GITREF_RP2350.
	GitRef uint32
}

// sysInfo is SYSINFO (datasheet 12.15.1).
type sysInfo struct {
	storage
	id Identity
}

func newSysInfo(env Env, id Identity) *sysInfo {
	return &sysInfo{newStorage("SYSINFO", env, regs.SYSINFO), id}
}

// Read returns a register.
func (s *sysInfo) Read(offset uint32, peek bool) uint32 {
	switch offset {
	case 0x00:
		return s.id.ChipID
	case 0x04:
		return bit(s.id.QFN60, 0)
	case 0x14:
		return s.id.GitRef
	}
	return s.storage.Read(offset, peek)
}

// sysCfg is SYSCFG (datasheet 12.15.2).
type sysCfg struct {
	storage
	halted [2]bool
}

func newSysCfg(env Env) *sysCfg { return &sysCfg{storage: newStorage("SYSCFG", env, regs.SYSCFG)} }

// Read returns a register.
func (s *sysCfg) Read(offset uint32, peek bool) uint32 {
	if offset == 0x00 { // PROC_CONFIG
		return bit(s.halted[0], 0) | bit(s.halted[1], 1)
	}
	return s.storage.Read(offset, peek)
}

// Write writes a register.
func (s *sysCfg) Write(offset uint32, w Write) {
	s.storage.Write(offset, w)
	switch offset {
	case 0x0c: // DBGFORCE
		if s.get(offset)&(1<<3) != 0 {
			s.unmodelled(offset, "the debug port cannot be driven by firmware")
		}
	case 0x10: // MEMPOWERDOWN
		if s.get(offset) != 0 {
			s.unmodelled(offset, "all memories stay on")
		}
	}
}

// glitchDetector is GLITCH_DETECTOR (datasheet 10.9). Nothing glitches here;
// LOCK keeps its registers from being written.
type glitchDetector struct{ storage }

func newGlitchDetector(env Env) *glitchDetector {
	return &glitchDetector{newStorage("GLITCH_DETECTOR", env, regs.GLITCHDETECTOR)}
}

// Write writes a register.
func (g *glitchDetector) Write(offset uint32, w Write) {
	if g.get(0x0c) != 0 && offset != 0x10 {
		return
	}
	if offset == 0x14 && w.Ones(15) != 0 {
		g.unmodelled(offset, "a forced glitch does not reset the chip")
	}
	g.storage.Write(offset, w)
}
