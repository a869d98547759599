module github.com/jkeiser/iter

go 1.24.0
