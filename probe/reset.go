package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/target"
)

// Registers of resets (RP2350 datasheet 7.4, 12.9, 13.9).
const (
	regPSMWatchdog    = 0x40018008
	regResetsWatchdog = 0x40020004
	regResetsSet      = 0x40022000
	regResetsClear    = 0x40023000
	regWatchdog       = 0x400d8000
	regScratch2       = 0x400d8014
	regScratch4       = 0x400d801c
	regArchSelect     = 0x40120158

	watchdogTrigger = 1 << 31
	psmAllButCold   = 0x01fffffe // debug registers live in the processors' cold domain
	resetsAll       = 0x1fffffff
	// busMasters are DMA and USB, which write into RAM by themselves.
	busMasters = 1<<2 | 1<<28
	// bootMagic marks a way to boot in the watchdog's scratch registers.
	bootMagic uint32 = 0xb007c0d3
	bootCheck        = ^bootMagic + 1
)

// Reset implements target.Target: the whole chip except its debug logic is reset.
func (t *Target) Reset(ctx context.Context, mode target.ResetMode) error {
	return t.do(ctx, func() error {
		if err := t.dropFlash(ctx); err != nil {
			return err
		}
		if err := t.resetHalted(ctx, t.systemReset); err != nil {
			return err
		}
		if err := t.enterRAM(ctx); err != nil {
			return err
		}
		if mode == target.ResetHalt {
			return nil
		}
		return t.resume(ctx, allContinue())
	})
}

func allContinue() (as []target.Action) {
	for i := range cores {
		as = append(as, target.Action{Core: i})
	}
	return as
}

// resetTime bounds the way from a reset to its vector: clocks restart.
const resetTime = 2 * time.Second

