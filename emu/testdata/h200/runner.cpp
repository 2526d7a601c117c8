// Runs the launches of a launches.txt on cubins and writes a hash of each kernel's output: the recording side of the
// emulator's tests. Usage: runner LAUNCHES CUBIN_FOLDER > outputs.txt
// A launch whose kernel is written NAME.cubin:KERNEL comes from that file, others from kernels.cubin.
#include <cuda.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static void check(CUresult r, const char *what)
{
    if (r == CUDA_SUCCESS)
        return;
    const char *name = "?";
    cuGetErrorName(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static uint16_t half_of(unsigned v) // exact for 0..15
{
    if (v == 0)
        return 0;
    int e = 31 - __builtin_clz(v);
    return (e + 15) << 10 | ((v << (10 - e)) & 0x3ff);
}

static std::vector<uint8_t> fill(const std::string &type, size_t count, const std::string &how)
{
    size_t size = type == "i8" ? 1 : type == "i16" || type == "f16" ? 2 : type == "i64" ? 8 : 4;
    std::vector<uint8_t> bytes(count * size);
    uint32_t x = 1;
    if (how == "lcg") {
        for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
            x = x * 1664525u + 1013904223u;
            uint32_t v = x >> 8;
            memcpy(&bytes[i], &v, 4);
        }
    } else if (how == "small" || how == "iota") {
        for (size_t i = 0; i < count; i++) {
            x = x * 1664525u + 1013904223u;
            uint32_t v = how == "iota" ? i : (x >> 8) % 16;
            if (type == "f16") {
                uint16_t h = half_of(v);
                memcpy(&bytes[i * 2], &h, 2);
            } else if (type == "f32") {
                float f = v;
                memcpy(&bytes[i * 4], &f, 4);
            } else {
                memcpy(&bytes[i * size], &v, size < 4 ? size : 4);
            }
        }
    }
    return bytes;
}

int main(int argc, char **argv)
{
    check(cuInit(0), "cuInit");
    CUdevice dev;
    CUcontext ctx;
    check(cuDeviceGet(&dev, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&ctx, dev), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(ctx), "cuCtxSetCurrent");
    std::map<std::string, CUmodule> modules;
    std::ifstream in(argv[1]);
    std::string line;
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#')
            continue;
        std::stringstream fields(line);
        std::string part[5];
        for (auto &p : part)
            std::getline(fields, p, ';');
        std::string file = "kernels.cubin", kernel = part[0];
        if (auto colon = kernel.find(':'); colon != std::string::npos) {
            file = kernel.substr(0, colon);
            kernel = kernel.substr(colon + 1);
        }
        if (!modules.count(file))
            check(cuModuleLoad(&modules[file], (std::string(argv[2]) + "/" + file).c_str()), file.c_str());
        CUfunction f;
        check(cuModuleGetFunction(&f, modules[file], kernel.c_str()), kernel.c_str());
        unsigned g[3], b[3], shared = atoi(part[3].c_str());
        sscanf(part[1].c_str(), "%u %u %u", g, g + 1, g + 2);
        sscanf(part[2].c_str(), "%u %u %u", b, b + 1, b + 2);
        if (shared > 48 * 1024)
            check(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared), "dynamic shared");
        std::vector<uint64_t> values;
        std::vector<CUdeviceptr> buffers;
        std::vector<uint8_t> first;
        std::stringstream args(part[4]);
        for (std::string arg; args >> arg;) {
            auto eq = arg.find('='), open = arg.find('[');
            if (open == std::string::npos || open > eq) {
                values.push_back(strtoll(arg.c_str() + eq + 1, nullptr, 0));
                continue;
            }
            auto data = fill(arg.substr(0, open), strtoul(arg.c_str() + open + 1, nullptr, 10), arg.substr(eq + 1));
            CUdeviceptr p;
            check(cuMemAlloc(&p, data.size()), "cuMemAlloc");
            check(cuMemcpyHtoD(p, data.data(), data.size()), "cuMemcpyHtoD");
            if (buffers.empty())
                first = data;
            buffers.push_back(p);
            values.push_back(p);
        }
        std::vector<void *> params;
        for (auto &v : values)
            params.push_back(&v);
        check(cuLaunchKernel(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, nullptr, params.data(), nullptr), kernel.c_str());
        check(cuCtxSynchronize(), kernel.c_str());
        check(cuMemcpyDtoH(first.data(), buffers[0], first.size()), "cuMemcpyDtoH");
        uint64_t hash = 14695981039346656037ull; // FNV-1a
        for (uint8_t c : first)
            hash = (hash ^ c) * 1099511628211ull;
        printf("%s %016llx\n", part[0].c_str(), (unsigned long long)hash);
        for (auto p : buffers)
            cuMemFree(p);
    }
}
