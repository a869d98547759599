package gdbsync

import (
	"testing"
	"time"
)

// BenchmarkStepToCursor measures from a step typed into a person's gdb to
// Neovim's cursor being on the next line: gdb, its machine interface, the file,
// Neovim.
func BenchmarkStepToCursor(b *testing.B) {
	d := newDesk(b)
	d.edit()
	moved := make(chan struct{}, 64)
	if err := d.v.RegisterHandler("moved", func() { moved <- struct{}{} }); err != nil {
		b.Fatal(err)
	}
	if err := d.v.ExecLua(`local c = ... ; vim.api.nvim_create_autocmd('User', {pattern = 'StemMoved', callback = function() vim.rpcnotify(c, 'moved') end})`, nil, d.v.ChannelID()); err != nil {
		b.Fatal(err)
	}
	d.debug()
	d.typed("break main")
	d.typed("run")
	d.at("main.c", 5)
	for len(moved) > 0 {
		<-moved
	}
	var times []float64
	for b.Loop() {
		// Asked for over Neovim's channel: a line typed by tmux would measure
		// tmux's start.
		start := time.Now()
		d.command("StemStep")
		select {
		case <-moved:
		case <-time.After(time.Minute):
			b.Fatal("the cursor did not move")
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
	}
	b.ReportMetric(median(times), "ms/step(median)")
}

func median(v []float64) float64 {
	for i := range v {
		for k := i; k > 0 && v[k] < v[k-1]; k-- {
			v[k], v[k-1] = v[k-1], v[k]
		}
	}
	return v[len(v)/2]
}
