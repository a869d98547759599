module github.com/stem-hw/stem-hw

go 1.24.0
