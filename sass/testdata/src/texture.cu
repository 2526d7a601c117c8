// Texture and surface accesses: their results are data, what counts is which registers they write.
extern "C" __global__ void textures(cudaTextureObject_t t, cudaTextureObject_t l, cudaSurfaceObject_t s, float4 *o, int n) {
	int x = threadIdx.x, y = blockIdx.x;
	o[x] = tex2D<float4>(t, x * 0.5f, y * 0.25f);
	o[x + 1].x = tex2D<float>(t, x * 0.5f, y * 0.75f);
	float2 two = tex1Dfetch<float2>(l, x + n);
	o[x + 2].x = two.x + two.y;
	o[x + 3] = tex2Dgather<float4>(t, x * 0.5f, y * 0.25f, 1);
	o[x + 4] = tex3D<float4>(t, x * 0.5f, y * 0.25f, n * 1.0f);
	o[x + 5] = tex2DLod<float4>(t, x * 0.5f, y * 0.25f, n * 1.0f);
	float4 v;
	surf2Dread(&v, s, x * 16, y);
	v.x += 1;
	surf2Dwrite(v, s, x * 16, y);
	int w;
	surf1Dread(&w, s, x * 4);
	surf1Dwrite(w + 1, s, x * 4);
	o[x + 6].y = w;
}
