# Data frames as a new user would pass them: original columns, levels as in the documentation of the data, and missing
# values.

sets <- list(
  titanic_train = list(package = "titanic", formula = Survived ~ Pclass + Sex + Age + SibSp + Parch + Fare + Embarked),
  attrition = list(package = "modeldata", formula = Attrition ~ .),
  mlc_churn = list(package = "modeldata", formula = churn ~ .),
  Caravan = list(package = "ISLR", formula = Purchase ~ .),
  lending_club = list(package = "modeldata", formula = Class ~ .),
  Default = list(package = "ISLR", formula = default ~ .),
  bank = list(file = "bank.csv.xz", formula = y ~ . - duration), # known only after the call
  adult = list(file = "adult.csv.xz", formula = income ~ . - split),
  covertype = list(file = "covertype.rds", formula = cover_type ~ .),
  flights = list(package = "nycflights13", formula = late ~ origin + carrier + month + hour + distance + temp + humid +
    wind_speed + precip + pressure + visib)
)

# Levels from the documentation of the data sets; a data set of a package is not in the list if its columns already have
# levels. For covertype these are the two classes to compare; other rows are not used.
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
  covertype = list(cover_type = 1:2),
  flights = list(
    origin = c("EWR", "JFK", "LGA"), month = 1:12, late = no_yes,
    carrier = c("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV")
  )
)

folder_data <- function(file, folder) {
  path <- file.path(folder, file)
  if (!file.exists(path)) {
    message(path, " is skipped: there is no such file.")
    return(NULL)
  }
  if (endsWith(file, ".rds")) readRDS(path) else utils::read.csv(path, na.strings = "?")
}

# Joined with the weather of the hour and the airport: what is known before departure. A flight is late if it arrives
# more than 30 minutes after schedule; the response of flights that did not arrive is missing.
with_weather <- function(flights) {
  weather <- package_data("weather", "nycflights13")
  measured <- c("temp", "humid", "wind_speed", "precip", "pressure", "visib")
  key <- function(data) paste(data$origin, format(data$time_hour, "%Y-%m-%d %H", tz = "UTC"))
  flights[measured] <- weather[match(key(flights), key(weather)), measured]
  flights$late <- no_yes[1 + (flights$arr_delay > 30)]
  flights
}

# NULL if it is not available.
read_set <- function(name, folder) {
  set <- sets[[name]]
  data <- if (is.null(set$package)) folder_data(set$file, folder) else package_data(name, set$package)
  if (is.null(data)) return(NULL)
  if (name == "flights") data <- with_weather(data)
  factors <- declared[[name]]
  data[names(factors)] <- Map(factor, data[names(factors)], factors)
  data[!is.na(data[[all.vars(set$formula)[1]]]), ]
}

# Predictions on the link's scale. The constant prediction is the fraction of the second level in the rows that glm()
# used. A level that does not occur in these rows is treated as missing.
exact_predictions <- function(formula, train, test) {
  fit <- suppressWarnings(stats::glm(formula, stats::binomial(), train))
  for (v in names(fit$xlevels)) test[[v]] <- factor(test[[v]], fit$xlevels[[v]])
  list(glm = suppressWarnings(stats::predict(fit, test)), constant = rep(stats::qlogis(mean(fit$y)), nrow(test)))
}

# 80 % to fit and 20 % to test, the same in every run; positive: which test rows have the second level. NULL if the data
# are not available. At most so many rows are used, drawn at random.
split_set <- function(name, folder, most = Inf) {
  data <- read_set(name, folder)
  if (is.null(data)) return(NULL)
  formula <- sets[[name]]$formula
  set.seed(0)
  if (nrow(data) > most) data <- data[sample.int(nrow(data), most), ]
  held <- sample.int(nrow(data), round(0.2 * nrow(data)))
  train <- data[-held, ]
  test <- data[held, ]
  seen <- test[[all.vars(formula)[1]]]
  list(formula = formula, train = train, test = test, positive = seen == levels(seen)[2],
       exact = exact_predictions(formula, train, test))
}

# Only eps is set. Also returns the time in seconds.
timed_fit <- function(set, eps, seed, ...) {
  set.seed(seed)
  seconds <- system.time(fit <- suppressWarnings(suppressMessages(
    dp_sosp(set$formula, set$train, eps = eps, noise = "reproducible", progress = FALSE, ...)
  )))[["elapsed"]]
  list(fit = fit, seconds = round(seconds, 1))
}

# Uses rows for which both a fit and glm() predict.
quality_of <- function(link, both, set) lapply(judge(link[both], set$positive[both]), signif, 5)

# "curves" is no method but the default one with a smooth term for each number.
settings <- function(method) if (method == "curves") list(smooth = TRUE) else list(method = method)

# The runs of grid (eps, seed and method) that are missing in the results, for the chosen sets. row_of(name, set, run):
# the list that identifies a run in the results.
run_sets <- function(out, chosen, folder, grid, row_of) {
  for (name in chosen) {
    set <- split_set(name, folder)
    if (is.null(set)) next
    for (i in seq_len(nrow(grid))) {
      row <- row_of(name, set, as.list(grid[i, ]))
      if (out$has(row)) next
      run <- do.call(timed_fit, c(list(set, grid$eps[i], grid$seed[i]), settings(grid$method[i])))
      link <- predict(run$fit, set$test)
      both <- !is.na(link) & !is.na(set$exact$glm)
      out$add(c(row, list(chosen = run$fit$method), quality_of(link, both, set),
                glm = quality_of(set$exact$glm, both, set),
                constant = quality_of(set$exact$constant, both, set)[c("accuracy", "loss")],
                list(tested = sum(both), seconds = run$seconds)))
    }
  }
}
