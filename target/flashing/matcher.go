package flashing

import "context"

// Matcher is what a Device may be besides: one that compares sectors where they
// are, without reading them over.
type Matcher interface {
	// MatchFlash compares neighbouring sectors from addr on with what they are
	// to hold, and says which are blank.
	MatchFlash(ctx context.Context, addr uint32, want [][]byte) (same, blank []bool, err error)
}

// match compares sectors on the device and notes their states.
func (p *Plan) match(ctx context.Context, m Matcher, first, n int, states []state) error {
	want := make([][]byte, n)
	for k := range want {
		want[k] = p.sectors[first+k].want
	}
	sames, blanks, err := m.MatchFlash(ctx, p.sectors[first].addr, want)
	if err != nil {
		return err
	}
	for k := range n {
		switch {
		case sames[k]:
			states[first+k] = same
		case blanks[k]:
			states[first+k] = blank
		default:
			states[first+k] = other
		}
	}
	return nil
}

// matches reports whether the device holds what neighbouring jobs want, as far
// as it can say so by itself.
func matches(ctx context.Context, d Device, jobs []job) (all bool, err error) {
	m, ok := d.(Matcher)
	if !ok {
		return false, nil
	}
	want := make([][]byte, len(jobs))
	for i, j := range jobs {
		want[i] = j.want
	}
	sames, _, err := m.MatchFlash(ctx, jobs[0].addr, want)
	if err != nil {
		return false, err
	}
	for _, s := range sames {
		if !s {
			return false, nil
		}
	}
	return true, nil
}
