// What both kernels of couples over a cut share: an instance, and the choice among couples that tie.
// EVEN says that the couples (a, b) and (b, a) are worth the same, ADAPTIVE that the radius follows the
// log-determinant, GIVEN that noise and the draws for ties are handed over, ESTIMATE that means and widths of all
// couples are handed back.

// The couple (a, b) has the objective w (z_ab + z_ba) + w1 z_aa + w2 z_bb, where w counts both already.
struct Instance {
  double w, w1, w2, m12, m1, m2, noise, sigma, spread, offset, schedule, form;
  double R[K * K], payoff[K * K];
};

// A round of the couple (a, b): what each of its pairs pays in sum. x has the noise of the edges 12, 21,
// 11 and 22, summed. With a == b all edges are of one pair, the first.
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
