# Run by dev/hosts.sh.
library(dpsosp)

half <- function(which) {
  force(which)
  function() {
    rows <- seq_len(nrow(dpsosp::covertype)) <= 12500
    dpsosp::covertype[if (which == 1) rows else !rows, ]
  }
}
for (host in 1:2) {
  mirai::daemons(1, url = sprintf("tls+tcp://10.77.%d.1:0", host), .compute = paste0("host", host),
                 remote = mirai::remote_config("ip", c("netns", "exec", paste0("dpsosp", host), "sh", "-c", "."),
                                               quote = TRUE))
}
for (host in 1:2) while (mirai::status(.compute = paste0("host", host))$connections == 0) Sys.sleep(0.2)
shards <- dp_shards(list(half(1), half(2)), compute = c("host1", "host2"), timeout = 60)
fit <- function(data) {
  set.seed(1)
  dp_sosp(cover ~ elevation + slope, data, eps = 1, delta = 1e-9, method = "newton", noise = "reproducible",
          bounds = list(elevation = c(1850, 3900), slope = c(0, 66)), progress = FALSE)
}
same <- isTRUE(all.equal(coef(fit(shards)), coef(fit(covertype)), tolerance = 1e-7))

system("sleep 1; ip netns pids dpsosp2 | xargs kill -9", wait = FALSE)
gone <- tryCatch({
  repeat dp_sosp(cover ~ elevation + slope, shards, budget = dp_budget(eps = 1, delta = 1e-9), method = "newton",
                 bounds = list(elevation = c(1850, 3900), slope = c(0, 66)), progress = FALSE)
}, dpsosp_error_source = function(e) TRUE)
for (host in 1:2) mirai::daemons(0, .compute = paste0("host", host))

results <- c("a fit over TLS is the one in memory" = same, "a host that goes away ends the fit" = isTRUE(gone))
for (name in names(results)[!results]) cat("hosts:", name, "\n")
cat(sum(results), " passed, ", sum(!results), " failed\n", sep = "")
quit("no", status = any(!results))
