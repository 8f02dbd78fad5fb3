# Do 95 % intervals cover the coefficients that lm(), MASS::rlm() or glm() finds in the same records? Real data frames,
# replace-one, delta = 1/n^2.
#   Rscript coverage.R RESULTS.csv [RUNS [SETS]]
# makes RUNS (40) runs of every set (or of SETS, separated by commas) with eps 1 and 3, with declared and with private
# ranges, of columns and of the response. A row is one coefficient:
#   covered  fraction of the runs whose interval covers it, among those in which it is shown
#   shown    fraction of the runs in which it is shown
#   half     median of half the width of the shown intervals
#   exact    1.96 standard errors by the sandwich of lm() or glm()
#   named    fraction of the runs whose summary() says that the intervals are about something else
# Sampling is not repeated, and standard errors include it, so intervals that are right cover more often than 95 %.
# Noise is reproducible: no result is for release.
# Then: Rscript coverage.R --summary RESULTS.csv SUMMARY.csv
suppressMessages(library(dpsosp))

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

# ---- sets: package, formula, loss; ranges as someone would declare them who knows the columns but not the records ----

most_rows <- 20000

set <- function(package, formula, loss, bounds, response = NULL, name = NULL, change = identity) {
  list(package = package, formula = formula, loss = loss, bounds = bounds, response = response, name = name,
       change = change)
}

sets <- list(
  # Squared error
  CPS1988 = set("AER", log(wage) ~ education + experience + I(experience^2) + ethnicity + smsa + region, "squared",
                list(education = c(0, 18), experience = c(-4, 63)), c(3, 10)),
  CPSSW8 = set("AER", earnings ~ education + age + gender + region, "squared",
               list(education = c(6, 20), age = c(21, 64)), c(0, 100)),
  diamonds = set("ggplot2", price ~ carat + depth, "squared", list(carat = c(0, 5), depth = c(40, 80)), c(0, 20000)),
  ames = set("modeldata", Sale_Price ~ Gr_Liv_Area + Year_Built + Total_Bsmt_SF + Garage_Cars, "squared",
             list(Gr_Liv_Area = c(300, 6000), Year_Built = c(1870, 2010), Total_Bsmt_SF = c(0, 6500),
                  Garage_Cars = c(0, 5)), c(0, 800000)),
  Computers = set("Ecdat", price ~ speed + hd + ram + screen + cd + premium, "squared",
                  list(speed = c(25, 100), hd = c(80, 2100), ram = c(2, 32), screen = c(14, 17)), c(500, 6000)),
  Vocab = set("carData", vocabulary ~ education + year + sex, "squared",
              list(education = c(0, 20), year = c(1974, 2016)), c(0, 10)),
  SLID = set("carData", wages ~ education + age + sex + language, "squared",
             list(education = c(0, 20), age = c(16, 69)), c(0, 60), change = stats::na.omit),
  card = set("wooldridge", lwage ~ educ + exper + expersq + black + south + smsa, "squared",
             list(educ = c(0, 20), exper = c(0, 25), expersq = c(0, 625), black = 0:1, south = 0:1, smsa = 0:1),
             c(4, 8)),
  bwght = set("wooldridge", bwght ~ cigs + faminc + parity + male + white, "squared",
              list(cigs = c(0, 50), faminc = c(0, 65), parity = c(1, 6), male = 0:1, white = 0:1), c(0, 300)),
  delays = set("nycflights13", arr_delay ~ dep_delay + distance + origin, "squared",
               list(dep_delay = c(-60, 1500), distance = c(0, 5000)), c(-100, 1500), name = "flights",
               change = function(d) stats::na.omit(d[c("arr_delay", "dep_delay", "distance", "origin")])),
  creatinine = set("survival", creatinine ~ age + sex + kappa + lambda, "squared",
                   list(age = c(50, 100), kappa = c(0, 20), lambda = c(0, 20)), c(0, 16), name = "flchain",
                   change = function(d) d[!is.na(d$creatinine), ]),
  # Huber's loss
  earnings_huber = set("AER", earnings ~ education + age + gender + region, "huber",
                       list(education = c(6, 20), age = c(21, 64)), c(0, 100), name = "CPSSW8"),
  Computers_huber = set("Ecdat", price ~ speed + hd + ram + screen + cd + premium, "huber",
                        list(speed = c(25, 100), hd = c(80, 2100), ram = c(2, 32), screen = c(14, 17)), c(500, 6000),
                        name = "Computers"),
  ames_huber = set("modeldata", Sale_Price ~ Gr_Liv_Area + Year_Built + Total_Bsmt_SF + Garage_Cars, "huber",
                   list(Gr_Liv_Area = c(300, 6000), Year_Built = c(1870, 2010), Total_Bsmt_SF = c(0, 6500),
                        Garage_Cars = c(0, 5)), c(0, 800000), name = "ames"),
  # Counts
  DoctorVisits = set("AER", visits ~ gender + age + income + illness + reduced, "poisson",
                     list(age = c(0.19, 0.72), income = c(0, 1.5), illness = c(0, 5), reduced = c(0, 14)), 20),
  NMES1988 = set("AER", visits ~ hospital + chronic + gender + school + insurance, "poisson",
                 list(hospital = c(0, 8), chronic = c(0, 8), school = c(0, 18)), 100),
  Bikeshare = set("ISLR2", bikers ~ temp + hum + windspeed + workingday, "poisson",
                  list(temp = 0:1, hum = 0:1, windspeed = 0:1, workingday = 0:1), 1000),
  crime1 = set("wooldridge", narr86 ~ pcnv + ptime86 + qemp86 + inc86 + black + hispan, "poisson",
               list(pcnv = 0:1, ptime86 = c(0, 12), qemp86 = c(0, 4), inc86 = c(0, 550), black = 0:1, hispan = 0:1),
               20),
  # Logistic
  HealthInsurance = set("AER", insurance ~ health + age + limit + gender + married + selfemp + family, "logistic",
                        list(age = c(18, 62), family = c(1, 14))),
  SmokeBan = set("AER", smoker ~ ban + age + education + gender, "logistic", list(age = c(18, 90))),
  Default = set("ISLR2", default ~ student + balance + income, "logistic",
                list(balance = c(0, 3000), income = c(0, 75000))),
  mlc_churn = set("modeldata", churn ~ total_day_minutes + total_eve_minutes + number_customer_service_calls +
                    international_plan + voice_mail_plan, "logistic",
                  list(total_day_minutes = c(0, 400), total_eve_minutes = c(0, 400),
                       number_customer_service_calls = c(0, 10))),
  death = set("survival", death ~ age + sex + kappa + lambda, "logistic",
              list(age = c(50, 100), kappa = c(0, 20), lambda = c(0, 20)), name = "flchain",
              change = function(d) transform(d[!is.na(d$creatinine), ], death = factor(death, labels = c("no", "yes"))))
)

