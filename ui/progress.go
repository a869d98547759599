package ui

import (
	"fmt"
	"strings"
	"time"
)

// redrawEvery is the shortest time between two pictures of a bar.
const redrawEvery = 100 * time.Millisecond

// Progress is one phase of work: a bar on a terminal, one line elsewhere.
type Progress struct {
	u     *UI
	phase string
	total int64
	done  int64
	drawn time.Time
	live  bool // the bar is on the screen
	over  bool
	rows  *Rows // several lines in place of one
}

// Progress begins a phase of total units (bytes, sectors); 0 if unknown. The
// phase ends with Done or with the next phase. Nothing is shown with -q.
func (u *UI) Progress(phase string, total int64) *Progress {
	phase = Escape(phase)
	p := &Progress{u: u, phase: phase, total: total}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.logLines(phase)
	u.clearBar()
	u.bar = nil
	switch {
	case u.opt.Quiet:
	case u.s.ErrTTY:
		u.bar = p
		u.drawBar()
	default:
		u.toErr(phase + "\n")
	}
	return p
}

// Add says that n more units are done.
func (p *Progress) Add(n int64) { p.set(n, true) }

// Set says that n units are done in all.
func (p *Progress) Set(n int64) { p.set(n, false) }

func (p *Progress) set(n int64, add bool) {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if add {
		n += p.done
	}
	p.done = n
	if p.u.bar == p && p.u.opt.Now().Sub(p.drawn) >= redrawEvery {
		p.u.drawBar()
	}
}

// Done ends the phase and removes the bar. It may be called twice.
func (p *Progress) Done() {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	if p.u.bar == p {
		p.u.clearBar()
		p.u.bar = nil
	}
}

// clearBar removes the bar from the screen; u.mu is held.
func (u *UI) clearBar() {
	if u.bar != nil && u.bar.live {
		u.toErr("\r\x1b[K")
		if u.bar.rows != nil {
			u.toErr(strings.Repeat("\x1b[A\x1b[K", len(u.bar.rows.names)-1))
		}
		u.bar.live = false
	}
}

// drawBar draws the bar; u.mu is held.
func (u *UI) drawBar() {
	p := u.bar
	if p == nil {
		return
	}
	width := u.s.Width
	if width <= 0 {
		width = 80
	}
	lines := []string{barLine(p.phase, p.done, p.total, width-1)}
	if p.rows != nil {
		lines = p.rows.picture(width - 1)
	}
	u.toErr("\r\x1b[K" + strings.Join(lines, "\r\n"))
	p.live = true
	p.drawn = u.opt.Now()
}

// barLine is the picture of a bar in at most width columns.
func barLine(phase string, done, total int64, width int) string {
	if total <= 0 {
		return clip(fmt.Sprintf("%s  %d", phase, done), width)
	}
	done = min(max(done, 0), total)
	percent := fmt.Sprintf(" %3d %%", done*100/total)
	room := width - len([]rune(phase)) - 2 - 2 - len(percent)
	if room < 5 {
		return clip(phase+percent, width)
	}
	room = min(room, 40)
	full := int(done * int64(room) / total)
	return phase + "  [" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "]" + percent
}

func clip(s string, width int) string {
	r := []rune(s)
	if width > 0 && len(r) > width {
		r = r[:width]
	}
	return string(r)
}
