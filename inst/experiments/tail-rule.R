# Constants of read_tail() (R/job-intervals-residual.R), by which noisy counts of sizes, residual times length, tell the
# clip L of intervals of fits by residuals, and what the clip may have moved. SYNTHETIC data; the noise of counts and of
# the gradient is known, so that only the rule is run, with the package's own read_tail().
#   Rscript tail-rule.R RESULTS.csv [SEEDS]
# makes SEEDS (2) samples of each set and size, and of each for every rule 25 draws of the counts' noise, where mu is
# what all releases of intervals cost in Gaussian differential privacy (.15 and .5 are about eps 1 and 3). A row is the
# mean over samples, draws and coefficients of one set, n and mu:
#   same    probability that a 95 % interval covers the coefficient of lm() or glm() on the same records,
#   new     the same of the coefficient of the population, which also counts the error of the sample
#   least   the smaller of both, of the coefficient for which it is smallest
#   width   geometric mean of the standard error over that of the non-private sandwich
#   told    fraction of the draws that say that few records decide the coefficients
# Then: Rscript tail-rule.R --summary RESULTS.csv
# shows for each rule, where mu is .15 or more: the mean of same and new over sets, n and mu; in how many same is below
# .93, and in how many of these fewer than half of the draws say that few records decide (unsaid); how many draws say
# so where it is not (false); and the width. results/tail-rule.csv has 2 seeds. There the constants of R have no same
# below .93 of counts, and 2 of 32 of numbers, both .87: a few large counts in long rows, and .4 % of the records with
# 20 times the error. Noisy counts of 3000 records do not show them, so that it is not said either. A least power of
# 1.3 would leave one of them, with intervals 5 % wider, and all of b(L) as error none, 38 % wider; 1.8 would have 5, 9
# % narrower. Of counts 2.5 would be 11 % narrower, with .935 in place of .961 as the least. The least new is .7, where
# clipped products miss the variance that few records make.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))
inside <- asNamespace("dpsosp")

# ---- sets ----

of_numbers <- function(x, error, bend = 0) {
  list(x = x, y = 1 + x[, 1] - 0.5 * x[, 2] + bend + error, family = stats::gaussian())
}
of_counts <- function(x, mean, size = Inf, alive = 1) {
  y <- if (is.finite(size)) stats::rnbinom(nrow(x), size, mu = mean) else stats::rpois(nrow(x), mean)
  list(x = x, y = y * alive, family = stats::poisson())
}
normals <- function(n) matrix(stats::rnorm(3 * n), n)
sets <- list(
  bounded = list(
    normal = function(n) of_numbers(normals(n), stats::rnorm(n)),
    t3 = function(n) of_numbers(normals(n), stats::rt(n, 3)),
    "t5, long rows" = function(n) of_numbers(cbind(stats::rexp(n), stats::rt(n, 5), stats::rnorm(n)), stats::rt(n, 5)),
    lognormal = function(n) {
      x <- cbind(stats::rlnorm(n, 0, 0.7), stats::rnorm(n), stats::rexp(n))
      of_numbers(x, x[, 1] * stats::rnorm(n))
    },
    "skewed, leverage" = function(n) {
      x <- cbind(stats::rexp(n), stats::rnorm(n), stats::rbinom(n, 1, 0.1))
      of_numbers(x, (1 + x[, 1]) * (stats::rexp(n) - 1))
    },
    curved = function(n) {
      x <- cbind(pmin(stats::rgamma(n, 2.6, 3.3), 5), normals(n)[, 1:2])
      of_numbers(x, 0, 3 * x[, 1]^1.6 * exp(stats::rnorm(n, 0, 0.25)) - 3 * x[, 1])
    },
    "few large" = function(n) {
      x <- normals(n)
      of_numbers(x, ifelse(stats::runif(n) < 0.004, 20 * (1 + x[, 1]), 1) * stats::rnorm(n))
    },
    "counts as numbers" = function(n) {
      x <- cbind(ifelse(stats::runif(n) < 0.14, stats::rgeom(n, 0.2) + 1, 0), stats::rnorm(n), stats::runif(n))
      of_numbers(x, stats::rpois(n, 0.3 + 0.1 * x[, 1]) * (1 + x[, 1]))
    }
  ),
  count = list(
    Poisson = function(n) {
      x <- normals(n)
      of_counts(x, exp(0.7 + 0.3 * x[, 1] - 0.2 * x[, 2]))
    },
    overdispersed = function(n) {
      x <- cbind(stats::rexp(n), normals(n)[, 1:2])
      of_counts(x, exp(1 + 0.2 * x[, 1]), 1)
    },
    "zero-inflated" = function(n) {
      days <- ifelse(stats::runif(n) < 0.14, pmin(stats::rgeom(n, 0.2) + 1, 14), 0)
      x <- cbind(days, stats::rnorm(n), stats::runif(n))
      of_counts(x, exp(0.2 + 0.1 * x[, 1]), 2, stats::runif(n) < 0.4)
    },
    rare = function(n) {
      x <- normals(n)
      of_counts(x, 0.05 * exp(0.5 * x[, 1]), 0.5)
    },
    "two kinds" = function(n) {
      x <- cbind(stats::rnorm(n), stats::rbinom(n, 1, 0.2), stats::runif(n))
      of_counts(x, exp(0.5 * x[, 1]) * ifelse(stats::runif(n) < 0.02, 10, 1), 3)
    }
  )
)

