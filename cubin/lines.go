package cubin

import "sync"

type lineCache struct{ once sync.Once }
