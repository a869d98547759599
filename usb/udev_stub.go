//go:build !cgo

package usb

func newIndex() (index, error) { return nil, ErrNoUSB }
