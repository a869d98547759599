package iter

import "errors"

// FINISHED is what Next returns behind the last element.
var FINISHED = errors.New("the iteration is over")

// Iterator goes over elements: Next returns one after the other, Close ends it
// early.
type Iterator struct {
	Next  func() (any, error)
	Close func()
}
