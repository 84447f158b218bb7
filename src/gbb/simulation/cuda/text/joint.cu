// Allocations on orthogonal arms, one thread per run. Each round takes the best couple over the cut, by the estimate
// (DRAWS: by a posterior sample; OPTIMISTIC: with a bonus), then improves it and the next best couples by local search:
// agents in turn take their best arm. The value of an allocation with n_s links of pair s is
//   sum_s 2 n_s mu_s + radius sqrt(sum_s (2 n_s)^2 var_s).

#define GAIN 1e-10
#define SWEEPS 100

struct Game {
  double m12, m1, m2, noise, sigma, spread, offset, shrinking, v, explore, starts, schedule, form;
  double agents, at, row, entries;  // number of agents; offsets of their sides, indptr and neighbours
  double pays[P];                   // expected reward of a link of each pair, both directions together
};

struct Network {
  const int* start;
  const short *other, *inside, *across;  // neighbours; how many of them are in V1 and in V2
  const unsigned char* sides;
};

extern __shared__ double room[];

#define OWN(table, j) table[(j) * blockDim.x + threadIdx.x]
#ifdef FAR
#define AT(array, j) array[(i64)(j) * runs + run]
#else
#define AT(array, j) array[(j) * blockDim.x + threadIdx.x]
#endif

// The workspace of a run. By two arms (K x K, both triangles, which saves computing places in the inner loop): means to
// search on, variances, numbers of links. By agent: its arm, and how many of its neighbours play each arm.
struct Run {
  double *mean, *var, *links;
  unsigned char *arms, *best;
  unsigned short* around;
  i64 runs, run;
};

__device__ __forceinline__ double worth(double mean, double norm2, double radius) {
#ifdef OPTIMISTIC
  return mean + radius * sqrt(norm2 > 0.0 ? norm2 : 0.0);
#else
  return mean;
#endif
}

// A hash of agent i playing arm a (as splitmix64 mixes); sums over agents identify allocations and are cheap to update.
__device__ __forceinline__ u64 mark(int i, int a) {
  u64 x = (u64)(i * K + a + 1) * 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  return x ^ x >> 27;
}

// Mean and squared norm of the couple (a, b) over the cut.
__device__ __forceinline__ void value_couple(const Run& at, const Game* of, int a, int b, double* mean,
                                             double* norm2) {
  double w = 2.0 * of->m12, w1 = of->m1, w2 = of->m2;
  *mean = w * OWN(at.mean, a * K + b) + w1 * OWN(at.mean, a * K + a) + w2 * OWN(at.mean, b * K + b);
#ifdef OPTIMISTIC
  *norm2 = a == b ? (w + w1 + w2) * (w + w1 + w2) * OWN(at.var, a * K + a)
                  : w * w * OWN(at.var, a * K + b) + w1 * w1 * OWN(at.var, a * K + a) +
                        w2 * w2 * OWN(at.var, b * K + b);
#else
  *norm2 = 0.0;
#endif
}

__device__ __forceinline__ void set_links(const Run& at, int a, int b, double more) {
  double now = OWN(at.links, a * K + b) + more;
  OWN(at.links, a * K + b) = now;
  OWN(at.links, b * K + a) = now;
}