# What the rules are judged by: sizes, and at clips L the bias, the products of the clipped terms and the sandwich.
judged <- function(set, n) {
  x <- cbind(1, scale(set$x))
  z <- x / sqrt(ncol(x))
  fit <- stats::glm.fit(z, set$y, family = set$family)
  r <- fit$fitted.values - set$y
  length <- sqrt(rowSums(z^2))
  size <- abs(r) * length
  inverse <- solve(crossprod(z * sqrt(set$family$variance(fit$fitted.values))) / n)
  clips <- exp(seq(log(stats::median(size) / 4), log(1.001 * max(size)), length.out = 80))
  at <- lapply(clips, function(clip) {
    term <- z * pmin(pmax(r, -clip / length), clip / length)
    list(bias = drop(inverse %*% colMeans(z * r - term)),
         sampling = diag(inverse %*% crossprod(term) %*% inverse) / n^2)
  })
  list(size = size, unit = stats::sd(r), clips = log(clips), n = n, bias = t(sapply(at, `[[`, "bias")),
       sampling = t(sapply(at, `[[`, "sampling")), noise = diag(inverse %*% inverse))
}

at_clip <- function(table, s, clip) {
  place <- (log(clip) - s$clips[1]) / (s$clips[2] - s$clips[1])
  i <- min(max(floor(place), 0), length(s$clips) - 2)
  part <- min(max(place - i, 0), 1)
  (1 - part) * table[i + 1, ] + part * table[i + 2, ]
}

# Weights of the sizes at the ends, as in src/barrier/query_residual.c.
fractions <- function(size, ends) {
  size <- pmin(pmax(size, ends[1]), ends[length(ends)])
  i <- findInterval(size, ends, all.inside = TRUE)
  upper <- (size - ends[i]) / (ends[i + 1] - ends[i])
  sums <- rowsum(c(1 - upper, upper), c(i, i + 1))
  counts <- numeric(length(ends))
  counts[as.integer(rownames(sums))] <- sums
  counts / length(size)
}

# Exact counts. Where the largest end is does not matter much, so it is random in draws.
counted <- function(s, top) {
  k <- inside$inference_size_ends
  ends <- top * s$unit * 2^((seq_len(k) - k) / 2)
  list(counts = fractions(s$size, ends), ends = ends)
}

# One draw.
intervals <- function(s, kind, mu, exact, noise) {
  shares <- inside$inference_residuals[[kind]]
  part <- function(name) s$n * mu * sqrt(shares[[name]] / sum(shares))
  sd <- sqrt(2) / part("sizes")
  counts <- structure(exact$counts + sd * noise, sd = sd)
  tail <- inside$read_tail(list(counts = counts, ends = exact$ends), inside$tail_q[[kind]] / part("gradient"),
                           c(inside$tail_least[[kind]], inside$tail_most))
  clip <- max(tail$clip, if (kind == "count") 1)
  gradient <- (2 * clip / part("gradient"))^2 * s$noise
  bias <- at_clip(s$bias, s, clip)
  whole <- s$sampling[nrow(s$sampling), ]
  sd <- sqrt(gradient + at_clip(s$sampling, s, clip) + (inside$inference_allowed * tail$bias)^2 * s$noise)
  covers <- function(error) stats::pnorm(1.96 * sd - bias, 0, error) - stats::pnorm(-1.96 * sd - bias, 0, error)
  c(same = covers(sqrt(gradient)), new = covers(sqrt(gradient + whole)), width = log(sd / sqrt(whole)),
    told = tail$heavy && tail$beyond > 0)
}

