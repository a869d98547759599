package wiring

import (
	"math"
	"sort"
	"time"
)

// Voltage is a source at an ADC pin: a potentiometer, a waveform.
type Voltage struct {
	named
	Pin int
	// Points are the voltage over time; before the first and after the last one
	// it stays.
	Points []Point
	// Linear interpolates between the points, else the voltage steps.
	Linear bool
	// Repeat begins again after the last point.
	Repeat bool

	b *Board
}

// Point is a voltage at a time since power-up.
type Point struct {
	At    time.Duration
	Volts float64
}

// Plug implements Part.
func (v *Voltage) Plug(b *Board) error {
	if err := b.has(v, v.Pin); err != nil {
		return err
	}
	v.b = b
	return b.Analog(v, v.Pin, v.volts)
}

// volts is the voltage now.
func (v *Voltage) volts() float64 {
	if len(v.Points) == 0 {
		return 0
	}
	now := time.Duration(v.b.Picos() / picosPerNano)
	first, last := v.Points[0], v.Points[len(v.Points)-1]
	if v.Repeat && last.At > first.At && now > last.At {
		now = first.At + (now-first.At)%(last.At-first.At)
	}
	i := sort.Search(len(v.Points), func(i int) bool { return v.Points[i].At > now })
	switch {
	case i == 0:
		return first.Volts
	case i == len(v.Points) || !v.Linear:
		return v.Points[i-1].Volts
	}
	p, q := v.Points[i-1], v.Points[i]
	part := float64(now-p.At) / float64(q.At-p.At)
	return p.Volts + part*(q.Volts-p.Volts)
}

// usable reports whether a voltage is one a pin can stand.
func usable(volts float64) bool { return !math.IsNaN(volts) && volts >= 0 && volts <= 3.6 }
