// Case 12, the offset macro of Blelloch's scan (forum 14071, GPU Gems 3 chapter 39; certainty B), on 32 banks, for
// d = 1, 2, 4, ..., 64 and four offsets.
// shmoo: --block 32
#define AT(d, OFF) (d * (2 * lane + 1) - 1 + OFF(d * (2 * lane + 1) - 1))
#define OFF_none(i) (0)
#define OFF_4(i) ((i) >> 4)
#define OFF_5(i) ((i) >> 5)
#define OFF_5_10(i) (((i) >> 5) + ((i) >> 10))
__shared__ float s[4300];
int lane = threadIdx.x;
s[AT(1, OFF_none)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(2, OFF_none)];  // want: load requests 1 wavefronts 4 ideal 1
s[AT(4, OFF_none)];  // want: load requests 1 wavefronts 8 ideal 1
s[AT(8, OFF_none)];  // want: load requests 1 wavefronts 16 ideal 1
s[AT(16, OFF_none)];  // want: load requests 1 wavefronts 32 ideal 1
s[AT(32, OFF_none)];  // want: load requests 1 wavefronts 32 ideal 1
s[AT(64, OFF_none)];  // want: load requests 1 wavefronts 32 ideal 1
s[AT(1, OFF_4)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(2, OFF_4)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(4, OFF_4)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(8, OFF_4)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(16, OFF_4)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(32, OFF_4)];  // want: load requests 1 wavefronts 4 ideal 1
s[AT(64, OFF_4)];  // want: load requests 1 wavefronts 8 ideal 1
s[AT(1, OFF_5)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(2, OFF_5)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(4, OFF_5)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(8, OFF_5)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(16, OFF_5)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(32, OFF_5)];  // want: load requests 1 wavefronts 2 ideal 1
s[AT(64, OFF_5)];  // want: load requests 1 wavefronts 4 ideal 1
s[AT(1, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(2, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(4, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(8, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(16, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(32, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
s[AT(64, OFF_5_10)];  // want: load requests 1 wavefronts 1 ideal 1
