// Case 21, the forum thread on sub-word and 64-bit access (certainty B).
// shmoo: --block 32
__shared__ short s[128];
__shared__ double d[32];
__shared__ char c[4];
int lane = threadIdx.x;
if (lane < 2) {
    s[lane];            // want: load requests 1 wavefronts 1 ideal 1
    s[lane * 65];       // want: load requests 1 wavefronts 2 ideal 1
}
d[lane];                // want: load requests 1 wavefronts 2 ideal 2
if (lane < 4)
    c[lane];            // want: load requests 1 wavefronts 1 ideal 1
