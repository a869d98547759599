// Package ui is the only place that writes to standard output and standard
// error, and the only place that knows how a thing looks.
//
// Standard output carries data, standard error carries talk:
//
//   - A verb hands over one Result. It is rendered as text, or with --json as
//     one document, or, for verbs that report as they go, as JSON Lines. Every
//     document has "schema": "stem-hw/<kind>/1".
//   - Say, Note, Warn and Verbose talk to the person. -q silences all but
//     warnings and errors, -v adds more, a log file hears everything.
//   - Fault renders an error: what went wrong and its code, what was seen and
//     wanted, and what to try. With --json the same goes to standard output
//     as a document of the kind "error", so that a reader of standard output
//     meets JSON whatever happens.
//   - Progress draws a bar on a terminal and says one line a phase elsewhere.
//
// Text that comes from outside (device strings, file names, firmware) is made
// harmless with Escape before it is shown. Data the user asked for verbatim
// goes through Data, which changes nothing, or Filter, which lets colours pass
// and drops every other terminal control sequence.
//
// The package must never exit, read configuration, or know any verb.
package ui
