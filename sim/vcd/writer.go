package vcd

import (
	"bufio"
	"io"
	"strconv"
)

// writer writes the format.
type writer struct {
	w    *bufio.Writer
	n    int // variables declared
	time uint64
	told bool // a time was written
	err  error
}

func newWriter(w io.Writer) *writer { return &writer{w: bufio.NewWriterSize(w, 1<<16)} }

func (w *writer) text(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

func (w *writer) scope(name string) { w.text("$scope module " + name + " $end\n") }
func (w *writer) upscope()          { w.text("$upscope $end\n") }

// variable is one declared variable with its last value.
type variable struct {
	id    string
	width int
	last  uint64
	known bool
}

// declare declares a variable of width bits.
func (w *writer) declare(name string, width int) *variable {
	v := &variable{id: identifier(w.n), width: width}
	w.n++
	ref := name
	if width > 1 {
		ref += " [" + strconv.Itoa(width-1) + ":0]"
	}
	w.text("$var wire " + strconv.Itoa(width) + " " + v.id + " " + ref + " $end\n")
	return v
}

// identifier is the short name of variable n: printable characters.
func identifier(n int) string {
	var b []byte
	for {
		b = append(b, byte('!'+n%94))
		if n /= 94; n == 0 {
			return string(b)
		}
		n--
	}
}

// at begins a time; times do not go back.
func (w *writer) at(picos uint64) {
	if w.told && picos <= w.time {
		return
	}
	w.time, w.told = picos, true
	w.text("#" + strconv.FormatUint(picos, 10) + "\n")
}

// set writes a value if it changed.
func (w *writer) set(picos uint64, v *variable, value uint64) {
	if v.known && v.last == value {
		return
	}
	v.known, v.last = true, value
	w.at(picos)
	if v.width == 1 {
		w.text(strconv.FormatUint(value&1, 2) + v.id + "\n")
		return
	}
	w.text("b" + strconv.FormatUint(value, 2) + " " + v.id + "\n")
}

// unset gives a variable no value: nothing happens there now.
func (w *writer) unset(picos uint64, v *variable) {
	if !v.known {
		return
	}
	v.known = false
	w.at(picos)
	if v.width == 1 {
		w.text("z" + v.id + "\n")
		return
	}
	w.text("bz " + v.id + "\n")
}

// close ends the file at a time.
func (w *writer) close(picos uint64) error {
	w.at(picos)
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	return w.err
}
