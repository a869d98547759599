package rp2350

import "testing"

func TestNew(t *testing.T) {
	c := New(Options{})
	e := c.Run(1000)
	t.Logf("%+v", e)
}
