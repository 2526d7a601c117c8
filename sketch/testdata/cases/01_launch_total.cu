// Case 1, NVIDIA-developer-blog/code-samples issue 48 (certainty A: the profiler printed 6 conflicts for the launch).
// shmoo: --block 32 --grid 2
__shared__ float shm[256];
int idx = blockIdx.x * blockDim.x + threadIdx.x;
shm[idx] = 1.0f;        // want: store requests 2 wavefronts 2 ideal 2
shm[idx * 4];           // want: load requests 2 wavefronts 8 ideal 2
