// Counter-based random numbers and helpers of all kernels. K, the number of arms, is a macro (launch.py).
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define P (K * (K + 1) / 2)
#define TIE 1e-12

// Index of an unordered pair of arms in the upper triangle, row by row.
__device__ __forceinline__ int pair_of(int a, int b) {
  int low = a < b ? a : b, high = a < b ? b : a;
  return low * K - low * (low - 1) / 2 + high - low;
}

// The stream of a run: two words of its seed are the key, two are part of the counter, so that a run depends on its
// seed alone and not on its place in a launch.
struct Stream {
  u32 k0, k1, c2, c3;
};

__device__ __forceinline__ Stream stream_of(const u32* keys, i64 run) {
  Stream s = {keys[4 * run], keys[4 * run + 1], keys[4 * run + 2], keys[4 * run + 3]};
  return s;
}

struct Words {
  u32 x, y, z, w;
};

// Philox 4x32-10 (Salmon et al. 2011) of round t and draw number `draw`. Draw numbers stay below 2^20; the bits of t
// beyond 32 are folded in above them.
__device__ __forceinline__ Words philox(Stream s, u64 t, u32 draw) {
  u32 c0 = (u32)t, c1 = draw ^ ((u32)(t >> 32) << 20), c2 = s.c2, c3 = s.c3, k0 = s.k0, k1 = s.k1;
#pragma unroll
  for (int i = 0; i < 10; i++) {
    u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    u32 h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  Words out = {c0, c1, c2, c3};
  return out;
}

// A uniform number in the open interval (0, 1): its logarithm is finite, and (int)(u * count) < count.
__device__ __forceinline__ double uniform_of(u32 x) {
  return ((double)x + 0.5) * 2.3283064365386963e-10;
}

// Two standard normals from two words (Box and Muller 1958).
__device__ __forceinline__ void normals_of(u32 x, u32 y, double* one, double* two) {
  double size = sqrt(-2.0 * log(uniform_of(x))), s, c;
  sincospi(2.0 * uniform_of(y), &s, &c);
  *one = size * c;
  *two = size * s;
}

// Draw numbers by purpose: one of these plus an index, so that no purpose shifts the draws of another.
#define NOISE 0u
#define TIES 0x10000u
#define ARMS 0x20000u
#define EXPLORE 0x30000u
#define POSTERIOR 0x40000u

// The logarithm of a determinant's growth. After the first rounds the growth is close to 1, where the series up to
// y^13 takes a third of log's time with an error below 1e-17. All else, NaN included, goes to log: hence the negation.
__device__ __forceinline__ double log_of_growth(double x) {
  double y = x - 1.0;
  if (!(fabs(y) <= 0.0625)) return log(x);
  double z = y * y, w = z * z;
  double q = 1.0 / 3.0 - y * 0.25, r = 1.0 / 5.0 - y * (1.0 / 6.0), s = 1.0 / 7.0 - y * 0.125;
  double t = 1.0 / 9.0 - y * 0.1, p = (1.0 / 11.0 - y * (1.0 / 12.0)) + z * (1.0 / 13.0);
  q += z * r, s += z * t;
  return y + z * (y * (q + w * (s + w * p)) - 0.5);
}