# At most `most_rows` records, the same in every run; characters as factors.
read_set <- function(label) {
  set <- sets[[label]]
  data <- package_data(if (is.null(set$name)) label else set$name, set$package)
  if (is.null(data)) return(NULL)
  data <- set$change(data)
  unordered <- function(x) if (is.character(x) || is.ordered(x)) factor(x, ordered = FALSE) else x
  data[] <- lapply(data, unordered)
  set.seed(0)
  if (nrow(data) > most_rows) data <- data[sample.int(nrow(data), most_rows), ]
  c(set, list(data = data))
}

# Of all records: coefficients, and standard errors by the sandwich.
reference <- function(set) {
  if (set$loss == "huber") {
    fit <- MASS::rlm(set$formula, set$data, maxit = 200)
    return(list(estimate = stats::coef(fit), error = summary(fit)$coefficients[, 2]))
  }
  family <- switch(set$loss, squared = stats::gaussian(), poisson = stats::poisson(), logistic = stats::binomial())
  fit <- stats::glm(set$formula, family, set$data)
  list(estimate = stats::coef(fit), error = sandwich_errors(fit))
}

loss_of <- function(set, declared) {
  if (!declared || is.null(set$response)) return(set$loss)
  switch(set$loss, squared = loss_squared(set$response), huber = loss_huber(set$response),
         poisson = loss_poisson(set$response))
}

one_run <- function(set, eps, declared, seed, truth) {
  set.seed(seed)
  fit <- suppressWarnings(suppressMessages(dp_sosp(
    set$formula, set$data, eps = eps, delta = 1 / nrow(set$data)^2, loss = loss_of(set, declared),
    bounds = if (declared) set$bounds else "private", inference = "sandwich", noise = "reproducible", progress = FALSE
  )))
  ends <- confint(fit)
  text <- paste(utils::capture.output(summary(fit)), collapse = " ")
  cbind(covered = ends[, 1] <= truth & truth <= ends[, 2], half = (ends[, 2] - ends[, 1]) / 2,
        named = grepl("count less", text))
}

simulate <- function(out, runs, chosen) {
  for (label in chosen) for (eps in c(1, 3)) for (ranges in c("declared", "private")) {
    key <- list(set = label, eps = eps, ranges = ranges)
    if (out$has(key)) next
    set <- read_set(label)
    if (is.null(set)) next
    exact <- reference(set)
    seconds <- system.time(all <- simplify2array(lapply(
      seq_len(runs), one_run, set = set, eps = eps, declared = ranges == "declared", truth = exact$estimate
    )))[["user.self"]]
    for (j in seq_along(exact$estimate)) {
      got <- as.data.frame(t(all[j, , ]))
      out$add(c(key, list(
        loss = set$loss, coefficient = names(exact$estimate)[j], runs = runs,
        covered = round(mean(got$covered, na.rm = TRUE), 3),
        shown = round(mean(!is.na(got$covered)), 3), half = signif(stats::median(got$half, na.rm = TRUE), 3),
        exact = signif(1.96 * exact$error[[j]], 3), named = round(mean(got$named), 3)
      )))
    }
    message(label, " ", eps, " ", ranges, ": ", round(seconds / runs, 2), " s a fit")
  }
}

# Pooled over the coefficients; least: of those that are shown in at least half of the runs.
summary_table <- function(x) {
  label <- paste(x$set, x$eps, x$ranges)
  rows <- lapply(split(x, factor(label, unique(label))), function(x) {
    often <- x$shown >= 0.5
    numbers <- c(covered = sum(x$covered * x$shown, na.rm = TRUE) / sum(x$shown), shown = mean(x$shown),
                 least = if (any(often)) min(x$covered[often]) else NA,
                 ratio = stats::median(x$half / x$exact, na.rm = TRUE), named = mean(x$named))
    cbind(x[1, c("set", "loss", "eps", "ranges", "runs")], as.list(round(numbers, 3)))
  })
  do.call(rbind, rows)
}

if (identical(arguments[1], "--summary")) {
  table <- summary_table(utils::read.csv(arguments[2]))
  utils::write.csv(table, arguments[3], row.names = FALSE, quote = FALSE, na = "")
} else {
  runs <- if (length(arguments) > 1L) as.integer(arguments[2]) else 40L
  chosen <- if (length(arguments) > 2L) strsplit(arguments[3], ",")[[1]] else names(sets)
  simulate(results_file(arguments[1], c("set", "eps", "ranges")), runs, chosen)
}
