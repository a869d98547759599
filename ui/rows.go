package ui

import "strings"

// Rows are several bars that are drawn below one another, one for each of what
// is worked on at the same time.
type Rows struct {
	u     *UI
	names []string
	lines []Progress
	over  []bool
	width int // of the longest name
}

// Rows begins bars with a name each. On a terminal there is a line for each name;
// elsewhere, and with -q, there is nil, on which every method may be called.
func (u *UI) Rows(names []string) *Rows {
	if !u.s.ErrTTY || u.opt.Quiet || len(names) == 0 {
		return nil
	}
	r := &Rows{u: u, names: make([]string, len(names)), lines: make([]Progress, len(names)), over: make([]bool, len(names))}
	for i, n := range names {
		r.names[i] = Escape(n)
		r.width = max(r.width, len([]rune(r.names[i])))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clearBar()
	u.bar = &Progress{u: u, rows: r}
	u.drawBar()
	return r
}

// Set says what row i does and how much of it is done, both in the same units;
// total is 0 if unknown.
func (r *Rows) Set(i int, phase string, done, total int) {
	if r == nil {
		return
	}
	u := r.u
	u.mu.Lock()
	defer u.mu.Unlock()
	p := &r.lines[i]
	fresh := p.phase != phase
	p.phase, p.done, p.total = phase, int64(done), int64(total)
	if r.shown() && (fresh || u.opt.Now().Sub(u.bar.drawn) >= redrawEvery) {
		u.clearBar()
		u.drawBar()
	}
}

// End says that row i is at its end, and how it ended, in a few words.
func (r *Rows) End(i int, how string) {
	if r == nil {
		return
	}
	u := r.u
	u.mu.Lock()
	defer u.mu.Unlock()
	r.lines[i] = Progress{phase: Escape(how)}
	r.over[i] = true
	if r.shown() {
		u.clearBar()
		u.drawBar()
	}
}

// Close removes all rows.
func (r *Rows) Close() {
	if r == nil {
		return
	}
	r.u.mu.Lock()
	defer r.u.mu.Unlock()
	if r.shown() {
		r.u.clearBar()
		r.u.bar = nil
	}
}

// shown reports whether the rows are what stands at the end of the terminal; u.mu
// is held.
func (r *Rows) shown() bool { return r.u.bar != nil && r.u.bar.rows == r }

// picture is the lines in at most width columns each.
func (r *Rows) picture(width int) []string {
	out := make([]string, len(r.names))
	for i, n := range r.names {
		n += strings.Repeat(" ", r.width-len([]rune(n))) + "  "
		p := r.lines[i]
		switch {
		case p.phase == "":
			out[i] = clip(n+"waiting", width)
		case r.over[i]:
			out[i] = clip(n+p.phase, width)
		default:
			out[i] = barLine(n+p.phase, p.done, p.total, width)
		}
	}
	return out
}
