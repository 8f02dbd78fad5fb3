/* Sizes of tiles. Rows that are read twice, for a predictor and then for a gradient or a Hessian, should be in a near
 * cache the second time. */
#include "engine/engine.h"

/* Bytes of a tile of rows for the gradient. In a tile for a matrix (MATRIX_TILE rows) seven columns at a time fit the
 * first-level cache. */
#define TILE_BYTES 40960

/* A multiple of 32 rows, at least 64 so that a column's part has several cache lines. */
size_t tile_search(const struct data_block *b) {
  size_t rows = (TILE_BYTES / sizeof(double) / (data_buffer(b->data) - 3) + 16) / 32 * 32;
  return rows < 64 ? 64 : rows > 512 ? 512 : rows;
}

/* Shorter, so that fetching and summing alternate sooner; a search has a cost for each candidate and tile, a logarithm.
 * */
size_t tile_gradient(const struct data_block *b) {
  size_t rows = tile_search(b);
  return rows > 128 ? 128 : rows;
}

/* Rows that are read once are read in whole blocks, unless they must be widened first. */
size_t tile_value(const struct data_block *b) { return data_needs_tiles(b) ? tile_gradient(b) : b->rows; }
