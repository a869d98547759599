package rp2350

import (
	"fmt"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/target"
)

// Describe implements machine.Machine.
func (c *Chip) Describe() target.Description {
	d := target.Description{
		Name: "rp2350", Simulated: true, Arch: c.opt.Arch,
		Memory: []target.Region{
			{Name: "boot ROM", Kind: target.RegionROM, Base: 0, Size: romSize},
			{Name: "flash", Kind: target.RegionFlash, Base: xipBase, Size: c.flash.Size(), Sector: nor.SectorSize},
			{Name: "XIP SRAM", Kind: target.RegionRAM, Base: xipSRAMBase, Size: cacheSize},
			{Name: "flash, uncached", Kind: target.RegionROM, Base: xipNoCache, Size: c.flash.Size()},
			{Name: "flash, untranslated", Kind: target.RegionROM, Base: xipNoTranslate, Size: c.flash.Size()},
			{Name: "SRAM", Kind: target.RegionRAM, Base: sramBase, Size: sramSize},
			{Name: "APB", Kind: target.RegionIO, Base: apbBase, Size: apbSlots << 15},
			{Name: "AHB", Kind: target.RegionIO, Base: ahbBase, Size: ahbSlots << 16},
			{Name: "SIO", Kind: target.RegionIO, Base: sioBase, Size: 0x40000},
		},
		Breakpoints: -1, Watchpoints: -1,
		Registers: c.nodes[0].cpu.Registers(),
	}
	word := "hart"
	if c.opt.Arch == image.ArchARM {
		word = "core"
		d.Memory = append(d.Memory, target.Region{Name: "PPB", Kind: target.RegionIO, Base: ppbBase, Size: 0x100000})
	}
	for i := range c.nodes {
		d.Cores = append(d.Cores, target.Core{ID: i, Name: fmt.Sprintf("%s %d", word, i)})
	}
	return d
}

// Peek implements machine.Machine. Registers are read without side effects.
func (c *Chip) Peek(core int, addr uint32, p []byte) int {
	c.accessCore = core & 1
	o := periph.Origin{Core: c.accessCore, Privileged: true}
	done := 0
	if inSRAM(addr) { // the quick way; what is behind it goes the slow one
		done = copy(p, c.sram[addr-sramBase:])
	}
	for i := done; i < len(p); i++ {
		a := addr + uint32(i)
		if a < addr {
			return i
		}
		v, _, ok := c.load(c.nodes[core&1], a, 1, o, true)
		if !ok {
			return i
		}
		p[i] = byte(v)
	}
	return len(p)
}

// Poke implements machine.Machine. Registers take whole words, where the range
// covers them.
func (c *Chip) Poke(core int, addr uint32, p []byte, force bool) int {
	c.accessCore = core & 1
	n := c.nodes[core&1]
	o := periph.Origin{Core: c.accessCore, Privileged: true}
	for i := 0; i < len(p); {
		a := addr + uint32(i)
		if a < addr {
			return i
		}
		if c.isXIP(a) {
			if !c.pokeXIP(a, p[i], force) {
				return i
			}
			i++
			continue
		}
		if a < romSize {
			return i
		}
		size := uint8(1)
		if a&3 == 0 && len(p)-i >= 4 {
			size = 4
		}
		var v uint32
		for k := range size {
			v |= uint32(p[i+int(k)]) << (8 * k)
		}
		if inSRAM(a) {
			c.pokeRAM(a, p[i:i+int(size)])
		} else if _, ok := c.store(n, a, size, v, o); !ok {
			return i
		}
		i += int(size)
	}
	return len(p)
}

func (c *Chip) isXIP(a uint32) bool { return a >= xipBase && a < xipEnd }

// pokeXIP writes a byte behind an XIP window: a pinned line always, flash only
// by force.
func (c *Chip) pokeXIP(a uint32, b byte, force bool) bool {
	off := a & xipWindowMask
	if a < xipNoCache {
		if line, hit := c.xip.lookup(off); hit {
			c.xip.data[line+off&7] = b
			c.invalidate(a, a+1)
			return true
		}
	}
	if !force || off >= xipCSSize || a >= xipMaintenance && a < xipNoTranslate {
		return false
	}
	phys, ok := off, true
	if a < xipMaintenance {
		phys, ok = c.qmi.translate(off)
	}
	if !ok || phys >= c.flash.Size() {
		return false
	}
	c.flash.Load(phys, []byte{b})
	return true
}

// outsideWrite tells that something other than a core wrote n bytes of SRAM.
func (c *Chip) outsideWrite(addr, n uint32) {
	first := (addr - sramBase) / bus.LineSize
	last := (addr - sramBase + max(n, 1) - 1) / bus.LineSize
	for i := first; i <= last && i < uint32(len(c.flags)); i++ {
		if f := c.flags[i]; f != 0 {
			c.LineStored(noCore, sramBase+i*bus.LineSize, 1, f)
		}
	}
}

// noCore is the hart number of writes that no core made.
const noCore = -1
