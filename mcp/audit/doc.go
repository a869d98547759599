// Package audit keeps the record of what agents did: JSON Lines in the user's
// state folder, only ever appended to.
//
// A call that is more than a look has two records, one before it is done and one
// after; a refusal has one. The file is written under a lock, so that several
// processes may append, and synced before a call goes on. When it has grown to a
// bound it is renamed by its time and a new one begun; the oldest go.
//
// Arguments are kept as they were, without what looks like a secret and with long
// texts cut. The package must never hand out a writer that can change what was
// written, and Append must never say yes to what is not on disk.
package audit
