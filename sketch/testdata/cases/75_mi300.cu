// Cases 75 and 82, the LDS phase tables of MI300 (certainty B): contiguous reads and writes are free in all widths; a 128-bit
// read of rows of 128 bytes is served in eight groups of eight lanes, which all meet.
// shmoo: --block 64 --arch gfx942
__shared__ float f[64];
__shared__ float2 f2[64];
__shared__ float4 f4[64];
__shared__ float4 rows[64][8];
f[threadIdx.x];         // want: load requests 1 wavefronts 2 ideal 2
f2[threadIdx.x];        // want: load requests 1 wavefronts 4 ideal 4
f4[threadIdx.x];        // want: load requests 1 wavefronts 8 ideal 8
f4[threadIdx.x] = {};   // want: store requests 1 wavefronts 8 ideal 8
rows[threadIdx.x][0];   // want: load requests 1 wavefronts 64 ideal 8
