package virtual

import (
	"testing"

	"github.com/stem-hw/stem-hw/sim/rp2350"
)

func TestBoardFollowsTheChip(t *testing.T) {
	port := &Port{BusID: "1-1", Bus: 1, Number: 2}
	c := rp2350.New(rp2350.Options{Arch: riscv.Arch, Bootsel: func(*rp2350.Chip) {}})
	b := NewBoard(c, port)
	b.Poll()
	if port.Device() != nil {
		t.Error("nothing is plugged in before the ROM is there")
	}
	c.Run(1_000_000)
	b.Poll()
	if port.Device() == nil {
		t.Fatal("BOOTSEL mode should be plugged in")
	}
	lost := false
	first := port.take(func() { lost = true })
	configure(t, first)
	first.Submit(&URB{Endpoint: 3, Data: packet(cmdReboot2, 0, words(2, 1, 0, 0))})
	for range 100 {
		c.Run(c.Now() + 100_000)
		b.Poll()
		if lost {
			break
		}
	}
	if !lost {
		t.Fatal("the host should lose the device when the chip restarts")
	}
	for range 20 {
		c.Run(c.Now() + 100_000)
		b.Poll()
	}
	if d := port.Device(); d == nil || d == first {
		t.Error("BOOTSEL mode should be back, as another device")
	}
}
