/* Sizes of tiles: rows that are read twice, for a predictor and then for a gradient or a Hessian, are read from a near
 * cache the second time. */
#include "engine/engine.h"

/* Bytes of a tile of rows for the gradient. Of one for a matrix (MATRIX_TILE rows) seven columns at a time are in the
 * first-level cache. */
#define TILE_BYTES 40960

/* A multiple of 32 rows, at least 64 so that a column's part is some cache lines long. */
size_t tile_search(const struct data_block *b) {
  size_t rows = (TILE_BYTES / sizeof(double) / (data_buffer(b->data) - 1) + 16) / 32 * 32;
  return rows < 64 ? 64 : rows > 512 ? 512 : rows;
}

/* Shorter, so that fetching and summing alternate sooner; a candidate of a search has a cost by tile, the logarithm. */
size_t tile_gradient(const struct data_block *b) {
  size_t rows = tile_search(b);
  return rows > 128 ? 128 : rows;
}

/* What is read once is read in whole blocks, unless it has to be widened first. */
size_t tile_value(const struct data_block *b) { return data_needs_tiles(b) ? tile_gradient(b) : b->rows; }
