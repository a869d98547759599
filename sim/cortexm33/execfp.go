package cortexm33

const (
	fpRN = iota
	fpRP
	fpRM
	fpRZ
	fpRA
)

func (c *Core) slowFP(b *block, i int, o *op) outcome { return slowNext }
