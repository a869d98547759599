package snapshot

import (
	"bytes"
	"fmt"
)

// Diff names the first place where the states of two graphs differ, "" if they
// do not. Paths for which ignore says so do not count; it may be nil.
func Diff(p *Policy, a, b []any, ignore func(path string) bool) (string, error) {
	x, err := record(p, a)
	if err != nil {
		return "", err
	}
	y, err := record(p, b)
	if err != nil {
		return "", err
	}
	for i := range x {
		if i >= len(y) {
			return x[i].path, nil
		}
		if ignore != nil && ignore(x[i].path) {
			continue
		}
		if x[i].path != y[i].path || !bytes.Equal(x[i].data, y[i].data) {
			return fmt.Sprintf("%s: % x and % x", x[i].path, clip(x[i].data), clip(y[i].data)), nil
		}
	}
	if len(y) > len(x) {
		return y[len(x)].path, nil
	}
	return "", nil
}

func clip(p []byte) []byte { return p[:min(len(p), 32)] }

type piece struct {
	path string
	data []byte
}

// recorder is a stream that keeps what it is given with the place it is from.
type recorder struct {
	w    *walker
	list []piece
}

func (r *recorder) raw(p []byte) {
	at := ""
	for _, s := range r.w.path {
		at += s
	}
	r.list = append(r.list, piece{at, bytes.Clone(p)})
}

func (r *recorder) length(n int) int {
	r.raw(fmt.Append(nil, n))
	return n
}

func (r *recorder) failed() error { return nil }

func record(p *Policy, roots []any) ([]piece, error) {
	r := &recorder{}
	r.w = newWalker(p, r, false)
	err := r.w.graph(roots)
	return r.list, err
}
