// Case 2, modular/mojo-gpu-puzzles puzzle 32 (certainty A: 0 and 256 conflicts per direction were measured).
// shmoo: --block 256 --grid 32
__shared__ float buf[512];
int t = threadIdx.x;
buf[t] = 1.0f;          // want: store requests 256 wavefronts 256 ideal 256
buf[t];                 // want: load requests 256 wavefronts 256 ideal 256
buf[2 * t] = 1.0f;      // want: store requests 256 wavefronts 512 ideal 256
buf[2 * t];             // want: load requests 256 wavefronts 512 ideal 256
