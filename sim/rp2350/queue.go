package rp2350

import (
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/timebase"
)

// queue is a binary heap of events by cycle, then by order of scheduling.
type queue struct {
	items []item
	seq   uint64
}

type item struct {
	when, seq uint64
	e         *periph.Event
}

// clear forgets every event.
func (q *queue) clear() {
	for _, it := range q.items {
		it.e.Index = 0
	}
	*q = queue{}
}

// next is the cycle of the earliest event, or timebase.Never.
func (q *queue) next() uint64 {
	if len(q.items) == 0 {
		return timebase.Never
	}
	return q.items[0].when
}

// schedule queues e for when, moving it if it is queued already.
func (q *queue) schedule(e *periph.Event, when uint64) {
	q.cancel(e)
	if when == timebase.Never {
		return
	}
	q.seq++
	e.When = when
	q.items = append(q.items, item{when, q.seq, e})
	e.Index = len(q.items)
	q.up(len(q.items) - 1)
}

// cancel removes e if it is queued.
func (q *queue) cancel(e *periph.Event) {
	if e.Index == 0 {
		return
	}
	i := e.Index - 1
	e.Index = 0
	last := len(q.items) - 1
	moved := q.items[last]
	q.items[last] = item{}
	q.items = q.items[:last]
	if i == last {
		return
	}
	q.place(i, moved)
	if !q.up(i) {
		q.down(i)
	}
}

// pop removes and returns the earliest event.
func (q *queue) pop() *periph.Event {
	e := q.items[0].e
	q.cancel(e)
	return e
}

func (q *queue) less(i, j int) bool {
	a, b := &q.items[i], &q.items[j]
	return a.when < b.when || a.when == b.when && a.seq < b.seq
}

func (q *queue) place(i int, it item) {
	q.items[i] = it
	it.e.Index = i + 1
}

func (q *queue) swap(i, j int) {
	a, b := q.items[i], q.items[j]
	q.place(i, b)
	q.place(j, a)
}

func (q *queue) up(i int) (moved bool) {
	for i > 0 {
		p := (i - 1) / 2
		if !q.less(i, p) {
			break
		}
		q.swap(i, p)
		i, moved = p, true
	}
	return moved
}

func (q *queue) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(q.items) {
			return
		}
		if c+1 < len(q.items) && q.less(c+1, c) {
			c++
		}
		if !q.less(c, i) {
			return
		}
		q.swap(i, c)
		i = c
	}
}
