#ifndef DPSOSP_DATA_PRIVATE_H
#define DPSOSP_DATA_PRIVATE_H

#include "data/data.h"

/* Rows in a block: few enough that a block's vectors stay in the first-level
 * cache, enough that the cost of BLAS calls is small. */
#define DATA_BLOCK 1024

struct data_block;

/* A storage is a file with one of these tables, which operates on the rows in data->own. Each function is called
 * once for a block or a tile, never once for a row. Those marked so may be NULL. */
struct rows_kind {
  void (*free)(void *own); /* of NULL, too */
  /* Number of columns that block() copies, each as wide as a double. */
  size_t (*width)(const struct data *data);
  /* The columns of a block whose rows, clips and responses are known. copy: into the buffer instead of in place, only
   * the rows of the list if there is one, with zeros for null records. May be NULL. */
  void (*block)(struct data_block *b, int copy, double *buffer);
  /* Makes in the buffer a tile of a block that was not copied. NULL: the products read it in place. */
  void (*tile)(struct data_block *tile, double *buffer);
  /* See the functions with these names below. */
  void (*matvec)(const struct data_block *b, const double *w, double *t);
  void (*matvec_t_add)(const struct data_block *b, const double *v, double *g);
  /* Several products at a time; NULL: one after the other. */
  void (*multiply)(const struct data_block *b, size_t k, const double *w, size_t ldw, double *t);
  void (*multiply_t_add)(const struct data_block *b, size_t k, const double *v, double *g, size_t ldg);
  void (*crossprod_add)(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc);
  void (*squares_add)(const struct data_block *b, const double *weight, const double *linear, double *sum);
  void (*outside_add)(const struct data_block *b, const double *low, const double *high, double *count);
  void (*moments_add)(const struct data_block *b, const double *weight, const double *most, double *g);
  void (*fetch_behind)(const struct data_block *b, size_t part, size_t parts); /* of a tile; may be NULL */
  double (*additions)(const struct data *data, double blocks, double groups);
};

struct coordinates {
  struct coordinates_spec spec; /* with copies of its arrays */
  double rest;                  /* part of |z|^2 that is the same for all rows, before clipping */
  double slack;                 /* more than rounding can reduce a squared length */
  double stretch;               /* bound on |z| / |r| */
  const double *square, *cross; /* scale^2, and 2 radius scale^2 centre */
  /* With a tilt the same of the columns without an end, and of the excess relative to the ends (proofs: tilt). */
  const double *free_square, *free_cross, *end_square, *end_cross;
  double free_rest, end_rest;
  const double *low, *high; /* beyond which entries are on the other side of their ends */
  double *work;             /* two points */
};

struct batch;

struct data {
  size_t n;
  size_t p;      /* columns without the intercept */
  int intercept; /* 1: a column of ones stands before them */
  double radius;
  double *clip;                          /* n: clips the row and divides it by the radius; 0 for a null record */
  double *y;                             /* n; 0 for a null record */
  double *weight;                        /* n: in [0, 1], one for a null record; NULL: all are one */
  double *offset;                        /* n: added to the predictors, zero for a null record; NULL: all are zero */
  double *share;                         /* n: part of its person, see data_set_persons(); NULL: each is a person */
  size_t persons, max_rows;              /* where there are shares: public numbers, the latter bounds n */
  struct batch *by_person;               /* see data_group(); or NULL */
  double most;                           /* bound on the offsets' absolute values */
  const struct coordinates *coordinates; /* or NULL */
  double *length;                        /* n: bounds of lengths in the coordinates; NULL unless rows are weighted */
  unsigned char *broken; /* a block with a null record, whose values may be NaN: its columns must be copied */
  const struct rows_kind *kind;
  void *own; /* what the storage keeps */
};

/* Computes clips, null records, broken blocks, weights, offsets and lengths of the rows that are in memory. */
void data_clip(struct data *data);

/* Gives the records these weights and offsets: n of each, copied, or NULL. They are clipped to [0, 1] and to absolute
 * values of at most `most`. May be called once. */
int data_set_weights(struct data *data, const double *weight, const double *offset, double most);
/* The same where they come with the rows, later: allocates room for them, to be filled before data_clip(). */
int data_expect_weights(struct data *data, int weight, int offset, double most);