// resetHalted resets by way of how and stops both cores before their first
// instruction, with breakpoints in force.
func (t *Target) resetHalted(ctx context.Context, how func(context.Context) error) error {
	t.touched, t.attached = true, true
	if t.rtt != nil {
		t.rtt.lost()
	}
	if err := t.eng.takeReset(ctx); err != nil {
		return err
	}
	if err := t.eng.catchReset(ctx, true); err != nil {
		return err
	}
	if err := how(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	if err := t.eng.catchReset(ctx, false); err != nil {
		return err
	}
	if err := t.eng.takeReset(ctx); err != nil {
		return err
	}
	t.eng.forget()
	// Software breakpoints lie in RAM that a reset keeps, but a program that
	// starts again overwrites them.
	if err := t.arm(ctx); err != nil {
		return err
	}
	return t.halted(ctx, target.Stop{Reason: target.StopHalt})
}

// settle waits until both cores were reset and are halted. While clocks restart
// accesses may fail.
func (t *Target) settle(ctx context.Context) error {
	end := time.Now().Add(resetTime)
	reset := false
	var last error
	for try := 0; ; try++ {
		s, now, err := t.eng.states(ctx)
		reset = reset || err == nil && now
		switch {
		case err == nil && reset && s[0].halted && s[1].halted:
			return nil
		case err == nil && !reset:
			last = errors.New("the cores are not reset")
		case err == nil:
			last = errors.New("the cores do not stop at their reset vector")
			if try > 8 && t.eng.halt(ctx, both) == nil {
				return nil // they were behind it already
			}
		case t.isLost(err) || ctx.Err() != nil:
			return err
		default:
			last = err
			t.eng.forget()
		}
		if time.Now().After(end) {
			return fmt.Errorf("after the reset: %w", last)
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// poke writes a word for the engine's own purposes.
func (t *Target) poke(ctx context.Context, addr, v uint32) error {
	return t.eng.write(ctx, 0, addr, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}, t.run == 0)
}

// systemReset resets everything but the debug logic, through the watchdog.
func (t *Target) systemReset(ctx context.Context) error {
	for _, w := range [][2]uint32{
		{regScratch4, 0}, {regPSMWatchdog, psmAllButCold}, {regResetsWatchdog, resetsAll},
	} {
		if err := t.poke(ctx, w[0], w[1]); err != nil {
			return err
		}
	}
	return t.trigger(ctx)
}

// trigger lets the watchdog bite. The bus may be gone before it answers.
func (t *Target) trigger(ctx context.Context) error {
	err := t.poke(ctx, regWatchdog, watchdogTrigger)
	t.eng.forget()
	var e *swd.Error
	if errors.As(err, &e) {
		return nil
	}
	return err
}

// coreReset resets the cores alone: clocks stay as they are.
func (t *Target) coreReset(ctx context.Context) error { return t.eng.resetCores(ctx) }

// scratchBoot writes a way to boot for the next reset: a program counter with a
// stack pointer, or bootMagic with a kind of reboot.
func (t *Target) scratchBoot(ctx context.Context, pc, sp uint32) error {
	for i, v := range []uint32{bootMagic, pc ^ bootCheck, sp, pc} {
		if err := t.poke(ctx, regScratch4+4*uint32(i), v); err != nil {
			return err
		}
	}
	return nil
}

// ResetBootsel lets the boot ROM wait for something to be loaded over USB.
func (t *Target) ResetBootsel(ctx context.Context) error {
	return t.do(ctx, func() error {
		if err := t.dropFlash(ctx); err != nil {
			return err
		}
		t.ram = nil
		for i, v := range []uint32{0, 0} { // no flags, no LED
			if err := t.poke(ctx, regScratch2+4*uint32(i), v); err != nil {
				return err
			}
		}
		const kindBootsel = 2
		if err := t.poke(ctx, regPSMWatchdog, psmAllButCold); err != nil {
			return err
		}
		if err := t.poke(ctx, regResetsWatchdog, resetsAll); err != nil {
			return err
		}
		if err := t.scratchBoot(ctx, bootMagic, kindBootsel); err != nil {
			return err
		}
		return t.runsAfter(ctx, t.trigger)
	})
}

// runsAfter resets by way of how and leaves the cores running.
func (t *Target) runsAfter(ctx context.Context, how func(context.Context) error) error {
	if t.run == 0 {
		// A core that is halted stays so over a warm reset.
		if err := t.resetHalted(ctx, how); err != nil {
			return err
		}
		return t.resume(ctx, allContinue())
	}
	if err := how(ctx); err != nil {
		return err
	}
	t.run = both
	return t.settleRunning(ctx)
}

// settleRunning waits until the chip answers again.
func (t *Target) settleRunning(ctx context.Context) error {
	end := time.Now().Add(resetTime)
	for {
		err := t.examine(ctx)
		if err == nil {
			return t.eng.takeReset(ctx)
		}
		if t.isLost(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}

// wasReset deals with a reset that nobody here asked for: the cores stop.
func (t *Target) wasReset(ctx context.Context) error {
	if err := t.examine(ctx); err != nil {
		return err
	}
	if err := t.eng.takeReset(ctx); err != nil {
		return err
	}
	if t.rtt != nil {
		t.rtt.lost()
	}
	if !t.attached {
		return nil
	}
	if err := t.eng.halt(ctx, both); err != nil {
		return err
	}
	t.eng.forget()
	if err := t.arm(ctx); err != nil {
		return err
	}
	return t.halted(ctx, target.Stop{Reason: target.StopReset})
}

// afterReset looks whether an error came from cores that are being reset, maybe
// into the other architecture. done is false if it did not.
func (t *Target) afterReset(ctx context.Context, err error) (done bool, _ error) {
	var e *swd.Error
	if !errors.As(err, &e) {
		return false, nil
	}
	end := time.Now().Add(resetTime)
	for time.Now().Before(end) {
		if rerr := t.examine(ctx); rerr == nil {
			return true, t.wasReset(ctx)
		} else if t.isLost(rerr) || ctx.Err() != nil {
			return true, rerr
		}
		if perr := pause(ctx, 2*time.Millisecond); perr != nil {
			return true, perr
		}
	}
	return false, nil
}

// Instructions that jump to themselves, for a core that is to wait in RAM.
const (
	thumbSpin = 0xe7fe
	riscvSpin = 0xa001
	spinAt    = sramBase + sramSize - 0x100
)

// SwitchArch resets the cores into an architecture and halts them at their reset
// vector. It lasts until the boot ROM finds a program for the other one, or the
// next power-up.
func (t *Target) SwitchArch(ctx context.Context, arch image.Arch) error {
	return t.do(ctx, func() error {
		if err := t.dropFlash(ctx); err != nil {
			return err
		}
		return t.switchArch(ctx, arch)
	})
}

func (t *Target) switchArch(ctx context.Context, arch image.Arch) error {
	if t.eng.arch() == arch {
		return t.resetHalted(ctx, t.systemReset)
	}
	// The debug logic of cores that are not there cannot be told to catch their
	// reset. So the boot ROM is told to go to an instruction that jumps to itself
	// first, and the next reset is caught.
	sel, spin, pc := uint32(0), uint32(thumbSpin), uint32(spinAt|1)
	if arch == image.ArchRISCV {
		sel, spin, pc = 3, riscvSpin, spinAt
	}
	if err := t.haltAll(ctx); err != nil {
		return err
	}
	if err := t.poke(ctx, spinAt, spin); err != nil {
		return err
	}
	if err := t.scratchBoot(ctx, pc, sramBase+sramSize); err != nil {
		return err
	}
	if err := t.poke(ctx, regArchSelect, sel); err != nil {
		return err
	}
	if err := t.eng.resetCores(ctx); err != nil {
		return err
	}
	t.run, t.attached = both, false
	if err := t.settleRunning(ctx); err != nil {
		return err
	}
	if t.eng.arch() != arch {
		return fmt.Errorf("the chip does not switch to %s: its fuses forbid it", arch)
	}
	return t.resetHalted(ctx, t.systemReset)
}

// Rescue resets the chip past everything that hangs, except its debug port, and
// leaves it halted in the boot ROM: the program in flash is not started.
func (t *Target) Rescue(ctx context.Context) error {
	return t.do(ctx, func() error {
		t.flash, t.ram = nil, nil
		if err := t.rescue(ctx); err != nil {
			return err
		}
		t.run, t.attached = both, false
		if err := t.settleRunning(ctx); err != nil {
			return err
		}
		return t.haltAll(ctx)
	})
}

// rescue resets the chip through the RP-AP.
func (t *Target) rescue(ctx context.Context) error {
	if t.way != nil {
		return t.way.Rescue(ctx)
	}
	return rescue(ctx, t.port)
}

// rescueRestart is the bit of the RP-AP's CTRL whose fall resets the chip.
const rescueRestart = 1 << 31

// rescue performs the reset of the RP-AP and opens the port again.
func rescue(ctx context.Context, port *swd.Port) error {
	_, err := port.Do(ctx, []swd.Access{
		{Addr: apRP, Write: true, Value: rescueRestart}, {Addr: apRP, Write: true},
	})
	if err != nil {
		return err
	}
	if err := pause(ctx, 5*time.Millisecond); err != nil {
		return err
	}
	return port.PowerUp(ctx)
}
