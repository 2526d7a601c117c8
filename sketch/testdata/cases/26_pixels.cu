// Case 26, StackOverflow 20238036 (certainty B): 8-bit pixels, one or four per lane, are free.
// shmoo: --block 32
__shared__ char one[32];
__shared__ uchar4 four[32];
one[threadIdx.x];       // want: load requests 1 wavefronts 1 ideal 1
four[threadIdx.x];      // want: load requests 1 wavefronts 1 ideal 1