// Local search from the couple (a, b): agents in turn take their best arm until none gains. Returns the value
// reached, or -1e300 if nobody moves or the search meets the end of one of `found` earlier ones, known by their hashes.
__device__ double ascend(const Run& at, const Game* of, const Network& net, int a, int b, double radius,
                         double least, u64* marks, int found) {
  const i64 runs = at.runs, run = at.run;
  const int n = (int)of->agents, first = (int)of->at;
  u64 all = 0;
  for (int i = 0; i < n; i++) {
    int arm = net.sides[first + i] ? b : a;
    AT(at.arms, i) = (unsigned char)arm;
    all += mark(i, arm);
    int inside = net.inside[first + i], across = net.across[first + i];
#pragma unroll
    for (int c = 0; c < K; c++)
      AT(at.around, i * K + c) = (unsigned short)((c == a ? inside : 0) + (c == b ? across : 0));
  }
#ifdef OPTIMISTIC
  for (int j = 0; j < K * K; j++) OWN(at.links, j) = 0.0;
  set_links(at, a, b, of->m12);
  set_links(at, a, a, of->m1 / 2);
  set_links(at, b, b, of->m2 / 2);
#endif
  double mean, norm2, reached = -1e300;
  value_couple(at, of, a, b, &mean, &norm2);
  int idle = 0, left = SWEEPS * n, i = 0;
  while (idle < n && left-- > 0) {
    const int now = AT(at.arms, i);
    int best = now;
    double near[K], mean_best = mean, norm2_best = norm2;
#pragma unroll
    for (int c = 0; c < K; c++) near[c] = AT(at.around, i * K + c);
    // Gains below rounding errors would let agents move in circles.
    double value = worth(mean, norm2, radius), margin = GAIN * (fabs(mean) + fabs(value - mean));
    margin = margin > least ? margin : least;
    double top = value + margin, rest = mean, rest2 = norm2;
#pragma unroll
    for (int c = 0; c < K; c++) {
      rest -= 2.0 * near[c] * OWN(at.mean, now * K + c);
#ifdef OPTIMISTIC
      rest2 -= 4.0 * near[c] * (2.0 * OWN(at.links, now * K + c) - near[c]) * OWN(at.var, now * K + c);
#endif
    }
#pragma unroll
    for (int arm = 0; arm < K; arm++) {
      double m = rest, v = rest2;
#pragma unroll
      for (int c = 0; c < K; c++) {
        m += 2.0 * near[c] * OWN(at.mean, arm * K + c);
#ifdef OPTIMISTIC
        double count = OWN(at.links, arm * K + c) - (c == now ? near[arm] : 0.0);
        v += 4.0 * near[c] * (2.0 * count + near[c]) * OWN(at.var, arm * K + c);
#endif
      }
      double x = worth(m, v, radius);
      if (arm != now && x > top) best = arm, top = x + margin, mean_best = m, norm2_best = v;
    }
    idle++;
    if (best != now) {
      idle = 1;
      AT(at.arms, i) = (unsigned char)best;
      all += mark(i, best) - mark(i, now);
      for (int e = net.start[(i64)of->row + i]; e < net.start[(i64)of->row + i + 1]; e++) {
        int j = net.other[(i64)of->entries + e];
        AT(at.around, j * K + now)--, AT(at.around, j * K + best)++;
      }
#ifdef OPTIMISTIC
#pragma unroll
      for (int c = 0; c < K; c++) set_links(at, now, c, -near[c]);
#pragma unroll
      for (int c = 0; c < K; c++) set_links(at, best, c, near[c]);
#endif
      bool known = false;
      for (int e = 0; e < found; e++) known = known || marks[e] == all;
      if (known) return -1e300;
      mean = mean_best, norm2 = norm2_best > 0.0 ? norm2_best : 0.0;
      reached = worth(mean, norm2, radius);
    }
    i = i + 1 < n ? i + 1 : 0;
  }
  marks[found] = all;
  return reached;
}

