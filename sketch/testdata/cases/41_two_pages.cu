// Case 41, Dao-AILab/flash-attention issue 738 (certainty B): writes of lanes 0-7 and 8-15 to two pages are in different
// groups and free.
// shmoo: --block 32
__shared__ __align__(128) unsigned char page[2 * 8192];
int lane = threadIdx.x;
*(uint4 *)(page + lane / 16 * 128 + lane % 8 * 16 + lane % 16 / 8 * 8192) = uint4{};  // want: store requests 1 wavefronts 4 ideal 4