/* Gives the rows the shares of data_shares(). May be called once. */
int data_set_persons(struct data *data, const int *person, size_t persons, size_t most);
/* Memory for the shares of n rows, which their storage fills. */
int data_expect_persons(struct data *data, size_t persons, size_t most);
/* Makes the list of all rows person by person, for sums over each person; none where a person may have more rows than
 * a block. Where rows have persons, once they are in memory. */
int data_group(struct data *data, const int *person);

/* The same where rows come in parts: all are added before the shares of any are known. */
struct tally {
  size_t persons, most;
  size_t *rows, *used; /* of each person the number of rows, and of those that are not null */
};
int tally_open(struct tally *t, size_t persons, size_t most); /* tally_close() must be called in any case */
void tally_close(struct tally *t);
int tally_add(struct tally *t, size_t n, const int *person, const double *clip);
/* Of rows that were added. A row that is null only in one of the two calls does not count more than one person. */
void tally_shares(const struct tally *t, size_t n, const int *person, const double *clip, double *share);

/* The length that takes the place of |z| where the classes have different weights (proofs: tilt). free: the squared
 * length of the columns without an end. */
double coordinates_tilted(const struct coordinates_spec *s, double length, double free, double excess, int regular);

/* Gives the rows these coordinates, which are kept by reference and must fit such rows. May be called once, for
 * weighted rows again with weighted rows. */
int data_move(struct data *data, const struct coordinates *coordinates);

/* The rows that a pass reads, where these are not all rows. */
struct batch {
  size_t count;
  size_t *row;                   /* ascending, unless person is set; NULL where next is set */
  double size;                   /* public: the divisor of the sums, whatever count is */
  const struct records *records; /* where rows are gathered from, or NULL: from the columns */
  int next;                      /* the next count records of a stream, in the order in which they come */
  /* Of all rows, person by person: */
  const int *person;   /* whose each row is; NULL for other batches */
  const size_t *first; /* of each of the blocks, which have whole persons, its first place in row; then count */
  size_t blocks;
};

/* ---- records.c: a copy by rows, for batches ---- */

/* NULL where the columns are not in double precision (dense.c), where the copy would be too large, or without memory.
 * */
struct records *data_records(const struct data *data);
void data_records_free(struct records *records);
struct records *records_create(const struct data *data, const double *x, size_t dense);
/* Copies records to x, count x dense, and to clip and y. */
void records_gather(const struct records *records, const size_t *row, size_t count, double *x, double *clip, double *y);

/* ---- data.c: blocks of rows ---- */

/* One block of rows, read in place or, if it is broken or belongs to a batch, from the
 * caller's buffer of data_buffer() columns as long as the block. */
struct data_block {
  const struct data *data;
  size_t rows;
  const double *clip;
  const double *y;
  const double *weight, *offset, *length; /* as of the data */
  const double *share;
  const int *person; /* whose the rows are, those of a person together; NULL: not in this order */
  const size_t *row; /* numbers of the rows, */
  size_t start;      /* or, without a list, of the first one */
  int tile;          /* part of a block: the next part is fetched while this one is summed */
  /* If the storage has them: */
  const double *x; /* rows x dense columns */
  size_t ld;
  const int *codes; /* rows x factors */
  size_t codes_ld;
};
static inline size_t data_row(const struct data_block *b, size_t i) { return b->row ? b->row[i] : b->start + i; }

/* What every sum multiplies a record's part by, after all clipping. */
static inline double data_share(const struct data_block *b, size_t i) { return b->share ? b->share[i] : 1; }
/* A record's weight, zero for a null record. */
static inline double data_weight(const struct data_block *b, size_t i) {
  return b->clip[i] > 0 ? (b->weight ? b->weight[i] : 1) : 0;
}

/* batch: NULL means all rows. */
size_t data_blocks(const struct data *data, const struct batch *batch);
size_t data_block_rows(const struct data *data, const struct batch *batch); /* of the longest block */
size_t data_buffer(const struct data *data);
struct data_block data_block_at(const struct data *data, const struct batch *batch, size_t index, double *buffer);
/* The block in place, null records included, whose numbers may be anything; for data_squares_add() and
 * data_outside_add() only. */
struct data_block data_block_as_it_lies(const struct data *data, size_t index);
/* At most `most` rows of the block from `start` on, in the form that the products below need. buffer is the block's. */
struct data_block data_tile(const struct data_block *block, size_t start, size_t most, double *buffer);
/* Do the products need this block in tiles? */
int data_needs_tiles(const struct data_block *block);

/* ---- products of a tile; x_i is a row before clipping, without the intercept ---- */

