// Package sshkeys lets agents in over SSH, at one level each.
//
// A key gets a line in authorized_keys whose options allow nothing but one forced
// command, `stem-hw mcp ssh-wrapper` with the key's level. sshd then runs that
// whatever the client asks for; what it asked for is in SSH_ORIGINAL_COMMAND, which
// the wrapper reads by a list of words (Parse) and never evaluates. Lines that are
// not ours are not touched.
//
// Source: sshd(8), "AUTHORIZED_KEYS FILE FORMAT".
//
// The package must never start a shell, and never write a line that allows more
// than the forced command.
package sshkeys
