/*
 * Laws of whole normal and Laplace variates: the text of mech/variate.c once more, and the law of a round, up to where
 * it begins again. Only comparisons of uniform numbers are not those of the package: given x, a run x > z_1 > z_2 > ...
 * that has i numbers gets a further one with probability x / (i + 1), and a number is below x with probability x,
 * whatever the earlier comparisons were like. x takes the nodes of a Gaussian quadrature in each half of [0, 1], with
 * their weights: probabilities are analytic in x, and a half's sum over the nodes is the integral up to 1e-16.
 */
enum { NODES = 6, HALVES = 2, PLACES = 16, AGAIN = PLACES, FARTHER };

static struct {
  int chosen; /* does this round have its x? */
  int once;   /* does each x end its round when it is compared anew, as in mech_draw_laplace()? */
  size_t node;
  long double x[HALVES * NODES], weight[HALVES * NODES];
} rounds;

static void begin_again(struct mech_bits *b) {
  law[AGAIN] += walk.probability;
  walk.probability = 0;
  b->status = BASE_ERR_ENTROPY;
}

/* A root of the Legendre polynomial, and its weight. */
static void node_of(size_t i, long double *x, long double *weight) {
  const long double pi = 3.14159265358979323846264338327950288L;
  long double slope = 1;
  *x = cosl(pi * ((long double)i + 0.75L) / (NODES + 0.5L));
  for (int step = 0; step < 20; step++) {
    long double before = 1, here = *x;
    for (int k = 2; k <= NODES; k++) {
      const long double next = ((2 * k - 1) * *x * here - (k - 1) * before) / k;
      before = here, here = next;
    }
    slope = NODES * (*x * here - before) / (*x * *x - 1);
    *x -= here / slope;
  }
  *weight = 2 / ((1 - *x * *x) * slope * slope);
}

static void place_nodes(void) {
  for (size_t i = 0; i < HALVES * NODES; i++) {
    long double x, part;
    node_of(i % NODES, &x, &part);
    rounds.weight[i] = part / (2 * HALVES);
    rounds.x[i] = ((long double)(i / NODES) + (x + 1) / 2) / HALVES;
  }
}

/* known is the number's place in its run, zero for x. */
static int round_less(struct mech_bits *b, struct mech_uniform *u, const struct mech_uniform *bound) {
  if (b->status != BASE_OK) return 0;
  if (bound->known == 0 && rounds.chosen && rounds.once) begin_again(b);
  if (bound->known == 0 && !rounds.chosen) {
    rounds.node = walk_choose(HALVES * NODES);
    rounds.chosen = 1;
    walk_took(b, rounds.weight[rounds.node]);
  }
  u->known = bound->known + 1;
  return walk_coin(b, rounds.x[rounds.node] / (long double)u->known);
}

static int round_half(struct mech_bits *b) {
  if (rounds.chosen && b->status == BASE_OK) begin_again(b);
  return walk_coin(b, expl(-0.5L));
}

#define mech_uniform_less round_less
#define mech_bernoulli_exp_half round_half
#undef mech_draw_normal
#undef mech_draw_laplace
#define mech_draw_normal round_draw_normal
#define mech_draw_laplace round_draw_laplace
#define half_normal_integer round_half_normal_integer
#define accept_fraction round_accept_fraction
#define descend round_descend
#define thin round_thin
#include "mech/variate.c"
#undef mech_uniform_less
#undef mech_bernoulli_exp_half
#undef mech_draw_normal
#undef mech_draw_laplace
#undef half_normal_integer
#undef accept_fraction
#undef descend
#undef thin
#define mech_draw_normal walked_draw_normal
#define mech_draw_laplace walked_draw_laplace

static long double bell(long double from) {
  return sqrtl(acosl(-1) / 2) * (erfl((from + 0.5L) * sqrtl(0.5L)) - erfl(from * sqrtl(0.5L)));
}

/* A round gives sign, integer part and half of the fraction with these probabilities, or is followed by another one,
 * which has the same law. Of Laplace's that follows, too, but with the integer part one larger: geometric. */
static void whole_variate(mech_sampler *draw, int normal, long double least, long double most_cut) {
  long double target[FARTHER + 1] = {0}, all = 0, accepted_round = 0;
  for (int k = 0; k < 12; k++) all += expl(-(long double)(k * k) / 2);
  for (size_t i = 0; i < PLACES; i++) {
    const long double from = (long double)(i % 8) / 2;
    if (normal)
      target[i] = bell(from) / all / 2;
    else if (i % 8 < 2)
      target[i] = expl(-from) * -expm1l(-0.5L) / 2;
  }
  for (int k = 4; normal && k < 12; k++) target[FARTHER] += (bell(k) + bell(k + 0.5L)) / all;
  for (size_t i = 0; i <= FARTHER; i++) accepted_round += target[i];
  target[AGAIN] = 1 - accepted_round;
  rounds.once = !normal;
  place_nodes();
  for (begin_long(least); walk_more();) {
    struct mech_bits b = fresh();
    struct mech_variate v;
    rounds.chosen = 0;
    draw(&b, &v);
    const size_t half = 2 * rounds.node >= HALVES * NODES;
    if (b.status == BASE_OK) found(v.k > 3 ? FARTHER : (v.negative ? 8 : 0) + 2 * v.k + half);
  }
  CHECK(is_law(FARTHER + 1, target, most_cut));
  if (!normal) CHECK(fabsl(target[AGAIN] - expl(-1)) < 1e-18L);
}

/* By sign, k up to 3 and the half of x; beyond that in one. */
static size_t place_of(const struct mech_variate *v) {
  if (v->k > 3) return 16;
  return (v->negative ? 8 : 0) + 2 * v->k + (v->x.digit[0] >= UINT32_C(1) << 31);
}

static void variates(mech_sampler *draw, long double (*below)(long double), long double least, long double most_cut) {
  long double target[17];
  target[16] = 2 * below(-4);
  for (size_t i = 0; i < 16; i++) {
    const long double from = -(long double)(i % 8) / 2;
    target[i] = below(from) - below(from - 0.5L);
  }
  walk_cells(2);
  for (begin_long(least); walk_more();) {
    struct mech_bits b = fresh();
    struct mech_variate v;
    draw(&b, &v);
    if (b.status == BASE_OK) found(place_of(&v));
  }
  CHECK(is_law(17, target, most_cut));
}
