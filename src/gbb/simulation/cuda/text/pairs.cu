// Couples on general arms, GROUP lanes per run, one lane per pair of arms. For the features q_s = (z_ab + z_ba) / 2 of
// pair s, the estimate is mu_s = <q_s, theta_hat> and the covariance H_st = q_s' A^-1 q_t; lane s keeps row s of H in
// registers. A round of couple (a, b) adds weights W and rewards y to three pairs S, a rank-three step:
//   G = H_SS, B = I + W G, f = B^-1 (y - W mu_S), C = B^-1 W;  mu += H_:S f, H -= H_:S C H_S:
// Rounding errors of these steps add up, so mu and H are recomputed from the prior, weights and sums after 1, 2, 4,
// 8, ... rounds and every RENEW rounds.

#define RENEW 1024
#define BATCH (GROUP / 2)  // rounds whose noise is drawn at once, two normals per lane
#define WARP (GROUP < 32 ? GROUP : 32)
#define RUNS (BLOCK / GROUP)

struct Shared {
  double column[3][P], mean[3], noise[BATCH][4], row[2 * (GROUP / 32 + 1)];
  u64 votes[2 * (GROUP / 32 + 1)];
};

extern __shared__ Shared room[];

// Lanes of a group: part of a warp, or two warps, which only a barrier of the block synchronises (then RUNS is 1).
#if GROUP <= 32
#define MASK ((GROUP == 32 ? 0xffffffffu : (1u << (GROUP & 31)) - 1u) << (threadIdx.x & 31 & ~(GROUP - 1)))
#define SYNC() __syncwarp(MASK)
#else
#define MASK 0xffffffffu
#define SYNC() __syncthreads()
#endif

__device__ __forceinline__ double group_largest(Shared* own, double x) {
#pragma unroll
  for (int o = WARP / 2; o > 0; o >>= 1) {
    double y = __shfl_xor_sync(MASK, x, o, WARP);
    x = y > x ? y : x;
  }
#if GROUP > 32
  own->row[threadIdx.x >> 5] = x;
  SYNC();
  for (int j = 0; j < GROUP / 32; j++) x = own->row[j] > x ? own->row[j] : x;
#endif
  return x;
}

// A bit mask of the lanes of the group for which `yes` is true. `place` keeps two votes of a round apart.
__device__ __forceinline__ u64 group_votes(Shared* own, int place, bool yes) {
  u64 mine = __ballot_sync(MASK, yes);
#if GROUP > 32
  own->votes[place * 2 + (threadIdx.x >> 5)] = mine;
  SYNC();
  return own->votes[place * 2] | own->votes[place * 2 + 1] << 32;
#else
  return (mine & MASK) >> (threadIdx.x & 31 & ~(GROUP - 1));
#endif
}

struct Estimate {
  double h[P], mu, mean[2], width2[2], log_det;
};

