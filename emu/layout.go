package emu

// constLayout is where a range of generations keeps launch state in constant bank 0: byte offsets that its code reads.
// Source: facts measured on compiled kernels (sm_70 to sm_89, sm_120, sm_121) and published notes for sm_90 and sm_100.
type constLayout struct {
	from, to int // generations, as in sm_NN
	params   int // usual start of the parameters
	ntid     int // three words: block size in x, y, z
	nctaid   int // three words: grid size
	// sharedWindow and localWindow hold the 64-bit generic addresses where shared and local memory begin; 0 where the
	// generation has no such word.
	sharedWindow int
	localWindow  int
	stack        int // initial stack pointer
	dynamic      int // dynamic shared bytes
	descriptor   int // 64-bit memory descriptor of global accesses; 0 where there is none
	// zeros are words that read 0 in a plain launch: no cluster, no cooperative groups.
	zeros []int
	ones  []int // words that read 1: cluster sizes
	// reserved is the shared memory in bytes that lies before the block's own.
	reserved int
}

// Fake but consistent addresses. Their low 24 bits are zero, so that bank patterns survive code that adds or takes away
// only half of a window's address.
const (
	sharedWindowAddr = 0x0000_7f01_0000_0000
	localWindowAddr  = 0x0000_7f02_0000_0000
	windowSize       = 1 << 24
	stackTop         = 0x00ff_fc00
)

var constLayouts = []constLayout{
	{
		from: 70, to: 79, params: 0x160, ntid: 0, nctaid: 0xc, sharedWindow: 0x18, localWindow: 0x20, stack: 0x28, dynamic: 0x2c,
		zeros: []int{0x110},
	},
	{
		from: 80, to: 89, params: 0x160, ntid: 0, nctaid: 0xc, sharedWindow: 0x18, localWindow: 0x20, stack: 0x28, dynamic: 0x2c,
		descriptor: 0x118, zeros: []int{0x110},
	},
	{
		from: 90, to: 99, params: 0x210, ntid: 0, nctaid: 0xc, sharedWindow: 0x18, localWindow: 0x20, stack: 0x28, dynamic: 0x2c,
		descriptor: 0x208, zeros: []int{0x110, 0x140, 0x188}, ones: []int{0x144, 0x148, 0x14c, 0x154, 0x158, 0x15c},
		reserved: 1024,
	},
	{
		from: 100, to: 129, params: 0x380, ntid: 0x360, nctaid: 0x370, localWindow: 0x2f8, stack: 0x37c, dynamic: 0x2ac,
		descriptor: 0x358, zeros: []int{0x2d4, 0x36c, 0x2cc, 0x2b0, 0x2b4, 0x2b8}, ones: []int{0x2a0, 0x2a4, 0x2a8},
		reserved: 1024,
	},
}

func layoutOf(arch int) *constLayout {
	for i := range constLayouts {
		if l := &constLayouts[i]; arch >= l.from && arch <= l.to {
			return l
		}
	}
	return nil
}
