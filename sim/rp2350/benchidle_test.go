//go:build unix

package rp2350

import (
	"slices"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// bareBus is a machine of nothing but memory windows.
type bareBus struct{ bus.Bus }

func (bareBus) Ready(uint64) bool { return true }

// bareCore is a core alone with RAM, without a chip around it.
func bareCore(p *asm) *hazard3.Core {
	mem := make([]byte, sramSize)
	copy(mem, p.bytes())
	c := hazard3.New(hazard3.Silicon(hazard3.A2), 0, bareBus{}, nil)
	c.Map([]bus.Window{{Base: sramBase, Mem: mem, Flags: make([]uint8, sramSize/bus.LineSize), Writable: true, Executable: true}})
	c.SetPC(sramBase)
	return c
}

// BenchmarkIdlePeripherals compares a core alone with the same core inside the
// chip with every peripheral out of reset and none at work: the median, over
// pairs run in turns, of what the chip adds to the processor time.
func BenchmarkIdlePeripherals(b *testing.B) {
	r := newRig(&testing.T{}, Options{})
	r.program(work())
	r.Run(50)
	bare := bareCore(work())
	const slice = 20_000_000
	var extra []float64
	var chipTime time.Duration
	i0 := r.Cores()[0].Instret()
	for range max(b.N, 5) {
		t0 := cpuTime()
		bare.Run(bare.Cycle + slice)
		t1 := cpuTime()
		r.Run(r.Now() + slice)
		t2 := cpuTime()
		chipTime += t2 - t1
		extra = append(extra, 100*(float64(t2-t1)/float64(t1-t0)-1))
	}
	slices.Sort(extra)
	b.ReportMetric(extra[len(extra)/2], "%-slower")
	b.ReportMetric(float64(r.Cores()[0].Instret()-i0)/1e6/chipTime.Seconds(), "MIPS")
}

// pioProgram starts two machines of PIO0 and a DMA channel that feeds the first
// for ever: it shifts a word out on a pin at div cycles a bit, the other one
// toggles a pin at the same rate.
func startPIOAndDMA(r *rig, div uint32) {
	const pio, dma = 0x50200000, 0x50000000
	w := func(a, v uint32) { r.store32(0, a, v) }
	for i, in := range []uint32{0x6001, 0xe001, 0xe000} { // out pins, 1; set pins, 1; set pins, 0
		w(pio+0x48+4*uint32(i), in)
	}
	w(pio+0xc8, div<<16)
	w(pio+0xcc, 0)                  // wraps at 0
	w(pio+0xd0, 1<<17|1<<19)        // autopull at 32, to the right
	w(pio+0xdc, 1<<20|2)            // OUT: GPIO2
	w(pio+0xe0, div<<16)            // machine 1
	w(pio+0xe4, 2<<12|1<<7)         // 1 to 2
	w(pio+0xf4, 1<<26|3<<5)         // SET: GPIO3
	w(pio+0xf0, 1)                  // jmp 1
	w(0x40028004+8*2, 6)            // both pins to PIO0
	w(0x40028004+8*3, 6)            //
	w(dma+0x00, sramBase+0x4000)    // read
	w(dma+0x04, pio+0x10)           // TXF0
	w(dma+0x08, 0xf0000001)         // endless
	w(dma+0x0c, 1|2<<2|0<<13|0<<17) // words, DREQ of TXF0
	w(pio, 3)
}

// BenchmarkPIOAndDMA reports how many million instructions per second remain for
// a core while two PIO machines and a DMA channel run: at 1 MHz as buses do, and
// at every cycle.
func BenchmarkPIOAndDMA(b *testing.B) {
	for _, bm := range []struct {
		name string
		div  uint32
	}{{"1MHz", 150}, {"10MHz", 15}, {"every-cycle", 1}} {
		b.Run(bm.name, func(b *testing.B) {
			r := newRig(&testing.T{}, Options{})
			r.program(work())
			r.Run(50)
			r.store32(0, regResetsClear, 0x1fffffff)
			startPIOAndDMA(r, bm.div)
			before, i0, c0 := cpuTime(), r.Cores()[0].Instret(), r.Now()
			b.ResetTimer()
			for range b.N {
				r.Run(r.Now() + 1_000_000)
			}
			d := (cpuTime() - before).Seconds()
			b.ReportMetric(float64(r.Cores()[0].Instret()-i0)/1e6/d, "MIPS")
			b.ReportMetric(float64(r.Now()-c0)/150e6/d, "x-real-time")
		})
	}
}
