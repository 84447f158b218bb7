// Couples on orthogonal arms, one thread per run. Pairs of arms are independent: each has its precision `load` (prior
// included) and sum of rewards `paid`, hence the mean `mu = paid / load` and the variance `var = 1 / load`. `mu` and
// `var`, read in every round, are in shared memory; `load` and `paid`, of which a round touches three entries, are in
// global memory if K is large (WIDE). Entries of the threads of a block are adjacent: no bank conflicts.

#define MU(s) mu[(s) * blockDim.x + threadIdx.x]
#define VAR(s) var[(s) * blockDim.x + threadIdx.x]
#ifdef WIDE
#define LOAD(s) load[(s) * runs + run]
#define PAID(s) paid[(s) * runs + run]
#else
#define LOAD(s) own_load[(s) * blockDim.x + threadIdx.x]
#define PAID(s) own_paid[(s) * blockDim.x + threadIdx.x]
#endif

// The upper confidence bound of the couple (a, b). If a == b, its three terms are one pair's.
__device__ __forceinline__ double value_of(double w, double w1, double w2, double radius, bool same,
                                           double mu, double mu_a, double mu_b, double var, double var_a,
                                           double var_b) {
  double mean = w * mu + w1 * mu_a + w2 * mu_b;
  double width2 = same ? (w + w1 + w2) * (w + w1 + w2) * var
                       : w * w * var + w1 * w1 * var_a + w2 * w2 * var_b;
  return mean + radius * sqrt(width2);
}

// Unrolled loops keep the arrays in registers; beyond 10 arms there are too few registers.
#if K <= 10
#define OVER_ARMS _Pragma("unroll")
#else
#define OVER_ARMS _Pragma("unroll 1")
#endif

extern __shared__ double room[];

