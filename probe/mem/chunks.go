package mem

import (
	"context"
	"errors"

	"github.com/stem-hw/stem-hw/probe/swd"
)

// Chunks does long transfers in pieces, each of which is done again if the wires
// spoil it; on wires that spoil much, pieces get smaller.
type Chunks struct {
	Port *swd.Port
	// size is how many units the next piece has.
	size int
}

// chunkWords is a piece on good wires: bounded only so that a failure does not
// cost everything, and ctx is looked at. smallChunk is not made smaller.
const (
	chunkWords = 4096
	smallChunk = 8
)

// Do calls f for pieces of n units. f has to be something that may be done twice.
func (c *Chunks) Do(ctx context.Context, n int, f func(off, n int) error) error {
	if c.size == 0 {
		c.size = chunkWords
	}
	for off := 0; off < n; {
		k := min(n-off, c.size)
		err := f(off, k)
		var e *swd.Error
		switch {
		case err == nil:
			c.size = min(2*c.size, chunkWords)
		case errors.As(err, &e) && e.Kind == swd.Parity && k > smallChunk:
			c.size = max(k/2, smallChunk)
			continue
		case errors.As(err, &e) && e.Transient():
			if err = c.Port.Retry(ctx, func() error { return f(off, k) }); err != nil {
				return err
			}
		default:
			return err
		}
		off += k
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
