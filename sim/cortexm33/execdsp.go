package cortexm33

func (c *Core) dsp(o *op) {}
