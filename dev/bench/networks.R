# What privacy costs an epoch of a network: steps as the package takes them over the same steps by the same code
# without norms, clipping and noise; 60,000 images of 28 x 28 numbers in ten classes, batches of 2,000, so 30 steps are
# an epoch. And its memory, which is not to grow with the batch.
source("dev/bench/common.R")
bench_open()

images <- 60000
set.seed(1)
x <- matrix(runif(images * 784), images)
y <- sample(10, images, TRUE) / 10

peak <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

for (threads in 1:2) {
  if (!bench_threads(threads)) next
  for (model in c("mlp", "cnn")) {
    open <- function(plain) .Call("bench_network_open", x, y, model == "cnn", plain)
    network <- list(private = open(FALSE), plain = open(TRUE))
    weights <- .Call("bench_network_dim", network$private)
    # a quarter of the rows drawn: a copy by rows is made
    for (n in network) .Call("bench_network_steps", n, 12L, 2000)
    bench_head(model, ", ", weights, " weights, threads: ", threads)
    t <- bench_times(5, private = .Call("bench_network_steps", network$private, 10L, 2000),
                     plain = .Call("bench_network_steps", network$plain, 10L, 2000))
    for (name in names(network)) bench_milliseconds(lapply(t, `/`, 10), name)
    bench_ratio("private over non-private, processor", t, "private", "plain", "at most 1.5")
    if (threads > 1) bench_ratio("private over non-private, wall clock", t, "private", "plain", clock = "wall")
    before <- peak()
    .Call("bench_network_steps", network$private, 2L, 20000)
    bench_say("a batch of 20,000: more memory than with 2,000, MiB", sprintf("%.1f", peak() - before))
    bench_say("its gradients, one for each record, would be, MiB", sprintf("%.0f", 8 * 20000 * weights / 2^20))
  }
}
