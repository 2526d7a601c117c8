// Columns of doubles. 64-bit accesses are served by half-warps: a row of 32 doubles is two full rows of banks, so all 16
// lanes of a half meet; one double of padding frees them.
//
// shmoo: --block 32
// want: site 11:1 load requests 1 wavefronts 32 ideal 2
// want: site 12:1 load requests 1 wavefronts 2 ideal 2
// want: site 13:1 load requests 1 wavefronts 2 ideal 2
// want: total requests 3 wavefronts 36 ideal 6
__shared__ double plain[32][32];
__shared__ double padded[32][33];
plain[threadIdx.x][0];
padded[threadIdx.x][0];
plain[0][threadIdx.x];
