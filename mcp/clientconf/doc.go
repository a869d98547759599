// Package clientconf writes the entry for stem-hw into the configuration files of
// MCP clients: Codex, Claude Code, Gemini CLI and opencode.
//
// Only the entry is written: every other byte of the file stays as it was,
// comments included. Afterwards the file is parsed, and must say what it said
// before plus the entry; otherwise nothing is written.
//
// The package must never write a setting that makes a client skip its questions.
package clientconf
