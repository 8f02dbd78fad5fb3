# Run by dev/slurm.sh: two workers are two jobs.
library(dpsosp)

names <- c("a", "b")
for (worker in names) {
  mirai::daemons(1, url = mirai::host_url(tls = TRUE), .compute = worker,
                 remote = mirai::cluster_config("sbatch", "#SBATCH --ntasks=1 --output=/dev/null --job-name=worker"))
}
began <- Sys.time()
connected <- function() all(vapply(names, function(worker) mirai::status(.compute = worker)$connections, 0L) == 1L)
while (!connected() && Sys.time() - began < 60) Sys.sleep(0.2)
stopifnot(connected())

half <- function(which) {
  force(which)
  function() {
    rows <- seq_len(nrow(dpsosp::covertype)) <= 12500
    dpsosp::covertype[if (which == 1) rows else !rows, ]
  }
}
shards <- dp_shards(list(half(1), half(2)), compute = names, timeout = 60)
fit <- function(data, method) {
  set.seed(1)
  dp_sosp(cover ~ elevation + slope, data, eps = 1, delta = 1e-9, method = method, noise = "reproducible",
          bounds = list(elevation = c(1850, 3900), slope = c(0, 66)), progress = FALSE)
}
same <- function(method) isTRUE(all.equal(coef(fit(shards, method)), coef(fit(covertype, method)), tolerance = 1e-7))
results <- c("a fit is the one in memory" = same("newton"), "so is one on batches" = same("opt-b"))

jobs <- system("squeue --noheader --format=%A --name=worker", intern = TRUE)
results["two jobs run"] <- length(jobs) == 2L
system(paste("sleep 1; scancel", jobs[2]), wait = FALSE)
ended <- tryCatch({
  repeat fit(shards, "newton")
}, dpsosp_error_source = function(e) TRUE)
results["a job that is cancelled ends the fit"] <- ended
for (worker in names) mirai::daemons(0, .compute = worker)

for (name in names(results)[!results]) cat("slurm:", name, "\n")
cat(sum(results), " passed, ", sum(!results), " failed\n", sep = "")
quit("no", status = as.integer(any(!results)))
