// Case 13, forum 41356 (certainty B): what two lanes at these byte addresses do to each other.
// shmoo: --block 2
__shared__ __align__(4) char bytes[256];
int lane = threadIdx.x;
*reinterpret_cast<int *>(&bytes[lane * 4]);     // want: load requests 1 wavefronts 1 ideal 1
*reinterpret_cast<int *>(&bytes[lane * 132]);   // want: load requests 1 wavefronts 1 ideal 1
*reinterpret_cast<int *>(&bytes[lane * 128]);   // want: load requests 1 wavefronts 2 ideal 1
bytes[lane * 1];                                // want: load requests 1 wavefronts 1 ideal 1
bytes[lane * 2];                                // want: load requests 1 wavefronts 1 ideal 1
bytes[lane * 3];                                // want: load requests 1 wavefronts 1 ideal 1
