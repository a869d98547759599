package gdbserver

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// describeXML is the target description of d (GDB manual, "Target
// Descriptions"). The OSABI is "none": with the default of gdb-multiarch
// (GNU/Linux) it single-steps RISC-V with breakpoints of its own, which no
// flash can hold.
func describeXML(d target.Description) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">`)
	switch d.Arch {
	case image.ArchRISCV:
		b.WriteString(`<architecture>riscv:rv32</architecture>`)
	case image.ArchARM:
		b.WriteString(`<architecture>arm</architecture>`)
	}
	b.WriteString(`<osabi>none</osabi>`)
	feature := ""
	for _, r := range d.Registers {
		if r.Feature != feature {
			if feature != "" {
				b.WriteString("</feature>")
			}
			feature = r.Feature
			fmt.Fprintf(&b, `<feature name="%s">`, escapeXML(feature))
		}
		fmt.Fprintf(&b, `<reg name="%s" bitsize="%d" regnum="%d"`, escapeXML(r.Name), r.Bits, r.Num)
		if r.Type != "" {
			fmt.Fprintf(&b, ` type="%s"`, escapeXML(r.Type))
		}
		if r.Group != "" {
			fmt.Fprintf(&b, ` group="%s"`, escapeXML(r.Group))
		}
		if !r.Save {
			b.WriteString(` save-restore="no"`)
		}
		b.WriteString("/>")
	}
	if feature != "" {
		b.WriteString("</feature>")
	}
	b.WriteString("</target>")
	return b.String()
}

// memoryMapXML is the memory map of d (GDB manual, "Memory Map Format"). gdb
// takes every address outside it for RAM as long as "set mem
// inaccessible-by-default off" holds; peripherals are given as RAM, since gdb
// has no better word.
func memoryMapXML(d target.Description) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><!DOCTYPE memory-map PUBLIC "+//IDN gnu.org//DTD GDB Memory Map V1.0//EN" "http://sourceware.org/gdb/gdb-memory-map.dtd"><memory-map>`)
	for _, m := range d.Memory {
		switch m.Kind {
		case target.RegionFlash:
			fmt.Fprintf(&b, `<memory type="flash" start="%#x" length="%#x"><property name="blocksize">%#x</property></memory>`, m.Base, m.Size, m.Sector)
		case target.RegionROM:
			fmt.Fprintf(&b, `<memory type="rom" start="%#x" length="%#x"/>`, m.Base, m.Size)
		default:
			fmt.Fprintf(&b, `<memory type="ram" start="%#x" length="%#x"/>`, m.Base, m.Size)
		}
	}
	b.WriteString("</memory-map>")
	return b.String()
}

func escapeXML(s string) string {
	var b strings.Builder
	// EscapeText fails only when its writer does, and a Builder never does.
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