// Recompute a lane's row of the estimate from the weights and rewards of all pairs, a rank-one step for each; `sa`
// and `sb` are the pairs (a, a) and (b, b) of the lane's arms.
__device__ void renew(Shared* own, Estimate* e, const double* H0, int lane, int sa, int sb, double weight,
                      double paid, double w, double w1, double w2) {
#pragma unroll
  for (int j = 0; j < P; j++) e->h[j] = lane < P ? H0[lane * P + j] : 0.0;
  e->mu = e->log_det = 0.0;
#pragma unroll 1
  for (int s = 0; s < P; s++) {
    SYNC();
    if (lane == s) {
#pragma unroll
      for (int j = 0; j < P; j++) own->column[0][j] = e->h[j];
      own->mean[0] = e->mu, own->mean[1] = weight, own->mean[2] = paid;
    }
    SYNC();
    double load = own->mean[1], h = own->column[0][s];
    if (load > 0.0) {
      double grown = 1.0 + load * h, c = load / grown;
      double mine = own->column[0][lane < P ? lane : 0], step = c * mine;
      e->mu += c * (own->mean[2] / load - own->mean[0]) * mine;
#pragma unroll
      for (int j = 0; j < P; j++) {
        e->h[j] -= step * own->column[0][j];
        if (j == s && lane == s) e->h[j] = h / grown;  // the same number, without cancellation
      }
      e->log_det += log(grown);
    }
  }
  // Mean and squared width of the couples (a, b) and (b, a). Selecting in an unrolled loop, not indexing, keeps h in
  // registers.
  double hss = 0.0, hsa = 0.0, hsb = 0.0;
#pragma unroll
  for (int j = 0; j < P; j++) {
    hss = j == lane ? e->h[j] : hss;
    hsa = j == sa ? e->h[j] : hsa;
    hsb = j == sb ? e->h[j] : hsb;
  }
  SYNC();
  if (lane < P) own->column[0][lane] = e->mu, own->column[1][lane] = hss;
  SYNC();
  double mu_a = own->column[0][sa], mu_b = own->column[0][sb];
  double haa = own->column[1][sa], hbb = own->column[1][sb], hab = 0.0;
  // H between (a, a) and (b, b) is in the registers of lane (a, a), which shares its row: one arm after another.
#pragma unroll 1
  for (int a = 0; a < K; a++) {
    SYNC();
    if (lane == pair_of(a, a)) {
#pragma unroll
      for (int j = 0; j < P; j++) own->column[2][j] = e->h[j];
    }
    SYNC();
    if (sa == pair_of(a, a)) hab = own->column[2][sb];
  }
  SYNC();
  e->mean[0] = w * e->mu + w1 * mu_a + w2 * mu_b;
  e->mean[1] = w * e->mu + w1 * mu_b + w2 * mu_a;
  double cross = 2.0 * w1 * w2 * hab;
  e->width2[0] = w * w * hss + w1 * w1 * haa + w2 * w2 * hbb + 2.0 * w * (w1 * hsa + w2 * hsb) + cross;
  e->width2[1] = w * w * hss + w1 * w1 * hbb + w2 * w2 * haa + 2.0 * w * (w1 * hsb + w2 * hsa) + cross;
}

// Update mean and squared width of a couple v by the rank-three step, where q = v'H_:S.
__device__ __forceinline__ void learn(double* mean, double* width2, double q0, double q1, double q2, double f0,
                                      double f1, double f2, double C00, double C01, double C02, double C11,
                                      double C12, double C22) {
  *mean += q0 * f0 + q1 * f1 + q2 * f2;
  *width2 -= q0 * (C00 * q0 + 2.0 * (C01 * q1 + C02 * q2)) + q1 * (C11 * q1 + 2.0 * C12 * q2) + C22 * q2 * q2;
}

extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS) play_couples(
    const Instance* instances, const int* which, const u32* keys, i64 runs, i64 first, int rounds,
    const double* all_radii, int kept, const i64* recorded, const double* prior, double* load, double* paid,
    double* carried, short* couple, double* cumulative
#ifdef SHARED_NOISE
    , const double* noise, const double* ties
#endif
) {
  int lane = threadIdx.x % GROUP;
  i64 run = (i64)blockIdx.x * RUNS + threadIdx.x / GROUP;
  if (run >= runs) return;
  Shared* own = room + threadIdx.x / GROUP;
  const Instance* of = instances + which[run];
  const double* H0 = prior + (i64)of->form * P * P;
  const double w = of->w, w1 = of->w1, w2 = of->w2;
  const double r12 = sqrt(of->m12), r1 = sqrt(of->m1), r2 = sqrt(of->m2);
  int arm = 0, other = lane < P ? lane : 0;
  while (other >= K - arm) other -= K - arm, arm++;
  other += arm;
  const int sa = pair_of(arm, arm), sb = pair_of(other, other), mine = lane < P ? lane : 0;
  double weight = 0.0, sum = 0.0, total = 0.0, extra = 0.0;
  if (first && lane < P) weight = load[lane * runs + run], sum = paid[lane * runs + run];
  if (first) extra = carried[run], total = carried[runs + run];
  const double* radii = all_radii + (i64)of->schedule * rounds;
  Stream stream = stream_of(keys, run);
  Estimate e;
  e.log_det = extra;
  int k = 0, drawn = 0;
  i64 next = kept ? recorded[0] : 0;
  for (int i = 0; i < rounds; i++) {
    i64 t = first + i;
    // By round number, not by launch; registers are empty when a launch begins (i == 0), which changes no run as
    // launches begin at multiples of RENEW (CHUNK in runs.py).
    if (i == 0 || t % RENEW == 0 || (t & (t - 1)) == 0)
      renew(own, &e, H0, lane, sa, sb, weight, sum, w, w1, w2);
#ifndef SHARED_NOISE
    if (i % BATCH == 0) {
      Words words = philox(stream, t + lane / 2, NOISE);
      double* to = own->noise[lane / 2] + 2 * (lane & 1);
      SYNC();
      normals_of(lane & 1 ? words.z : words.x, lane & 1 ? words.w : words.y, to, to + 1);
      to[0] *= lane & 1 ? r1 : r12, to[1] *= lane & 1 ? r2 : r12;
      SYNC();
    }
    const double* x = own->noise[i % BATCH];
#else
    const double* x = noise + (run * rounds + i) * 4;
#endif
#ifdef ADAPTIVE
    double radius = of->sigma * sqrt(e.log_det + of->spread) + of->offset;
#else
    double radius = radii[i];
#endif
    double v0 = e.mean[0] + radius * sqrt(e.width2[0] > 0.0 ? e.width2[0] : 0.0);
#ifdef EVEN
    double v1 = v0, top = v0;
#else
    double v1 = e.mean[1] + radius * sqrt(e.width2[1] > 0.0 ? e.width2[1] : 0.0);
    double top = v0 > v1 ? v0 : v1;
#endif
    double best = group_largest(own, lane < P ? top : -1e300);
    double floor = best - TIE * fabs(best);
    u64 there = group_votes(own, 0, lane < P && v0 >= floor);
    u64 back = group_votes(own, 1, lane < P && v1 >= floor && arm != other);
    int a, b, s0, count = __popcll(there) + __popcll(back);
    bool swapped = there == 0;
    s0 = __ffsll((i64)(swapped ? back : there)) - 1;
    if (count > 1) {
#ifdef SHARED_NOISE
      double u = ties[run * rounds + drawn];
#else
      double u = uniform_of(philox(stream, t, TIES).x);
#endif
      drawn++;
      int left = (int)(u * count);
      if (count == 2 && there == back) {  // (a, b) and (b, a) of one pair
        swapped = left == 1;
      } else {
        bool done = false;
#pragma unroll 1
        for (int p = 0; p < K * K && !done; p++) {
          int s = pair_of(p / K, p % K);
          u64 those = p / K <= p % K ? there : back;
          if ((those >> s & 1) && left-- == 0) s0 = s, swapped = p / K > p % K, done = true;
        }
      }
    }
    int low = 0, high = s0;
    while (high >= K - low) high -= K - low, low++;
    high += low;
    a = swapped ? high : low, b = swapped ? low : high;
    int s1 = pair_of(a, a), s2 = pair_of(b, b);
    double W[3], y[3];
    respond(of, a, b, x, W, y);
    total += of->payoff[a * K + b];
    if (lane == s0) weight += W[0], sum += y[0];
    if (lane == s1) weight += W[1], sum += y[1];
    if (lane == s2) weight += W[2], sum += y[2];
#pragma unroll
    for (int c = 0; c < 3; c++) {
      if (lane == (c == 0 ? s0 : c == 1 ? s1 : s2)) {
#pragma unroll
        for (int j = 0; j < P; j++) own->column[c][j] = e.h[j];
        own->mean[c] = e.mu;
      }
    }
    SYNC();
    const double *u0 = own->column[0], *u1 = own->column[1], *u2 = own->column[2];
    double g00 = u0[s0], g01 = u0[s1], g02 = u0[s2], g11 = u1[s1], g12 = u1[s2], g22 = u2[s2];
    double e0 = y[0] - W[0] * own->mean[0], e1 = y[1] - W[1] * own->mean[1], e2 = y[2] - W[2] * own->mean[2];
    double B00 = 1.0 + W[0] * g00, B01 = W[0] * g01, B02 = W[0] * g02;
    double B10 = W[1] * g01, B11 = 1.0 + W[1] * g11, B12 = W[1] * g12;
    double B20 = W[2] * g02, B21 = W[2] * g12, B22 = 1.0 + W[2] * g22;
    double i00 = B11 * B22 - B12 * B21, i01 = B02 * B21 - B01 * B22, i02 = B01 * B12 - B02 * B11;
    double i10 = B12 * B20 - B10 * B22, i11 = B00 * B22 - B02 * B20, i12 = B02 * B10 - B00 * B12;
    double i20 = B10 * B21 - B11 * B20, i21 = B01 * B20 - B00 * B21, i22 = B00 * B11 - B01 * B10;
    double det = B00 * i00 + B01 * i10 + B02 * i20, inverse = 1.0 / det;
#ifdef ADAPTIVE
    e.log_det += log_of_growth(det);
#endif
    double f0 = inverse * (i00 * e0 + i01 * e1 + i02 * e2), f1 = inverse * (i10 * e0 + i11 * e1 + i12 * e2);
    double f2 = inverse * (i20 * e0 + i21 * e1 + i22 * e2);
    double C00 = inverse * i00 * W[0], C01 = inverse * i01 * W[1], C02 = inverse * i02 * W[2];
    double C11 = inverse * i11 * W[1], C12 = inverse * i12 * W[2], C22 = inverse * i22 * W[2];
    double m0 = u0[mine], m1 = u1[mine], m2 = u2[mine];
    e.mu += m0 * f0 + m1 * f1 + m2 * f2;
    double A0 = m0 * C00 + m1 * C01 + m2 * C02, A1 = m0 * C01 + m1 * C11 + m2 * C12;
    double A2 = m0 * C02 + m1 * C12 + m2 * C22;
#pragma unroll
    for (int j = 0; j < P; j++) e.h[j] -= A0 * u0[j] + A1 * u1[j] + A2 * u2[j];
    double x0 = u0[sa], x1 = u1[sa], x2 = u2[sa], z0 = u0[sb], z1 = u1[sb], z2 = u2[sb];
    learn(e.mean, e.width2, w * m0 + w1 * x0 + w2 * z0, w * m1 + w1 * x1 + w2 * z1,
          w * m2 + w1 * x2 + w2 * z2, f0, f1, f2, C00, C01, C02, C11, C12, C22);
#ifndef EVEN
    learn(e.mean + 1, e.width2 + 1, w * m0 + w1 * z0 + w2 * x0, w * m1 + w1 * z1 + w2 * x1,
          w * m2 + w1 * z2 + w2 * x2, f0, f1, f2, C00, C01, C02, C11, C12, C22);
#endif
    SYNC();
    if (t + 1 == next) {
      if (lane == 0) couple[k * runs + run] = (short)(a * K + b), cumulative[k * runs + run] = total;
      k++;
      next = k < kept ? recorded[k] : 0;
    }
  }
  if (lane < P) load[lane * runs + run] = weight, paid[lane * runs + run] = sum;
  if (lane == 0) carried[run] = e.log_det, carried[runs + run] = total;
#ifdef ESTIMATE
  if (lane < P) {
    int there = 2 + arm * K + other, back = 2 + other * K + arm;
    carried[there * runs + run] = e.mean[0], carried[(there + K * K) * runs + run] = sqrt(e.width2[0]);
#ifndef EVEN
    carried[back * runs + run] = e.mean[1], carried[(back + K * K) * runs + run] = sqrt(e.width2[1]);
#else
    carried[back * runs + run] = e.mean[0], carried[(back + K * K) * runs + run] = sqrt(e.width2[0]);
#endif
  }
#endif
}
