/* From images to features: blocks of images are distributed to threads; each image is processed by itself. */
#include "features/private.h"

#include <math.h>

/* Images that are read and written together, because a cache line holds a pixel, or a feature, of several images. */
enum { BLOCK = 16 };

struct job {
  const struct features_images *images;
  const struct features_map *map;
  struct scattering scattering;
  size_t channels, columns, scratch; /* scratch: doubles of a worker */
  size_t *kinds;
  double *work, *out;
};

static void compute_block(void *context, size_t block, int worker);
static int read_image(const struct features_images *images, size_t i, double *to);
static double pixel(const struct features_images *images, size_t at);
static void map_features(const struct job *job, double *x);

int features_scattering(const struct features_images *images, enum features_order order, const struct features_map *map,
                        double *out) {
  struct job job = {.images = images, .map = map, .channels = features_channels(order), .out = out};
  const int threads = base_threads();
  int status = scattering_create(&job.scattering, images->height, images->width, order);
  job.columns = job.channels * job.scattering.grid;
  if (status == BASE_OK) {
    job.scratch = images->height * images->width + BLOCK * job.columns + scattering_scratch(&job.scattering);
    job.kinds = base_alloc(job.channels, sizeof *job.kinds);
    job.work = base_alloc((size_t)threads * job.scratch, sizeof *job.work);
    if (!job.kinds || !job.work) status = BASE_ERR_MEMORY;
  }
  if (status == BASE_OK) {
    scattering_kinds(order, job.kinds);
    status = base_parallel((images->n + BLOCK - 1) / BLOCK, threads, compute_block, &job);
  }
  base_free(job.work);
  base_free(job.kinds);
  scattering_free(&job.scattering);
  return status;
}

static void compute_block(void *context, size_t block, int worker) {
  const struct job *job = context;
  const size_t n = job->images->n, first = block * BLOCK, end = n - first < BLOCK ? n : first + BLOCK;
  double *features = job->work + (size_t)worker * job->scratch, *image = features + BLOCK * job->columns;
  double *scratch = image + job->scattering.pixels;
  if (base_parallel_stopped(worker)) return;
  for (size_t i = first; i < end; i++) {
    double *x = features + (i - first) * job->columns;
    const int usable = read_image(job->images, i, image);
    scattering_image(&job->scattering, image, scratch, x);
    map_features(job, x);
    for (size_t j = 0; !usable && j < job->columns; j++) x[j] = NAN;
  }
  for (size_t j = 0; j < job->columns; j++) {
    for (size_t i = first; i < end; i++) job->out[i + j * n] = features[(i - first) * job->columns + j];
  }
}

/* Are all pixels finite? */
static int read_image(const struct features_images *images, size_t i, double *to) {
  const double width = images->upper / 2 - images->lower / 2; /* halved: bounds may be near the largest double */
  int usable = 1;
  for (size_t r = 0; r < images->height; r++) {
    for (size_t c = 0; c < images->width; c++) {
      double value = pixel(images, i + images->n * (r * images->down + c * images->right));
      if (!isfinite(value)) {
        usable = 0;
        value = images->lower;
      }
      value = value < images->lower ? images->lower : value > images->upper ? images->upper : value;
      *to++ = (value / 2 - images->lower / 2) / width;
    }
  }
  return usable;
}

static double pixel(const struct features_images *images, size_t at) {
  if (images->numbers) return images->numbers[at];
  const int integer = images->integers[at];
  return integer == images->missing ? (double)NAN : (double)integer;
}

static void map_features(const struct job *job, double *x) {
  const size_t grid = job->scattering.grid;
  double squares = 0;
  for (size_t k = 0; k < job->channels; k++) {
    const double centre = job->map->centre[job->kinds[k]], scale = job->map->scale[job->kinds[k]];
    for (size_t j = k * grid; j < (k + 1) * grid; j++) {
      x[j] = (sqrt(x[j]) - centre) / scale;
      squares += x[j] * x[j];
    }
  }
  if (!(job->map->norm > 0) || squares == 0) return;
  const double factor = job->map->norm / sqrt(squares);
  for (size_t j = 0; j < job->columns; j++) x[j] *= factor;
}
