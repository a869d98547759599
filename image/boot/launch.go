package boot

import "encoding/binary"

// launchFlash prepares an image in flash: trial flag, rolling, then the rest.
// It leaves Outcome empty and Reason filled if the image cannot be started.
func (r *run) launchFlash(half int, l *Loop) {
	b := l.Image
	d := r.d
	d.Image, d.Check = b, b.verify
	d.Rolled, d.ATRANS, d.EraseOther = false, [4]uint32{}, 0
	if b.Roll < 0 && uint32(b.Roll)<<10 != 0 {
		d.Reason = "its rolling window is negative and not a multiple of 4 MiB"
		return
	}
	isUpdate := r.opt.HasUpdate && r.opt.UpdateBase-FlashBase == l.FlashOffset
	if isUpdate {
		d.EraseOther = r.erase
	} else if b.TBYB {
		d.Reason = "it is marked try-before-you-buy, which is only started right after it was written"
		return
	}
	roll := int32(l.FlashOffset) + b.Roll
	if roll != 0 {
		if roll&(SectorSize-1) != 0 {
			d.Reason = "its rolling window is not a multiple of 4 KiB"
			return
		}
		d.Rolled = true
		at := roll / SectorSize
		size := int32((b.Window.Size - b.slotRoll) / SectorSize)
		for i := range d.ATRANS {
			if at < 0 {
				at += 0x400
				continue
			}
			n := min(size, 0x400)
			d.ATRANS[i] = uint32(n)<<16 | uint32(at)
			size -= n
			at += n
		}
	}
	r.launch(half, l)
	if d.Outcome == OutcomeBoot && isUpdate && b.TBYB {
		d.TBYB, d.TBYBAddr = true, b.Window.Base+b.Offset+4
	}
}

// launch verifies an image and works out how it is entered.
func (r *run) launch(half int, l *Loop) {
	b, d := l.Image, r.d
	d.Image = b
	r.verifyLoop(half, l)
	d.Check = b.verify
	if !b.ok() {
		d.Reason = b.verify.Reason
		return
	}
	if b.CPU() == Arm && b.Type.Security() == 1 {
		d.Reason = "it is a non-secure Arm image, which the boot ROM never starts itself"
		return
	}
	base := b.Window.Base
	if base>>24 == FlashBase>>24 {
		base = FlashBase - uint32(b.Roll)
	}
	e := Entry{PC: b.PC, SP: b.SP, SPLimit: b.SPLimit, VTOR: b.VTOR}
	if e.VTOR == 0 {
		e.VTOR = base
	}
	// The ROM asks whether the entry is 0, not whether there is one.
	if e.PC == 0 {
		e.SPLimit = 0
		if b.Type.CPU() == int(RISCV) {
			e.PC, e.SP = base, InvalidSP
		} else {
			e.SP, e.PC = r.vectors(b, e.VTOR)
		}
	}
	if b.CPU() > RISCV {
		d.Reason = "it is for a CPU that the chip does not have"
		return
	}
	if b.CPU() != r.cpu {
		switch {
		case r.opt.OTP.NoArchSwitch:
			d.Reason = "it is for " + b.CPU().String() + ", and this chip's fuses forbid to switch the CPU"
		case !r.opt.cpuAllowed(b.CPU()):
			d.Reason = "it is for " + b.CPU().String() + ", which this chip's fuses disable"
		default:
			d.Outcome = OutcomeSwitch
			d.Reason = "the image is for " + b.CPU().String() + ", so the chip restarts with that CPU"
			r.step("The image at 0x%08x is for %s, but %s is running: the chip restarts with the other CPU.", b.Addr, b.CPU(), r.cpu)
		}
		return
	}
	d.Outcome, d.Entry = OutcomeBoot, e
	d.Reason = "the image is started on " + r.cpu.String()
	for _, op := range b.verify.Loads {
		if op.Copies() {
			d.Loads = append(d.Loads, op)
		}
		d.PinXIPSRAM = d.PinXIPSRAM || isXIPSRAM(op.To)
	}
	if len(d.Loads) > 0 {
		r.diag(half, DiagLoadMap)
		r.step("The load map copies or clears %d areas.", len(d.Loads))
	}
	if d.Rolled {
		r.step("Flash is shifted so that storage address 0x%08x appears at 0x%08x.", FlashBase+l.FlashOffset, base)
	}
	r.step("The image definition at 0x%08x is used: entry 0x%08x, stack 0x%08x.", b.Addr, e.PC, e.SP)
	r.diag(half, DiagLaunched)
}

// vectors reads stack pointer and entry from a vector table, as it is once
// the load map is done and flash is rolled.
func (r *run) vectors(b *Block, vtor uint32) (sp, pc uint32) {
	var buf [8]byte
	r.readRuntime(b, vtor, buf[:])
	return binary.LittleEndian.Uint32(buf[:]), binary.LittleEndian.Uint32(buf[4:])
}

// readRuntime reads what a run-time address will hold at the entry.
func (r *run) readRuntime(b *Block, addr uint32, p []byte) {
	for i := 0; i < len(p); i += 4 {
		a := addr + uint32(i)
		storage := a
		if a >= FlashBase && a < CS1Base && r.d.Rolled {
			at := r.d.ATRANS[(a-FlashBase)>>22]
			off := (a - FlashBase) & (1<<22 - 1)
			if off>>12 >= at>>16 {
				continue // beyond the window: the access would fault
			}
			storage = FlashBase + (at&0xfff)<<12 + off
		}
		r.readAfter(b.verify.Loads, p[i:min(i+4, len(p))], storage)
	}
}

// FindInWindow decides what a chip boots from a window that was asked for: a
// RAM image, or a part of flash an image chains to. Partition tables are not
// looked for.
func FindInWindow(m Memory, w Window, o Options) *Decision {
	r := newRun(m, o, true)
	r.noTables, r.diagOn = true, true
	d := r.d
	d.Table = emptyTable(&o)
	d.Outcome = OutcomeBootsel
	last := w.Base + w.Size
	if w.Size != 0 {
		last--
	}
	inXIP := isXIP(w.Base) && isXIP(last)
	inRAM := isRAM(w.Base) && isRAM(last)
	if o.OTP.NoRAMBoot && inRAM {
		d.Reason = "this chip's fuses forbid to boot from RAM"
		return d
	}
	if last < w.Base || w.Base>>25 != last>>25 || !(inXIP || inRAM) {
		d.Reason = "the area to boot from is not in RAM or flash"
		return d
	}
	r.diag(0, DiagSearched)
	l := r.search(w, 0, w.Size)
	d.Slots = []*Loop{l}
	switch {
	case l.Hang:
		d.Outcome, d.Reason = OutcomeHang, "the boot ROM never finishes: "+l.Problem
		return d
	case !l.Valid:
		d.Reason = "nothing to boot: " + l.Problem
		if l.Broken {
			r.diag(0, DiagBadLoop)
		}
		return d
	}
	r.diag(0, DiagGoodLoop)
	if l.Image == nil {
		d.Reason = "nothing to boot: there is no image definition"
		return d
	}
	r.diag(0, DiagImageDef)
	d.Outcome, d.Place = "", PlaceWindow
	if w.Base < CS1Base {
		r.launchFlash(0, l)
	} else {
		r.launch(0, l)
	}
	if d.Outcome == "" {
		r.diag(0, DiagConditions)
		d.Outcome = OutcomeBootsel
	}
	return d
}
