package main

import (
	"os"

	"github.com/stem-hw/stem-hw/ui"
)

func main() {
	os.Exit(int(execute(os.Args[1:], os.Getenv, ui.Standard())))
}
