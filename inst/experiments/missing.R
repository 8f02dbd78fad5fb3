# Records with gaps: `missing` = "drop", "fill" and "indicate" at eps = 1, on data frames with real gaps and on two in
# which a share of all values of predictors is made missing, at random or twice as often above the median. Mean
# log-loss, or squared error relative to the variance, of a fifth of the records, means of three splits. A record
# without a prediction gets that of the constant. "none": the same fit before gaps are made. Results are exact and NOT
# PRIVATE.
#   Rscript missing.R RESULTS.csv FOLDER [SET ...]   FOLDER as in raw.R; frames of packages that are absent are skipped
library(dpsosp)

from <- function(package, name) {
  where <- new.env()
  utils::data(list = name, package = package, envir = where)
  as.data.frame(where[[name]])
}
two <- function(x, labels = c("no", "yes")) factor(as.integer(x), 0:1, labels)

# A data frame with the response first, whose type decides the loss.
sets <- list(
  credit = function(folder) from("modeldata", "credit_data")[c(1, 2:14)],
  chile = function(folder) {
    d <- from("carData", "Chile")
    d <- d[d$vote %in% c("N", "Y"), ]
    data.frame(vote = factor(d$vote, c("N", "Y")), d[setdiff(names(d), c("vote", "statusquo"))])
  },
  titanic = function(folder) from("carData", "TitanicSurvival"),
  pima = function(folder) from("mlbench", "PimaIndiansDiabetes2")[c(9, 1:8)],
  votes = function(folder) from("mlbench", "HouseVotes84"),
  flchain = function(folder) {
    d <- from("survival", "flchain")
    data.frame(death = two(d$death), d[c("age", "sex", "kappa", "lambda", "creatinine")])
  },
  nafld = function(folder) {
    d <- from("survival", "nafld1")
    data.frame(status = two(d$status), d[c("age", "male", "weight", "height", "bmi")])
  },
  mgus = function(folder) {
    d <- from("survival", "mgus2")
    data.frame(death = two(d$death), d[c("age", "sex", "hgb", "creat", "mspike")])
  },
  flights = function(folder) {
    d <- merge(from("nycflights13", "flights"), from("nycflights13", "weather"), all.x = TRUE)
    d <- d[!is.na(d$arr_delay), ]
    numbers <- c("month", "hour", "distance", "temp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib")
    data.frame(late = two(d$arr_delay > 15), origin = factor(d$origin), carrier = factor(d$carrier), d[numbers])
  },
  vocabulary = function(folder) {
    d <- from("carData", "GSSvocab")
    d <- d[!is.na(d$vocab), ]
    data.frame(vocab = as.double(d$vocab), d[c("gender", "nativeBorn", "age", "educ")])
  },
  wages = function(folder) {
    d <- from("carData", "SLID")
    d <- d[!is.na(d$wages), ]
    data.frame(wages = d$wages, d[c("education", "age", "sex", "language")])
  },
  card = function(folder) {
    d <- from("wooldridge", "card")
    d[c("lwage", "educ", "age", "fatheduc", "motheduc", "black", "smsa", "south", "IQ", "married", "KWW")]
  },
  births = function(folder) {
    from("wooldridge", "bwght")[c("bwght", "faminc", "cigs", "fatheduc", "motheduc", "parity", "male", "white")]
  },
  adult = function(folder) adult_data(folder, c("?", "NA")),
  adult_random = function(folder) stats::na.omit(adult_data(folder, "?")),
  covertype_random = function(folder) {
    d <- readRDS(file.path(folder, "covertype.rds"))
    set.seed(1)
    d <- d[sample(nrow(d), 40000), ]
    data.frame(lodgepole = factor(d$cover_type == 2), d[1:10], wilderness = factor(max.col(d[11:14])))
  }
)

adult_data <- function(folder, gaps) {
  d <- utils::read.csv(file.path(folder, "adult.csv.xz"), na.strings = gaps, strip.white = TRUE,
                       stringsAsFactors = TRUE)
  d[c("income", setdiff(names(d), c("income", "split", "fnlwgt", "education_num")))]
}

# informative: values above the median are missing twice as often, others never.
make_gaps <- function(d, rate, informative) {
  for (name in names(d)[-1]) {
    high <- if (informative && is.numeric(d[[name]])) 2 * (d[[name]] > stats::median(d[[name]])) else 1
    d[[name]][stats::runif(nrow(d)) < rate * high] <- NA
  }
  d
}

score <- function(train, test, missing, seed) {
  numeric <- is.numeric(train[[1]])
  set.seed(seed)
  fit <- suppressWarnings(suppressMessages(dp_sosp(stats::reformulate(".", names(train)[1]), train, eps = 1,
    loss = if (numeric) loss_squared(), missing = missing, noise = "reproducible", progress = FALSE)))
  link <- predict(fit, test, type = if (numeric) "response" else "link")
  if (numeric) {
    link[is.na(link)] <- mean(train[[1]], na.rm = TRUE)
    return(mean((test[[1]] - link)^2) / stats::var(test[[1]]))
  }
  yes <- as.integer(test[[1]]) == 2
  link[is.na(link)] <- stats::qlogis(mean(as.integer(train[[1]]) == 2))
  mean(log1p(exp(-abs(link))) + pmax(ifelse(yes, -link, link), 0))
}

# gaps: list(rate, informative), or NULL: those that the data have.
run <- function(name, d, gaps = NULL) {
  d <- d[!is.na(d[[1]]), ]
  rows <- lapply(1:3, function(seed) {
    set.seed(1000 + seed)
    test <- sample(nrow(d)) > 0.8 * nrow(d)
    with <- if (is.null(gaps)) d else make_gaps(d, gaps$rate, gaps$informative)
    of <- function(missing) score(with[!test, ], with[test, ], missing, seed)
    data.frame(complete = mean(stats::complete.cases(with)), drop = of("drop"), fill = of("fill"),
               indicate = of("indicate"), none = if (is.null(gaps)) NA else score(d[!test, ], d[test, ], "drop", seed))
  })
  means <- colMeans(do.call(rbind, rows))
  kind <- if (is.null(gaps)) "real" else if (gaps$informative) "more above the median" else "random"
  data.frame(set = name, gaps = kind, n = nrow(d), columns = ncol(d) - 1,
             loss = if (is.numeric(d[[1]])) "squared" else "logistic",
             t(signif(means, 4)))
}

arguments <- commandArgs(TRUE)
chosen <- if (length(arguments) > 2) arguments[-(1:2)] else names(sets)
for (name in chosen) {
  d <- tryCatch(sets[[name]](arguments[2]), error = function(e) NULL, warning = function(w) NULL)
  if (is.null(d)) {
    message(name, " is skipped: its package or file is absent.")
    next
  }
  kinds <- if (endsWith(name, "_random")) lapply(c(FALSE, TRUE), function(more) list(rate = 0.1, informative = more))
  for (gaps in if (is.null(kinds)) list(NULL) else kinds) {
    row <- run(sub("_random", "", name), d, gaps)
    print(row)
    there <- file.exists(arguments[1])
    utils::write.table(row, arguments[1], there, sep = ",", row.names = FALSE, col.names = !there, quote = FALSE)
  }
}
