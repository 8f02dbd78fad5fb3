# How good method = "auto" is on data frames as a new user would pass them: numeric columns whose ranges are private,
# missing values, declared levels, no setting but eps; replace-one, delta = 1/n^2. Beside it, on the same split into
# 80 % to fit and 20 % to test: glm() and the constant prediction. What is written is exact and NOT PRIVATE.
#   Rscript raw.R RESULTS.csv VERSION FOLDER [SEEDS [SET ...]]     runs; 5 seeds and all sets by default
#   Rscript raw.R --summary RESULTS.csv [SUMMARY.csv]              means over the seeds, by version
# VERSION is any word that names the installed package, so that versions can be compared in one file of results.
# FOLDER has adult.csv.xz and bank.csv.xz (the columns of the UCI repository with a header, adult with the column split
# before them) and covertype.rds (integers, indicators as 0 and 1). A data set that is not there, or whose package is
# not installed, is skipped with a message.
# auc, accuracy and loss (mean logistic loss) are of the test rows that both dpsosp and glm() predict for.
#
# results/raw.csv has 20 seeds of the sets of at most 10,000 rows and 5 of the others. In its version "before", as in
# that of results/utility-auto.csv, all that is done to a row is the mapping of its columns to their ranges and the
# division by the radius.
library(dpsosp)

arguments <- commandArgs(TRUE)
this_file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source(file.path(dirname(this_file), "common.R"))

eps_values <- c(0.5, 1, 3)
sets <- list(
  titanic_train = list(package = "titanic", formula = Survived ~ Pclass + Sex + Age + SibSp + Parch + Fare + Embarked),
  attrition = list(package = "modeldata", formula = Attrition ~ .),
  mlc_churn = list(package = "modeldata", formula = churn ~ .),
  Caravan = list(package = "ISLR", formula = Purchase ~ .),
  lending_club = list(package = "modeldata", formula = Class ~ .),
  Default = list(package = "ISLR", formula = default ~ .),
  bank = list(file = "bank.csv.xz", formula = y ~ . - duration), # known only after the call
  adult = list(file = "adult.csv.xz", formula = income ~ . - split),
  covertype = list(file = "covertype.rds", formula = cover_type ~ .)
)

