package eval

// Binary is a file of machine code. A page without a server does not read any.
type Binary struct {
	Name string
	Data []byte
}

func withBinaries(calls map[string]call) map[string]call { return calls }
