package mcp

import "slices"

// tools are all tools of all levels.
var tools = slices.Concat(sessionTools, paneTools, editorTools, debugTools, debugActs, memoryTools, serialTools, boardTools, jobTools, buildTools, fullTools)

// none is the argument list of a tool that takes no arguments.
type none struct{}
