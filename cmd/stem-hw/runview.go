package main

import (
	"context"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/outline"
	"github.com/stem-hw/stem-hw/sim/wiring"
)

// runPart is what something connected to the board did.
type runPart struct {
	runEvent
	Part    string  `json:"part"`
	Remark  string  `json:"text"`
	Seconds float64 `json:"seconds"`
}

// Kind is "run-part".
func (runPart) Kind() string { return "run-part" }

// report tells what a part did; it is called on the simulation's goroutine.
func (in *inside) report(r wiring.Report) {
	in.lines.put(r.Part, r.Text)
	if in.a.ui.JSON() {
		in.s.lines.flush(false)
		in.s.event(runPart{Part: r.Part, Remark: r.Text, Seconds: r.At.Seconds()})
		return
	}
	in.a.ui.Say("%10.6f s  %s: %s", r.At.Seconds(), r.Part, r.Text)
}

// runPins are the pins at the end of a run.
type runPins struct {
	runEvent
	Seconds float64  `json:"seconds"`
	Pins    []runPin `json:"pins"`
}

type runPin struct {
	GPIO     int    `json:"gpio"`
	Level    int    `json:"level"`
	Driven   bool   `json:"driven"`
	Function string `json:"function,omitempty"`
}

// Kind is "run-pins".
func (runPins) Kind() string { return "run-pins" }

// viewEvery is the time between two pictures of the pins.
const viewEvery = 50 * time.Millisecond

// linesBelow is the least room for what the program prints.
const linesBelow = 5

// view shows the pins while the program runs, until stop is called, which shows
// them a last time. Without a terminal that is the only time.
func (in *inside) view(ctx context.Context, t *sim.Target) (stop func()) {
	if !in.f.gpio {
		return func() {}
	}
	draw := outline.Pins.Board
	panel := in.a.ui.Panel(outline.Height, linesBelow)
	if panel == nil {
		draw = outline.Pins.Strip
		panel = in.a.ui.Panel(2, linesBelow)
	}
	look := func(ctx context.Context) (p outline.Pins, ok bool) {
		err := t.Do(ctx, func(machine.Machine) { p = outline.Look(in.chip) })
		p.Parts = in.lines.list()
		return p, err == nil
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if panel != nil {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tick := time.NewTicker(viewEvery)
			defer tick.Stop()
			for {
				if p, ok := look(ctx); ok {
					panel.Draw(draw(p))
				}
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		}()
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			wg.Wait()
			p, ok := look(context.Background())
			switch {
			case panel != nil:
				if ok {
					panel.Draw(draw(p))
				}
				panel.Close()
			case ok:
				in.lastPins(p)
			}
		})
	}
}

// lastPins shows the pins at the end where there is no panel.
func (in *inside) lastPins(p outline.Pins) {
	if in.a.ui.JSON() {
		e := runPins{Seconds: p.Seconds}
		for i := range in.chip.Peripherals().GPIOs() {
			e.Pins = append(e.Pins, runPin{
				GPIO: i, Level: int(p.Levels >> i & 1), Driven: p.Driven>>i&1 != 0, Function: p.Functions[i],
			})
		}
		in.s.event(e)
		return
	}
	for _, l := range p.Board() {
		in.a.ui.Say("%s", l)
	}
}
