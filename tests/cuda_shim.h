// Enough of CUDA for a C++ compiler: threads of a block are fibres that take turns at every barrier.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>
#include <ucontext.h>
using std::fabs; using std::isfinite; using std::log; using std::sqrt;

#define __device__ static
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct Dim { unsigned x; };
static Dim threadIdx, blockIdx, blockDim, gridDim;

static std::vector<ucontext_t> fibres;
static std::vector<char> done;
static ucontext_t scheduler;
static double slots[1024];
static bool votes[1024];

static void turn() {
  unsigned own = threadIdx.x;
  swapcontext(&fibres[own], &scheduler);
  threadIdx.x = own;
}
inline void __syncthreads() { turn(); }
inline void __syncwarp(unsigned = 0) { turn(); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline void sincospi(double x, double* s, double* c) { *s = std::sin(M_PI * x), *c = std::cos(M_PI * x); }
inline double __shfl_xor_sync(unsigned, double x, int other, int) {
  slots[threadIdx.x] = x;
  turn();
  x = slots[threadIdx.x ^ other];
  turn();
  return x;
}
inline unsigned __ballot_sync(unsigned mask, bool yes) {
  votes[threadIdx.x] = yes;
  turn();
  unsigned all = 0, warp = threadIdx.x & ~31u;
  for (unsigned lane = 0; lane < 32; lane++)
    if (mask >> lane & 1 && votes[warp + lane]) all |= 1u << lane;
  turn();
  return all;
}

template <class... A> struct Call {
  void (*kernel)(A...);
  void** given;
  template <size_t... I> void unpack(std::index_sequence<I...>) { kernel(*(A*)given[I]...); }
  void operator()() { unpack(std::index_sequence_for<A...>()); }
};
template <class... A> Call<A...> call_of(void (*kernel)(A...), void** given) { return {kernel, given}; }

template <class C> static C* current;
template <class C> static void enter() {
  (*current<C>)();
  done[threadIdx.x] = 1;
}

template <class C> static void launch(C call, unsigned blocks, unsigned threads) {
  const size_t stack = 1 << 16;
  static std::vector<char> stacks;
  stacks.resize(stack * threads);
  current<C> = &call;
  blockDim.x = threads, gridDim.x = blocks;
  fibres.resize(threads);
  for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
    done.assign(threads, 0);
    for (unsigned i = 0; i < threads; i++) {
      getcontext(&fibres[i]);
      fibres[i].uc_stack.ss_sp = &stacks[stack * i];
      fibres[i].uc_stack.ss_size = stack;
      fibres[i].uc_link = &scheduler;
      makecontext(&fibres[i], enter<C>, 0);
    }
    for (bool left = true; left;) {
      left = false;
      for (unsigned i = 0; i < threads; i++) {
        if (done[i]) continue;
        threadIdx.x = i;
        swapcontext(&scheduler, &fibres[i]);
        left = left || !done[i];
      }
    }
  }
}
