module shmoo

go 1.26.0

require (
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
	github.com/klauspost/compress v1.20.4
	github.com/pierrec/lz4/v4 v4.1.33
	pgregory.net/rapid v1.3.0
)

require github.com/google/go-cmp v0.7.0 // indirect
