// Package card finds the exercises of a course: series, card and task become a
// folder and what is done in it.
//
// Files called stem.toml below the workspace root say what there is. One with
// [series] names a series; one with [card] names a card and, in [[task]] tables,
// its tasks. A card belongs to the series it names, else to the nearest one above
// it. A name that does not exist is answered with the near ones.
//
// A stem.toml may name commands of its own. It comes from strangers: its commands
// run on this computer only after a person trusted that very file (Trust, by
// digest, in the user's state folder). Without commands a Makefile or a
// CMakeLists.txt is built in the usual way, which is what the person asked for.
//
// Commands are lists of words. No shell is started here, and nothing of a file
// becomes a part of a word that is not its own.
//
// The package must never run anything: it says what to run.
package card
