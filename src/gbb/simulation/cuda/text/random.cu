// Rounds in which every agent draws its arm from `steps`, the running sums of weights; a thread a run.
// With LEARN it is counted how many links each pair of arms was played on.

struct Game {
  double steps[K], pays[P];  // what a link of each pair pays in both directions
  double agents, links, at;  // and where its links start
};

extern __shared__ double room[];

extern "C" __global__ void __launch_bounds__(BLOCK) play_random(
    const Game* games, const int* which, const u32* keys, i64 runs, i64 first, int rounds, int kept,
    const i64* recorded, const short* ends, int agents, double* counts, double* carried, double* reward,
    double* cumulative, unsigned char* allocations) {
  i64 run = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= runs) return;
  double* count = room;
  unsigned char* arms = (unsigned char*)(room + P * blockDim.x);
  const Game* of = games + which[run];
  const short* link = ends + 2 * (i64)of->at;
  const int n = (int)of->agents, links = (int)of->links;
  for (int s = 0; s < P; s++) count[s * blockDim.x + threadIdx.x] = first ? counts[s * runs + run] : 0.0;
  double total = first ? carried[run] : 0.0;
  Stream stream = stream_of(keys, run);
  int k = 0;
  i64 next = kept ? recorded[0] : 0;
  for (int i = 0; i < rounds; i++) {
    i64 t = first + i;
    for (int j = 0; j < n; j += 4) {
      Words words = philox(stream, t, ARMS + j / 4);
#pragma unroll
      for (int o = 0; o < 4; o++) {
        double u = uniform_of(o == 0 ? words.x : o == 1 ? words.y : o == 2 ? words.z : words.w);
        u *= of->steps[K - 1];
        int a = 0;
        for (int c = 0; c < K - 1; c++) a += of->steps[c] <= u;
        if (j + o < n) arms[(j + o) * blockDim.x + threadIdx.x] = (unsigned char)a;
      }
    }
    double earned = 0.0;
    for (int l = 0; l < links; l++) {
      int a = arms[link[2 * l] * blockDim.x + threadIdx.x], b = arms[link[2 * l + 1] * blockDim.x + threadIdx.x];
      int s = pair_of(a, b);
      earned += of->pays[s];
#ifdef LEARN
      count[s * blockDim.x + threadIdx.x] += 1.0;
#endif
    }
    total += earned;
    if (t + 1 == next) {
      reward[k * runs + run] = earned, cumulative[k * runs + run] = total;
#ifdef ALLOCATIONS
      for (int j = 0; j < n; j++)
        allocations[(k * (i64)agents + j) * runs + run] = arms[j * blockDim.x + threadIdx.x];
#endif
      k++;
      next = k < kept ? recorded[k] : 0;
    }
  }
  for (int s = 0; s < P; s++) counts[s * runs + run] = count[s * blockDim.x + threadIdx.x];
  carried[run] = total;
}
