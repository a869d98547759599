// Package state keeps what a user decided about boards: which one a project is
// pinned to, and what boards are called.
//
// Both are in one file, boards.json, in the user's state folder
// ($XDG_STATE_HOME/stem-hw, mode 0700), and never in a project: what a clone or
// a container can write is no authority. A pin belongs to a project's real
// path. The file is read strictly, changed under a lock and replaced as a whole.
//
// The package must never look for boards or know what a selector matches now.
package state
