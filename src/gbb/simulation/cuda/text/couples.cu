// The instance and the rewards of a couple, for both kernels of couples over a cut. Macros of couples.py:
// EVEN: the couples (a, b) and (b, a) have the same value. ADAPTIVE: the radius follows the log-determinant.
// SHARED_NOISE: noise and tie-breaking draws are arguments, those of the engine. ESTIMATE: means and widths of all
// couples are returned after the last round (for tests).

// The value of the couple (a, b) is <w (z_ab + z_ba) / 2 + w1 z_aa + w2 z_bb, theta>: w is twice the weight of an edge.
// All fields are doubles, also the integers `schedule` (row of radii) and `form` (row of priors).
struct Instance {
  double w, w1, w2, m12, m1, m2, noise, sigma, spread, offset, schedule, form;
  double R[K * K], payoff[K * K];
};

// A round of the couple (a, b): number of edges and total reward of its pairs ab, aa and bb. x is the noise summed over
// the edges from V1 to V2, from V2 to V1, inside V1 and inside V2. If a == b all edges belong to the first pair. The
// order of the additions is the engine's, whose bits SHARED_NOISE must reproduce.
__device__ __forceinline__ void respond(const Instance* of, int a, int b, const double* x, double* weight,
                                        double* paid) {
  double m12 = of->m12, m1 = of->m1, m2 = of->m2, sigma = of->noise;
  double Raa = of->R[a * K + a], Rbb = of->R[b * K + b];
  if (a == b) {
    double m = 2 * m12 + m1 + m2;
    weight[0] = m, weight[1] = weight[2] = 0.0;
    paid[0] = m * Raa + sigma * (x[0] + x[1] + x[2] + x[3]);
    paid[1] = paid[2] = 0.0;
  } else {
    weight[0] = 2 * m12, weight[1] = m1, weight[2] = m2;
    paid[0] = (m12 * of->R[a * K + b] + sigma * x[0]) + (m12 * of->R[b * K + a] + sigma * x[1]);
    paid[1] = m1 * Raa + sigma * x[2];
    paid[2] = m2 * Rbb + sigma * x[3];
  }
}