extern "C" __global__ void __launch_bounds__(BLOCK) play_joint(
    const Game* games, const int* which, const u32* keys, i64 runs, i64 first, int rounds,
    const double* all_radii, int kept, const i64* recorded, const double* prior, const int* start,
    const short* other, const short* inside, const short* across, const unsigned char* sides, int most_agents,
#ifdef FAR
    unsigned char* far_arms, unsigned short* far_around,
#endif
    double* load, double* paid, double* carried, short* couple, double* reward, double* cumulative
#ifdef ALLOCATIONS
    , unsigned char* allocations
#endif
) {
  i64 run = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  const Game* of = games + which[run];
  const Network net = {start, other, inside, across, sides};
  double *mean = room, *one = room + K * K * blockDim.x, *two = one + WIDE * blockDim.x;
#ifdef OPTIMISTIC
  Run at = {mean, one, two, 0, 0, 0, runs, run};
#else
  Run at = {mean, 0, mean, 0, 0, 0, runs, run};  // links are counted after the search
#endif
#ifdef FAR
  at.around = far_around, at.arms = far_arms;
  at.best = far_arms + (i64)most_agents * runs;
#else
  at.around = (unsigned short*)(two + WIDE * blockDim.x);
  at.arms = (unsigned char*)(at.around + most_agents * K * blockDim.x);
  at.best = at.arms + most_agents * blockDim.x;
#endif
  const double* before = prior + (int)of->form * P;
  const int n = (int)of->agents, starts = (int)of->starts;
  for (int a = 0; a < K; a++) {
    for (int b = a; b < K; b++) {
      int s = pair_of(a, b);
      if (first == 0) load[s * runs + run] = before[s], paid[s * runs + run] = 0.0;
      double l = load[s * runs + run], m = paid[s * runs + run] / l;
#ifdef OPTIMISTIC
      OWN(mean, a * K + b) = m, OWN(mean, b * K + a) = m;
      OWN(one, a * K + b) = 1.0 / l, OWN(one, b * K + a) = 1.0 / l;
#else
      OWN(one, s) = m, OWN(two, s) = of->v * sqrt(1.0 / l);
#endif
    }
  }
  double log_det = first ? carried[run] : 0.0, total = first ? carried[runs + run] : 0.0;
  const double* radii = all_radii + (i64)of->schedule * rounds;
  Stream stream = stream_of(keys, run);
  int k = 0;
  i64 next = kept ? recorded[0] : 0;
  for (int i = 0; i < rounds; i++) {
    i64 t = first + i;
    double radius = 0.0;
#ifdef OPTIMISTIC
#ifdef ADAPTIVE
    double least_share = 1e300;
    if (of->shrinking > 0.0) {
      double most = 0.0;  // the largest ratio of a variance to its prior
      for (int a = 0; a < K; a++)
        for (int b = a; b < K; b++) {
          double share = OWN(one, a * K + b) * before[pair_of(a, b)];
          most = share > most ? share : most;
        }
      least_share = 1.0 / most;
    }
    radius = of->sigma * sqrt((log_det > 0.0 ? log_det : 0.0) + of->spread);
    radius += of->shrinking > 0.0 ? of->offset / sqrt(least_share) : of->offset;
#else
    radius = radii[i];
#endif
#else
    {
      double x[4] = {0.0, 0.0, 0.0, 0.0};
      int s = 0;
      for (int a = 0; a < K; a++) {
        for (int b = a; b < K; b++, s++) {
#ifdef DRAWS
          if (s % 4 == 0) {
            Words words = philox(stream, t, POSTERIOR + s / 4);
            normals_of(words.x, words.y, x, x + 1);
            normals_of(words.z, words.w, x + 2, x + 3);
          }
          int o = s % 4;
          double y = OWN(one, s) + OWN(two, s) * (o == 0 ? x[0] : o == 1 ? x[1] : o == 2 ? x[2] : x[3]);
#else
          double y = OWN(one, s);
#endif
          OWN(mean, a * K + b) = y, OWN(mean, b * K + a) = y;
        }
      }
    }
#endif
    int chosen = -1;
    if (of->explore > 0.0 && uniform_of(philox(stream, t, EXPLORE).x) < of->explore) {
      for (int j = 0; j < n; j += 4) {
        Words words = philox(stream, t, ARMS + j / 4);
        for (int o = 0; o < 4 && j + o < n; o++) {
          u32 word = o == 0 ? words.x : o == 1 ? words.y : o == 2 ? words.z : words.w;
          AT(at.best, j + o) = (unsigned char)__umulhi(word, K);
        }
      }
    } else {
      double values[K * K], best = -1e300, size = 0.0;
#pragma unroll
      for (int p = 0; p < K * K; p++) {
        double m, v;
        value_couple(at, of, p / K, p % K, &m, &v);
        double x = worth(m, v, radius);
        values[p] = x;
        best = x > best ? x : best, size = fabs(x) > size ? fabs(x) : size;
      }
      double tie = TIE * size, least = GAIN * size;
      int count = 0, number = 0;
      for (int p = K * K - 1; p >= 0; p--)
        if (values[p] >= best - tie) count++, number = p;
      if (count > 1) {
        int left = (int)(uniform_of(philox(stream, t, TIES).x) * count);
        for (; left > 0; left--)
          do number++;
          while (values[number] < best - tie);
      }
      double value = values[number];
      chosen = number;
      for (int j = 0; j < n; j++)
        AT(at.best, j) = (unsigned char)(sides[(i64)of->at + j] ? number % K : number / K);
      u64 marks[MOST_STARTS];
      int found = 0;
      for (int f = 0; f < starts; f++) {
        if (f > 0) {
          values[number] = values[number % K * K + number / K] = -1e300;
          double top = -1e300;
          for (int p = 0; p < K * K; p++) top = values[p] > top ? values[p] : top;
          if (top == -1e300) break;
          number = 0;
          while (values[number] < top - tie) number++;
        }
        marks[found] = 0;
        double reached = ascend(at, of, net, number / K, number % K, radius, least, marks, found);
        found += marks[found] != 0;
        double more = TIE * fabs(value);
        if (reached > value + (tie > more ? tie : more)) {
          value = reached, chosen = -1;
          for (int j = 0; j < n; j++) AT(at.best, j) = AT(at.arms, j);
        }
      }
    }
    for (int j = 0; j < K * K; j++) OWN(at.links, j) = 0.0;
    for (int j = 0; j < n; j++) {
      int a = AT(at.best, j);
      for (int e = start[(i64)of->row + j]; e < start[(i64)of->row + j + 1]; e++) {
        int q = other[(i64)of->entries + e];
        if (q < j) continue;  // each link once
        int b = AT(at.best, q);
        OWN(at.links, a < b ? a * K + b : b * K + a) += 1.0;
      }
    }
    // List the pairs that were played first: all threads of a warp then draw noise in the same iterations.
    unsigned char played[P];
    int pairs = 0;
    for (int a = 0; a < K; a++)
      for (int b = a; b < K; b++)
        if (OWN(at.links, a * K + b) > 0.0) played[pairs++] = (unsigned char)(a * K + b);
    double earned = 0.0, grown = 1.0;
    for (int j = 0; j < pairs; j += 2) {
      Words words = philox(stream, t, NOISE + j / 4);
      double x[2];
      normals_of(j & 2 ? words.z : words.x, j & 2 ? words.w : words.y, x, x + 1);
#pragma unroll
      for (int o = 0; o < 2; o++) {
        if (j + o >= pairs) continue;
        int a = played[j + o] / K, b = played[j + o] % K, s = pair_of(a, b);
        double count = OWN(at.links, a * K + b), pays = count * of->pays[s];
        double old = load[s * runs + run], now = old + 2.0 * count, inverse = 1.0 / now;
        double y = paid[s * runs + run] + pays + of->noise * sqrt(2.0 * count) * x[o];
        load[s * runs + run] = now, paid[s * runs + run] = y;
#ifdef OPTIMISTIC
        OWN(mean, a * K + b) = y * inverse, OWN(mean, b * K + a) = y * inverse;
        OWN(one, a * K + b) = inverse, OWN(one, b * K + a) = inverse;
#else
        OWN(one, s) = y * inverse, OWN(two, s) = of->v * sqrt(inverse);
#endif
        grown *= now / old;
        earned += pays;
      }
      // The logarithm of a product is taken once, before it can overflow.
      if (grown > 1e100) log_det += log(grown), grown = 1.0;
    }
#ifdef ADAPTIVE
    log_det += log_of_growth(grown);
#endif
    total += earned;
    if (t + 1 == next) {
      couple[k * runs + run] = (short)chosen;
      reward[k * runs + run] = earned, cumulative[k * runs + run] = total;
#ifdef ALLOCATIONS
      for (int j = 0; j < n; j++) allocations[(k * (i64)most_agents + j) * runs + run] = AT(at.best, j);
#endif
      k++;
      next = k < kept ? recorded[k] : 0;
    }
  }
  carried[run] = log_det, carried[runs + run] = total;
}
