package ui

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Panel is a part at the top of the terminal that is drawn again and again while
// everything else scrolls below it. It uses the terminal's scrolling region
// (DECSTBM), which every terminal of today has.
type Panel struct {
	u            *UI
	height, rows int
	over         bool
}

// Panel makes a panel of a height, if standard output and standard error are a
// terminal with room for it and more lines below; else it returns nil.
func (u *UI) Panel(height, below int) *Panel {
	if !u.s.OutTTY || !u.s.ErrTTY || u.opt.JSON || u.opt.Quiet {
		return nil
	}
	rows := terminalRows()
	if rows < height+below {
		return nil
	}
	p := &Panel{u: u, height: height}
	u.mu.Lock()
	defer u.mu.Unlock()
	p.open(rows)
	return p
}

func terminalRows() int {
	_, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return rows
}

// open sets the scrolling region and goes to its top; u.mu is held.
func (p *Panel) open(rows int) {
	p.rows = rows
	p.u.toErr(fmt.Sprintf("\x1b[2J\x1b[%d;%dr\x1b[%d;1H", p.height+1, rows, p.height+1))
	p.u.openLine = false
}

// Draw shows lines, as many as there is room for. Width is cut at the terminal's
// edge.
func (p *Panel) Draw(lines []string) {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if p.over {
		return
	}
	cols, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || rows <= p.height {
		return
	}
	if rows != p.rows {
		p.open(rows)
	}
	var b strings.Builder
	b.WriteString("\x1b7")
	for i := range p.height {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K", i+1)
		if i < len(lines) {
			line := []rune(Escape(lines[i]))
			b.WriteString(string(line[:min(len(line), max(cols-1, 0))]))
		}
	}
	b.WriteString("\x1b8")
	p.u.toErr(b.String())
}

// Close gives the whole terminal back. The last picture stays.
func (p *Panel) Close() {
	p.u.mu.Lock()
	defer p.u.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	p.u.toErr("\x1b7\x1b[r\x1b8")
}