/* t <- X w */
void data_matvec(const struct data_block *b, const double *w, double *t);
/* g <- g + X'v */
void data_matvec_t_add(const struct data_block *b, const double *v, double *g);
/* The same of k columns: t <- X W, t as long as the tile, and G <- G + X'V. */
void data_multiply(const struct data_block *b, size_t k, const double *w, size_t ldw, double *t);
void data_multiply_t_add(const struct data_block *b, size_t k, const double *v, double *g, size_t ldg);
/* Prefetches a part of the dense columns' rows after a tile, while the tile is processed. */
void data_fetch_behind(const struct data_block *b, size_t part, size_t parts);
/* lower triangle of C (leading dimension ldc) <- C + X' diag(u v) X, like la_crossprod_add(); scratch: 4 doubles a row
 * */
void data_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                        size_t ldc);
/* sum_i <- sum_i + sum_j (weight_j x_ij - linear_j) x_ij, for a tile or a block in place; a NULL weight means
 * weights of one and linear of zero. Not finite where a value is missing. */
void data_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum);
/* count_i <- count_i + the number of entries x_ij below low_j <= 0 or above high_j >= 0, of a block in place. */
void data_outside_add(const struct data_block *b, const double *low, const double *high, double *count);
/* g_j <- g_j + sum_i weight_i min(r_ij^2, max_j^2) / (2 max_j), r_i the clipped row, for columns with max_j > 0; of a
 * tile. A NULL weight means weights of one. */
void data_moments_add(const struct data_block *b, const double *weight, const double *most, double *g);

/* A public bound on data_blocks(data, NULL): with persons the number of rows is private. */
size_t data_max_blocks(const struct data *data);
/* The largest number of additions that a term of a sum takes part in, where a group has at most `blocks` blocks and
 * there are `groups` groups. */
double data_additions(const struct data *data, double blocks, double groups);

/* ---- data.c: functions that the constructors share ---- */

/* Leaves own, the data of the storage, NULL. */
int data_open(const struct rows_kind *kind, size_t n, size_t p, int intercept, double radius, const double *y,
              struct data **out);
/* From squared norms of rows, intercept included, to clips, for the rows of one block. */
void data_finish_clips(struct data *data, size_t index);

/* One term of data_moments_add(), for a number that is clipped. */
static inline double data_moment(double r, double most) {
  double magnitude = r < 0 ? -r : r, least = magnitude < most ? magnitude : most;
  return least * least / (2 * most);
}

/* ---- dense columns and factors: dense.c keeps these, and single.c ---- */

struct columns {
  const void *x; /* n x dense: doubles, or floats in single.c */
  size_t dense;
  const int *codes;
  size_t factors;
  size_t first[]; /* of each factor the column of its first indicator; then p */
};
int columns_create(const struct rows_kind *kind, const void *x, const struct data_columns *columns, size_t n,
                   int intercept, double radius, const double *y, struct data **out);
size_t columns_width(const struct data *data);
double columns_additions(const struct data *data, double blocks, double groups);

/* Of blocks whose columns are doubles. */
void dense_matvec(const struct data_block *b, const double *w, double *t);
void dense_matvec_t_add(const struct data_block *b, const double *v, double *g);
void dense_multiply(const struct data_block *b, size_t k, const double *w, size_t ldw, double *t);
void dense_multiply_t_add(const struct data_block *b, size_t k, const double *v, double *g, size_t ldg);
void dense_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                         size_t ldc);
void dense_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum);
/* One column's part: sum_i <- sum_i + (weight x_i - linear) x_i. */
void dense_column_squares(size_t n, const double *x, double weight, double linear, double *restrict sum);
void dense_moments_add(const struct data_block *b, const double *weight, const double *most, double *g);
void dense_fetch_behind(const struct data_block *b, size_t part, size_t parts);

/* ---- codes.c: the parts of these that are factors ---- */

void codes_block(struct data_block *b, int copy, double *buffer);
void codes_matvec_add(const struct data_block *b, const double *w, double *t);
void codes_matvec_t_add(const struct data_block *b, const double *v, double *g);
void codes_crossprod_add(const struct data_block *b, const double *u, const double *v, double *scratch, double *c,
                         size_t ldc);
void codes_squares_add(const struct data_block *b, const double *weight, const double *linear, double *sum);
void codes_outside_add(const struct data_block *b, const double *high, double *count);
void codes_moments_add(const struct data_block *b, const double *weight, const double *most, double *g);

#endif