# What the documentation of the data sets says; a data set of a package is not in the list where its columns have
# levels already. Of covertype these are the two classes that are compared: other rows are no part of the problem.
no_yes <- c("no", "yes")
declared <- list(
  titanic_train = list(Survived = 0:1, Sex = c("female", "male"), Embarked = c("C", "Q", "S")),
  bank = list(
    job = c("admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired", "self-employed", "services",
            "student", "technician", "unemployed", "unknown"),
    marital = c("divorced", "married", "single"), education = c("primary", "secondary", "tertiary", "unknown"),
    default = no_yes, housing = no_yes, loan = no_yes, contact = c("cellular", "telephone", "unknown"),
    month = tolower(month.abb), poutcome = c("failure", "other", "success", "unknown"), y = no_yes
  ),
  adult = list(
    workclass = c("Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc",
                  "State-gov", "Without-pay"),
    education = c("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
                  "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
    marital_status = c("Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married",
                       "Separated", "Widowed"),
    occupation = c("Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
                   "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty",
                   "Protective-serv", "Sales", "Tech-support", "Transport-moving"),
    relationship = c("Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"),
    race = c("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"), sex = c("Female", "Male"),
    native_country = c("Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
                       "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
                       "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy",
                       "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru",
                       "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South", "Taiwan", "Thailand",
                       "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia"),
    income = c("<=50K", ">50K")
  ),
  covertype = list(cover_type = 1:2)
)

folder_data <- function(file, folder) {
  path <- file.path(folder, file)
  if (!file.exists(path)) {
    message(path, " is skipped: there is no such file.")
    return(NULL)
  }
  if (endsWith(file, ".rds")) readRDS(path) else utils::read.csv(path, na.strings = "?")
}

# NULL when it is not there.
read_set <- function(name, folder) {
  set <- sets[[name]]
  data <- if (is.null(set$package)) folder_data(set$file, folder) else package_data(name, set$package)
  if (is.null(data)) return(NULL)
  factors <- declared[[name]]
  data[names(factors)] <- Map(factor, data[names(factors)], factors)
  data[!is.na(data[[all.vars(set$formula)[1]]]), ]
}

# On the link's scale; the constant prediction is the share of the second level in the rows that glm() used. A level
# that none of them has is as good as missing.
exact_predictions <- function(formula, train, test) {
  fit <- suppressWarnings(stats::glm(formula, stats::binomial(), train))
  for (v in names(fit$xlevels)) test[[v]] <- factor(test[[v]], fit$xlevels[[v]])
  list(glm = suppressWarnings(stats::predict(fit, test)), constant = rep(stats::qlogis(mean(fit$y)), nrow(test)))
}

run <- function(path, version, folder, seeds, chosen) {
  out <- results_file(path, c("version", "set", "eps", "seed"))
  for (name in chosen) {
    data <- read_set(name, folder)
    if (is.null(data)) next
    formula <- sets[[name]]$formula
    set.seed(0)
    held <- sample.int(nrow(data), round(0.2 * nrow(data)))
    train <- data[-held, ]
    test <- data[held, ]
    seen <- test[[all.vars(formula)[1]]]
    exact <- exact_predictions(formula, train, test)
    for (eps in eps_values) for (seed in seq_len(seeds)) {
      row <- list(version = version, set = name, eps = eps, seed = seed)
      if (out$has(row)) next
      set.seed(seed)
      elapsed <- system.time(fit <- suppressWarnings(suppressMessages(
        dp_sosp(formula, train, eps = eps, noise = "reproducible", progress = FALSE)
      )))[["elapsed"]]
      link <- predict(fit, test)
      both <- !is.na(link) & !is.na(exact$glm)
      quality <- function(link) lapply(judge(link[both], seen[both] == levels(seen)[2]), signif, 5)
      out$add(c(row, list(chosen = fit$method), quality(link), glm = quality(exact$glm),
                constant = quality(exact$constant)[c("accuracy", "loss")],
                list(tested = sum(both), seconds = round(elapsed, 1))))
    }
  }
}

# By version, in the order of the file; ratio: the last to the first.
summarise <- function(path, out) {
  x <- utils::read.csv(path)
  if (length(out) > 0) utils::write.csv(means_of(x), out, row.names = FALSE)
  x$cell <- factor(paste(x$set, x$eps), unique(paste(x$set, x$eps)))
  x$version <- factor(x$version, unique(x$version))
  versions <- function(value) tapply(value, list(x$cell, x$version), mean)
  others <- function(names) vapply(x[names], function(value) tapply(value, x$cell, mean), numeric(nlevels(x$cell)))
  show <- function(title, table) {
    cat("\n", title, "\n", sep = "")
    print(round(table, 4))
  }
  with_ratio <- function(table) if (ncol(table) > 1) cbind(table, ratio = table[, ncol(table)] / table[, 1]) else table
  show("runs", table(x$cell, x$version))
  show("AUC", cbind(versions(x$auc), others("glm.auc")))
  show("AUC of glm() less AUC", with_ratio(versions(x$glm.auc - x$auc)))
  show("accuracy", cbind(versions(x$accuracy), others(c("glm.accuracy", "constant.accuracy"))))
  show("loss less that of the constant prediction",
       cbind(versions(x$loss - x$constant.loss), glm = others("glm.loss")[, 1] - others("constant.loss")[, 1]))
}

means_of <- function(x) {
  x$gap <- x$glm.auc - x$auc
  means <- stats::aggregate(x[c("gap", "auc", "loss", "constant.loss")], x[c("version", "set", "eps")], mean)
  data.frame(means[1:3], signif(means[-(1:3)], 5))
}

if (identical(arguments[1], "--summary")) {
  summarise(arguments[2], arguments[-(1:2)])
} else {
  run(arguments[1], arguments[2], arguments[3], if (length(arguments) > 3) as.integer(arguments[4]) else 5L,
      if (length(arguments) > 4) arguments[-(1:4)] else names(sets))
}