# ---- rules ----

rules_of <- function(kind) {
  q <- list(bounded = 2:4, count = 3:5)[[kind]]
  least <- list(bounded = c(1.3, 1.5, 1.8, 2), count = c(1.8, 2.2, 2.5, 2.8))[[kind]]
  grid <- rbind(expand.grid(window = c(31L, 4L, 6L, 8L), least = least, q = q[2]),
                expand.grid(window = 6L, least = least, q = q[-2]))
  rules <- lapply(seq_len(nrow(grid)), function(i) {
    list(tail_window = grid$window[i], tail_least = stats::setNames(grid$least[i], kind),
         tail_q = stats::setNames(grid$q[i], kind))
  })
  names(rules) <- paste0("window ", grid$window, ", power ", grid$least, ", q ", grid$q)
  usual <- function(power = 2.5, doubt = 0.35, misfit = 0.3) {
    list(tail_usual = c(power = power, doubt = doubt, misfit = misfit))
  }
  c(list(current = list()), rules,
    list("sure 2" = list(tail_sure = 2), "sure 4" = list(tail_sure = 4), "ratio 3" = list(tail_ratio = 3),
         "ratio 10" = list(tail_ratio = 10), "usual 2" = usual(power = 2), "usual 3" = usual(power = 3),
         "doubt .2" = usual(doubt = 0.2), "doubt .6" = usual(doubt = 0.6), "misfit .15" = usual(misfit = 0.15),
         "misfit .5" = usual(misfit = 0.5), "allowed 0" = list(inference_allowed = 0),
         "allowed 1" = list(inference_allowed = 1), "far .05" = list(tail_far = 0.05),
         "far .1" = list(tail_far = 0.1), "far 1" = list(tail_far = 1)))
}

run <- function(kind, seeds, draws = 25) {
  problems <- expand.grid(set = names(sets[[kind]]), n = c(3000, 20000), mu = c(0.05, 0.15, 0.5),
                          stringsAsFactors = FALSE)
  rules <- rules_of(kind)
  do.call(rbind, lapply(split(problems, paste(problems$set, problems$n)), function(part) {
    samples <- lapply(seq_len(seeds), function(seed) {
      set.seed(seed)
      judged(sets[[kind]][[part$set[1]]](part$n[1]), part$n[1])
    })
    set.seed(1)
    top <- 2^stats::runif(draws, 6, 9)
    noise <- matrix(stats::rnorm(draws * inside$inference_size_ends), draws)
    exact <- lapply(samples, function(s) lapply(top, function(top) counted(s, top)))
    do.call(rbind, lapply(names(rules), function(rule) with_constants(rules[[rule]], {
      do.call(rbind, lapply(part$mu, function(mu) {
        all <- do.call(cbind, lapply(seq_len(seeds), function(s) {
          vapply(seq_len(draws), function(i) {
            intervals(samples[[s]], kind, mu, exact[[s]][[i]], noise[i, ])
          }, numeric(13))
        }))
        mean_of <- rowMeans(all)
        data.frame(kind = kind, rule = rule, set = part$set[1], n = part$n[1], mu = mu, same = mean(mean_of[1:4]),
                   new = mean(mean_of[5:8]), least = min(mean_of[1:8]), width = exp(mean(mean_of[9:12])),
                   told = mean_of[13])
      }))
    })))
  }))
}

figures <- c("same", "new", "least", "width", "told")

summarised <- function(table) {
  table <- table[table$mu >= 0.15, ]
  rows <- lapply(split(table, paste(table$kind, table$rule)), function(x) {
    poor <- x$same < 0.93
    data.frame(x[1, c("kind", "rule")], same = mean(x$same), new = mean(x$new), least = min(x$same), below = sum(poor),
               unsaid = sum(poor & x$told < 0.5), false = mean(x$told[!poor]), width = exp(mean(log(x$width))))
  })
  table <- do.call(rbind, rows)
  table[order(table$kind, table$width), ]
}

if (arguments[1] == "--summary") {
  print(summarised(utils::read.csv(arguments[2])), digits = 3, row.names = FALSE)
} else {
  seeds <- if (length(arguments) > 1) as.integer(arguments[2]) else 2L
  table <- do.call(rbind, lapply(names(sets), run, seeds))
  table[figures] <- signif(table[figures], 3)
  utils::write.csv(table, arguments[1], row.names = FALSE)
  print(summarised(table), digits = 3, row.names = FALSE)
}
