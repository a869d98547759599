// Package job is the queue of what is to be written to boards, and the approvals
// that it waits for.
//
// A request is never carried out by whoever makes it. It is kept with a copy of
// the image by its SHA-256, the board, its chip's id, who asked, and what would
// change on the board; a person approves or rejects; one worker of this computer
// carries out what was approved. What was approved is what is written: the copy is
// compared with its digest, and the board with the chip's id, right before.
//
//	queued -> awaiting_approval -> approved -> flashing -> verifying -> flashed
//	                                                   \-> flash_failed
//	          rejected, cancelled, expired on the way
//
// A second request for the same board, image and options while the first one is
// live is the first one. An approval and a request that waits for one expire. A
// worker that was killed has used up an attempt; the next one goes on without
// another approval. Only transport errors are tried again, up to three times.
//
// The queue is an SQLite database in the user's state folder, where no project
// and no container can write. Its schema has a version; older ones are migrated.
//
// The package must never approve by itself, and never write to a board: its Runner
// does.
package job
