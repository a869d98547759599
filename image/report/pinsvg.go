package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/stem-hw/stem-hw/ui"
)

// PinsSVG is the board's outline with the program's pins, as an SVG picture.
type PinsSVG struct {
	File string `json:"file"`
	SVG  string `json:"svg"`
}

// Kind is "pins-svg".
func (*PinsSVG) Kind() string { return "pins-svg" }

// Text is the picture itself.
func (p *PinsSVG) Text(t *ui.Text) {
	for _, l := range strings.Split(strings.TrimSuffix(p.SVG, "\n"), "\n") {
		t.Linef("%s", l)
	}
}

// NewPinsSVG draws the pins of a program.
func NewPinsSVG(r *Info) *PinsSVG {
	return &PinsSVG{File: r.File, SVG: pinsSVG(titleOf(r), pinsOf(r.Program))}
}

func titleOf(r *Info) string {
	if r.Program != nil && r.Program.Name != "" {
		return r.Program.Name
	}
	return r.File
}

// pinsSVG draws to a scale of 10 units a millimetre: a Pico 2 is 21 by 51 mm
// with pins every 2.54 mm.
func pinsSVG(title string, uses map[int]string) string {
	const (
		w, top, step   = 900, 70, 25.4
		bx, bw, boardH = 345, 210, 510
	)
	off := offBoard(uses)
	h := top + boardH + 40 + 20*len(off)
	var b strings.Builder
	esc := html.EscapeString
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">`, w, h, w, h)
	p(`<title>%s</title>`, esc(title))
	p(`<rect width="%d" height="%d" fill="#ffffff"/>`, w, h)
	p(`<text x="%d" y="28" text-anchor="middle" font-size="18" font-weight="bold">%s</text>`, w/2, esc(title))
	p(`<rect x="%d" y="%d" width="%d" height="%d" rx="8" fill="#1b7340"/>`, bx, top, bw, boardH)
	p(`<rect x="%d" y="%d" width="80" height="34" rx="3" fill="#c0c0c0"/>`, bx+65, top-14)
	p(`<text x="%d" y="%d" text-anchor="middle" fill="#333333" font-size="11">USB</text>`, bx+105, top+8)
	p(`<rect x="%d" y="%d" width="70" height="70" rx="3" fill="#222222"/>`, bx+70, top+200)
	p(`<text x="%d" y="%d" text-anchor="middle" fill="#eeeeee" font-size="11">RP2350</text>`, bx+105, top+239)
	p(`<text x="%d" y="%d" text-anchor="middle" fill="#cfe8d8" font-size="12">Pico 2</text>`, bx+105, top+480)
	left, right := edge()
	for side, list := range [][]header{left, right} {
		for i, x := range list {
			y := float64(top) + 14 + step*float64(i)
			cx, tx, ux, anchor, uanchor := bx+10, bx+22, bx-10, "start", "end"
			if side == 1 {
				cx, tx, ux, anchor, uanchor = bx+bw-10, bx+bw-22, bx+bw+10, "end", "start"
			}
			fill := "#8a8a8a"
			switch {
			case x.gpio >= 0 && uses[x.gpio] != "":
				fill = "#ffb000"
			case x.gpio >= 0:
				fill = "#f4e9c1"
			}
			p(`<circle cx="%d" cy="%.1f" r="7" fill="%s" stroke="#d9b44a"/>`, cx, y, fill)
			p(`<text x="%d" y="%.1f" text-anchor="%s" fill="#ffffff" font-size="11">%s</text>`, tx, y+4, anchor, esc(x.name))
			if u := uses[x.gpio]; x.gpio >= 0 && u != "" {
				p(`<text x="%d" y="%.1f" text-anchor="%s">%s</text>`, ux, y+4, uanchor, esc(u))
			}
		}
	}
	for i, s := range off {
		p(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, w/2, top+boardH+30+20*i, esc(s))
	}
	p(`</svg>`)
	return b.String()
}
