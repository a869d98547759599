// Package wire is how the virtual machine's agent and the host's runner talk.
//
// They have one byte stream, a virtio-serial port, and on it a Mux: many streams
// in both directions, each opened by one side with a document that says what it
// is for. A frame is the stream's number (four bytes, little endian), its kind
// (one byte), the length of the contents (four bytes) and the contents: the
// document that opens a stream, data, or the document that closes it. The side
// that opens chooses the number, the host odd ones and the guest even ones. Both
// sides read all the time and queue what nobody has asked for yet, so one slow
// stream never holds up another.
//
// The messages are plain structures in JSON: Exec runs a program in the guest,
// Attach plugs a device into its kernel, Control lets a test there command the
// boards on the host, one Request and one Reply a line.
//
// The package must never know what a board is made of.
package wire
