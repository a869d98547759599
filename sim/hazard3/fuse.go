package hazard3

// fuse joins pairs of micro-operations of a block.
func fuse(b *block) {}