extern "C" __global__ void __launch_bounds__(BLOCK) play_couples(
    const Instance* instances, const int* which, const u32* keys, i64 runs, i64 first, int rounds,
    const double* all_radii, int kept, const i64* recorded, const double* prior, double* load, double* paid,
    double* carried, short* couple, double* cumulative
#ifdef SHARED_NOISE
    , const double* noise, const double* ties
#endif
) {
  i64 run = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  double *mu = room, *var = room + P * blockDim.x;
#ifndef WIDE
  double *own_load = room + 2 * P * blockDim.x, *own_paid = room + 3 * P * blockDim.x;
#endif
  const Instance* of = instances + which[run];
  const double* before = prior + (int)of->form * P;
  for (int s = 0; s < P; s++) {
    double l = load[s * runs + run], y = paid[s * runs + run];
    if (first == 0) l = before[s], y = 0.0;
    LOAD(s) = l, PAID(s) = y;
    MU(s) = y / l, VAR(s) = 1.0 / l;
  }
  double log_det = first ? carried[run] : 0.0, total = first ? carried[runs + run] : 0.0;
  const double w = of->w, w1 = of->w1, w2 = of->w2;
  const double r12 = sqrt(of->m12), r1 = sqrt(of->m1), r2 = sqrt(of->m2);
  const double* radii = all_radii + (i64)of->schedule * rounds;
  Stream stream = stream_of(keys, run);
  int k = 0, drawn = 0;
  i64 next = kept ? recorded[0] : 0;
  for (int i = 0; i < rounds; i++) {
    i64 t = first + i;
#ifdef ADAPTIVE
    double radius = of->sigma * sqrt(log_det + of->spread) + of->offset;
#else
    double radius = radii[i];
#endif
    // The runner-up says whether there is a tie, so that couples are listed only in rounds that have one.
    double best = -1e300, second = -1e300, mu_d[K], var_d[K];
    int a = 0, b = 0;
    OVER_ARMS
    for (int c = 0; c < K; c++) mu_d[c] = MU(pair_of(c, c)), var_d[c] = VAR(pair_of(c, c));
    OVER_ARMS
    for (int c = 0; c < K; c++) {
      OVER_ARMS
      for (int e = c; e < K; e++) {
        double m = MU(pair_of(c, e)), v = VAR(pair_of(c, e));
        double x = value_of(w, w1, w2, radius, c == e, m, mu_d[c], mu_d[e], v, var_d[c], var_d[e]);
        if (x > best) {
          second = best, best = x, a = c, b = e;
        } else if (x > second) {
          second = x;
        }
#ifndef EVEN
        if (c != e) {
          x = value_of(w, w1, w2, radius, false, m, mu_d[e], mu_d[c], v, var_d[e], var_d[c]);
          if (x > best) {
            second = best, best = x, a = e, b = c;
          } else if (x > second) {
            second = x;
          }
        }
#endif
      }
    }
    double floor = best - TIE * fabs(best);
    bool twins = false;
#ifdef EVEN
    twins = a != b;
#endif
    if (twins || second >= floor) {
#ifdef SHARED_NOISE
      double u = ties[run * rounds + drawn];
#else
      double u = uniform_of(philox(stream, t, TIES).x);
#endif
      if (second < floor) {  // only (b, a) ties: one draw decides, as in the engine
        if (u >= 0.5) a ^= b, b ^= a, a ^= b;
        drawn++;
      } else {
        int count = 0, chosen = 0;  // the first pass counts those that tie, the second takes the chosen one
        for (int pass = 0; pass < 2; pass++) {
          if (pass) chosen = (int)(u * count), drawn += count > 1;
          int left = chosen;
#pragma unroll 1
          for (int p = 0; p < K * K; p++) {
            int c = p / K, e = p % K, s = pair_of(c, e), sc = pair_of(c, c), se = pair_of(e, e);
            double x = value_of(w, w1, w2, radius, c == e, MU(s), MU(sc), MU(se), VAR(s), VAR(sc), VAR(se));
            if (x < floor) continue;
            if (pass == 0) count++;
            else if (left-- == 0) a = c, b = e;
          }
        }
      }
    }
    double x[4], weight[3], seen[3], grown = 1.0;
#ifdef SHARED_NOISE
    for (int j = 0; j < 4; j++) x[j] = noise[(run * rounds + i) * 4 + j];
#else
    Words words = philox(stream, t, NOISE);
    normals_of(words.x, words.y, x, x + 1);
    normals_of(words.z, words.w, x + 2, x + 3);
    x[0] *= r12, x[1] *= r12, x[2] *= r1, x[3] *= r2;
#endif
    respond(of, a, b, x, weight, seen);
    int steps = a == b ? 1 : 3;
#pragma unroll
    for (int j = 0; j < 3; j++) {
      if (j < steps) {
        int s = pair_of(j == 2 ? b : a, j == 1 ? a : b);
        double old = LOAD(s), now = old + weight[j], y = PAID(s) + seen[j], inverse = 1.0 / now;
        LOAD(s) = now, PAID(s) = y;
        MU(s) = y * inverse, VAR(s) = inverse;
#ifdef ADAPTIVE
        if (old < 1e300) grown *= now / old;  // infinite prior precision: nothing to learn
#endif
      }
    }
#ifdef ADAPTIVE
    log_det += log_of_growth(grown);
#endif
    total += of->payoff[a * K + b];
    if (t + 1 == next) {
      couple[k * runs + run] = (short)(a * K + b), cumulative[k * runs + run] = total;
      k++;
      next = k < kept ? recorded[k] : 0;
    }
  }
  for (int s = 0; s < P; s++) {
    double l = LOAD(s), y = PAID(s);
    load[s * runs + run] = l, paid[s * runs + run] = y;
  }
  carried[run] = log_det, carried[runs + run] = total;
#ifdef ESTIMATE
  for (int p = 0; p < K * K; p++) {
    int s = pair_of(p / K, p % K), sa = pair_of(p / K, p / K), sb = pair_of(p % K, p % K);
    double mean = value_of(w, w1, w2, 0.0, s == sa, MU(s), MU(sa), MU(sb), VAR(s), VAR(sa), VAR(sb));
    double wide = value_of(w, w1, w2, 1.0, s == sa, MU(s), MU(sa), MU(sb), VAR(s), VAR(sa), VAR(sb)) - mean;
    carried[(2 + p) * runs + run] = mean, carried[(2 + K * K + p) * runs + run] = wide;
  }
#endif
}
