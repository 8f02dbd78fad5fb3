#' Differentially private second-order stationary points
#'
#' Fits a model by minimising its regularised mean loss under differential privacy,
#' and certifies how near the result is to a local minimum (not a saddle point). The certificate says that the objective
#' is flat there, not that it is small.
#'
#' No method sees the data. It sends queries to a noisy oracle ([dp_oracle()]), which charges each query to a budget
#' that is fixed before the run. So the run is private at exactly that budget, whatever the method does.
#'
#' # Preprocessing
#' Numeric columns are clipped to their range and mapped to \[-1, 1\]; factors become indicators of their *declared*
#' levels; rows are clipped to norm at most `radius` and divided by it. The default radius is
#' \eqn{\sqrt{p_n + p_f + 1}} for p_n numeric columns and p_f factors: no row whose values lie within the ranges is
#' longer. The section Formulas explains other terms.
#'
#' Ranges taken from the data would leak them. `bounds = "private"` finds ranges with 5 percent of the budget (6 with
#' intervals), at most 20 percent more for columns of which these show none, and at most 3.2 percent more where values
#' are far from zero and close together, such as years. A named list such as `list(age = c(0, 120))` declares public
#' limits, into which values are moved. Where n is large for the noise, a fit looks for the range in use within them,
#' with at most as much, mostly much less; else they are the range. So is `list(age = I(c(17, 90)))`, and the limits in
#' a call with a `penalty`, a `target`, a `radius` that clips rows or [geometry_public()]. Other columns have private
#' ranges, from noisy counts. These are wider where noise could hide values beyond, and about 5 percent of the values
#' may be clipped at an end, fewer with squared error, Huber's loss and counts where there is little noise; with
#' intervals only those that the noise hides. `print()` shows ranges that were found, and fractions of values beyond
#' them, with two standard deviations, where the counts show any. A column for which no range exceeds the noise level
#' gets \[-1, 1\], with a warning that prints the list to fill in.
#'
#' Character columns are an error, which shows the code that declares their levels. Levels are public, so write them
#' down without looking at the data. A row with a missing value is replaced by a null record, which adds nothing to any
#' sum, so that n stays public, unless `missing` has it filled in ([missing-values]). A value counts as missing when it
#' is infinite, is not among the declared levels, is not valid text in its encoding, or, in a numeric response of two
#' classes, is not 1, 0 or -1. A labelled column (of class `haven_labelled`) is a factor whose levels are its value
#' labels; other codes are missing values. Coefficients are reported on the original scale.
#'
#' # Formulas
#' Terms and coefficients are those of [glm()]. A formula may use columns, constants, and functions that work row by
#' row, such as `log()`, `I()`, `ifelse()` and `pmin()`. What [glm()] would compute from all rows must be declared:
#' levels, breaks, knots, centres and scales are public, so choose them without looking at the data.
#' * Interactions `a:b`, `a * b`, `(a + b)^2`: products of numeric columns, a numeric column within each level of a
#'   factor, or the pairs of levels of two factors.
#' * Factors: `factor(x, levels = c(...))`, `cut(x, breaks = c(...))`. Contrasts as in [glm()], also in the argument
#'   `contrasts` and set by [contrasts()]: an ordered factor has polynomials (`"contr.poly"`), others an indicator for
#'   each level but the first.
#' * Polynomials: `poly(x, 3, raw = TRUE)` or, better scaled, `poly((x - centre) / scale, 3, raw = TRUE)`.
#' * Splines: `bs(x, knots = c(...), Boundary.knots = c(lower, upper))` and `ns()` likewise, from the package splines,
#'   which need not be attached. Values beyond the boundary knots are moved to them.
#' * Smooth terms: `s(x)` and `ti(x, z)`, curves whose knots and columns the fit finds, see [smooth-terms]. With
#'   `smooth = TRUE` each term that is a numeric column becomes one.
#' * Dates (`Date`) are numbers of days since 1970, times (`POSIXct`) numbers of seconds. Their `bounds` may be dates
#'   and times.
#' * `offset(log(time))` is added to the linear predictor, with coefficient one. It is clipped to its range, which must
#'   be declared: `bounds = list(time = c(1, 50))`, or under the text of the term. `predict()` adds it, too. With
#'   `loss_squared()` and `loss_huber()` it is in the units of the response. `loss_multinomial()`, which has a predictor
#'   for each class, takes no offset.
#'
#' A range that is declared for a column also holds for expressions of it, where it follows by interval arithmetic:
#' `income = c(1, 1e6)` gives the range of `log(income)`. An expression may also be declared by its text, as in ``bounds
#' = list(`log(income)` = c(8, 13))``. Ranges of interactions and powers follow from those of their columns. Powers and
#' products of columns are nearly collinear with lower ones where values are far from zero. Inside a fit they are
#' polynomials about the middles of the ranges, and coefficients are mapped back exactly, unless lower ones are not in
#' the formula or the call has a penalty, a geometry or a `radius` of its own. The default `radius` counts each numeric
#' column, each factor, each power and each spline once, because the columns of one spline, or of one contrast, together
#' have norm at most one in every row.
#'
#' # Geometry
#' The noise of a gradient is equal in all directions. So it hides the effect of a column that varies little, or whose
#' values lie far from the middle of its range. Therefore many fits centre and scale the mapped columns by their means
#' and variances. With `geometry = "private"` these are released with 9 percent of the budget, in one Gaussian release.
#' [geometry_public()] declares public means and standard deviations, which cost no budget. `geometry = "none"` leaves
#' rows as they were mapped.
#'
#' In a geometry a typical row has norm about one. With the method `"newton-ridge"` a longer row keeps its length, and
#' its influence is bounded by the slope and the weight of its loss; with the other methods it is clipped to norm one.
#' Coefficients are reported on the original scale; gradients, the target and the certificate refer to the problem in
#' the coordinates of the geometry.
#'
#' `"private"` is the default of the method `"newton-ridge"`, always. It is also the default of the methods `"2opt-ls"`,
#' `"2opt"`, `"opt-ls"`, `"opt"`, `"opt-b"`, `"2opt-b"`, `"tr"`, `"tr-b"` and `"gd"`, unless a method that the call
#' names has a `penalty`, a `target` or published constants, the fit has intervals (`inference`), the loss is
#' [loss_multinomial()] (for these methods), or d / (n mu) exceeds 0.1. In all other cases the default is `"none"`.
#' [geometry_public()] explains this rule.
#'
#' # Checks
#' Null records add nothing to any sum, so a fit of null records only, for example because a level is misspelt, has a
#' gradient of zero, which looks like a perfect fit. Therefore the fraction of usable records is released. Where a
#' private geometry releases means of columns and no row can be clipped, it is one of these means, at no cost; otherwise
#' it takes 0.2 percent of the budget (nothing with published constants, and with sources that are read once, where it
#' is left out). A warning, the first line of `print()` and the status `"null"` say that nearly all records seem to be
#' null, with an error probability of at most 0.001: both for data without a usable record and for data where half or
#' more are usable. Such a fit stops at this release, which comes before the run: it spends nothing more, and its
#' coefficients are `NA`. The rest stays in a shared `budget` (what was reserved in a `store` stays reserved), and is
#' unused in a budget of the fit's own. With much noise `print()` says instead that no conclusion is possible. A warning
#' also says that a fraction of the records is null (if there is neither `subset` nor `weights`), that fewer than half
#' are used where there are `weights` (those outside \[0, 1\] drop their records, as a message says before anything is
#' charged), and that nearly all values of a column seem to lie at an end of the range that was declared for it, or more
#' than a few beyond one that was found: 0.5 percent with intervals, else 5 percent (error probability 0.01 for all
#' columns together). `print()` names columns for which no range was found, so that \[-1, 1\] was taken. These checks
#' use released and public numbers only.
#'
#' "How good" in `print()` is about the share of the intercept-only model's deviance that the fit explains, plus and
#' minus two standard deviations (`checks$explained` in the section Value). With weights or several records of a person
#' it is that of the loss that the fit minimises. It is measured by how much the loss of each record decreases, where
#' decreases are clipped to an interval: with a few records that decide most of the deviance it comes out smaller.
#' [dp_evaluate()] tells how good predictions for other records are.
#'
#' # Persons
#' With `id`, n is the number of persons, and the guarantee is for all records of a person together: `"replace-one"`
#' replaces them by any others, as many as there may be, and `"zero-out"` by null records. n is public, the number of
#' records is not: no message and no part of a fit tells it (running time and memory do). So it is assumed that no limit
#' of time, memory or disk ends the process, a worker or a statement of a database because of their number. n is that of
#' the different ids, so that a person of whom nothing is known is still one of the n only with a record, which may be
#' null in all other columns. A record without an id is left out.
#'
#' If m of a person's records are usable, each has the weight 1/m in every sum, including those that find ranges,
#' geometry and the start. So a person adds at most what one record could, and the noise is that of n records. What is
#' fitted minimises the mean over the persons of each one's mean loss; where effects depend on m, that is another target
#' than for records. `weights` come on top: they multiply what a record adds.
#'
#' Noise is the same as with one record of each person, but the sums are more accurate. Intervals (`inference`) take the
#' second moments of the persons' sums of gradients, so they are valid whatever the records of a person have in common.
#' In a database that computes the sums, for rows in chunks that are not kept (`cache`, [dp_source()]) and with more
#' than 1,024 `records` they take those of the records with these weights, which are at least as large: intervals are
#' then too wide where the records of a person have little in common.
#'
#' A source declares the column itself, `dp_source(id = )` or `dp_shards(id = )`; all fits to it then protect persons,
#' with and without `id` here. In a database that computes the sums, `records` chooses other records of a person than in
#' memory ([dp_source()]). Methods on batches, `"spider"`, `"objpert"`, `certificate = "population"`, networks except by
#' `"blgd"` and [dp_oracle()] do not take persons; [dp_tune()] and [dp_curve()] have an `id` of their own, and
#' [dp_inference()], [dp_evaluate()] and [dp_certify()] follow a fit with a formula, by the column of that name in their
#' data.
#'
#' # What is guaranteed
#' Under the neighbour relation `neighbours`, the fit as an R object is
#' (eps, delta)-differentially private. The following is assumed to be public: n, the formula, names, types and
#' declared levels of the columns, and the arguments of the call. Running time and memory are not covered. With
#' `noise = "reproducible"` anyone who knows the seed can recompute the noise: such a fit is for study, not for release.
#'
#' @param formula A formula such as `y ~ .` or `y ~ a * f + log(b)`, see the section Formulas. A name in an
#'   expression that is no column, such as `k` in `I(a / k)`, is a constant of
#'   the formula's environment: one number, string or logical value. It is public, and the fit keeps it.
#' @param x A formula, or for the matrix method a numeric matrix or a sparse `dgCMatrix` of the package Matrix, one row
#'   per record, whose columns are used as they are.
#' @param y The response, one per row of `x`: a factor with two levels (the second is modelled) or more; logical;
#'   numeric with two classes (1 is modelled, 0 or -1 is the other class; a message says so) or for a regression loss,
#'   see `loss`. A record whose response is `NA`, or a number other than these three, is a null record. The type
#'   decides how a response is coded; no value does.
#' @param data A data frame, or a source that yields one in chunks, see [dp_source()].
#' @param eps,delta The privacy budget, `eps > 0`, `0 < delta < 0.1`; `delta = NULL` is
#'   1/n^2, and a message says so. A `delta` of 1/n or more brings a warning: publishing one of n records unprotected
#'   would satisfy it. With `budget`, these are the part of it that this fit may spend (default, and where less
#'   is left: all that is left, and a message says how much).
#' @param method `"auto"`, the default, takes `"newton-ridge"` for the logistic loss and the support vector machine
#'   without a penalty, for squared error, where [losses] allow it for Huber's loss and counts, and for
#'   [loss_multinomial()] with an intercept, columns, no penalty and no `start`. For other convex problems, and with
#'   `geometry = "none"`, it takes `"newton"`, or `"objpert"` where the fit has a budget of its own that leaves little
#'   noise;
#'   for problems that are not convex `"warm-ridge"`, or `"2opt-ls"` where there are no columns, a `target` or
#'   `geometry = "none"`; for smooth terms `"newton-ridge"`; and with more than 1,000 coefficients (3,000 where it would
#'   take `"newton-ridge"`, 4,000 for each class with `loss_multinomial()`) a method that needs gradients only, which
#'   squared error does not have. The rule uses n, the number of columns and arguments of the call, not the data.
#'   `method` and `print()` of the fit name the method taken. The section Methods lists all of them. Names of methods,
#'   losses and other options are case-sensitive.
#' @param loss A loss or its name, see [losses]; `NULL` is `loss_multinomial()` for a factor with more than two declared
#'   levels, else `loss_logistic()`. A numeric response may hold 0/1 codes, quantities or counts, which only its values
#'   would tell: it needs a `loss`, except with the methods that know two classes only (`"2opt-ls"`, `"2opt"`,
#'   `"opt-ls"`, `"opt"`, `"opt-b"`, `"2opt-b"`, `"tr"`, `"tr-b"`, `"warm-ridge"`, `"damped-newton"`, `"cubic"`).
#' @param penalty A penalty, see [penalties]; `NULL` is none.
#' @param bounds `"private"` or a named list of public ranges: limits `c(lower, upper)`, within which the fit may look
#'   for the range in use, or `I(c(lower, upper))`, taken as they are. That of a numeric response is the same as in its
#'   loss; ranges of columns that the model does not use are ignored. For a matrix, whose columns are used as they are,
#'   bounds only serve a geometry, where the noise in a private variance is proportional to the larger absolute bound,
#'   and the weights of classes (see [control_newton_ridge()]): `NULL`, numbers for all columns, or a matrix of two rows
#'   and the columns of `x`. Numbers outside are not clipped, but their records may have a smaller weight. A column
#'   that is constant by its bounds or called `(Intercept)`, as one of [model.matrix()] is, is an error beside the
#'   intercept: `x[, -1]`. A column whose lower bound is at least 0 counts as an indicator of two values, its bounds,
#'   unless its released second moment shows that it varies less.
#' @param contrasts A named list of contrasts of factors, as for [glm()], such as `list(f = "contr.sum")`: R's contrast
#'   functions or their names, or matrices with a row for each declared level. A function is called with the declared
#'   levels, and the fit keeps the numbers that it gives. `NULL`: see the section Formulas.
#' @param subset A condition on columns, such as `age >= 18`: a record for which it is not `TRUE` is a null record.
#'   `n` stays the number of all records, because the number in the subset is private, and the noise is
#'   proportional to 1/n: where the subset is public, `data[rows, ]` is better. `predict()` ignores it. As everywhere
#'   in the call, a factor is compared with declared levels only: `sex == "F"` is an error if the level is `"f"`.
#' @param weights A column, or an expression of columns, of numbers in \[0, 1\]: a record of weight w adds w times what
#'   it would add, so the noise is that of weights of one. Scale weights by a public maximum. A record whose
#'   weight is missing or outside \[0, 1\] is a null record. For a matrix: a vector with a number for each row. In a
#'   source each chunk or shard has its own. For a network the weight multiplies the record's clipped gradient. Weights
#'   1/m do *not* protect persons who have m records each: ranges, moments and counts ignore weights. `id` does.
#' @param id What is protected are persons, each of whom may have several records: see the section Persons. The column
#'   that says whose record it is (`id = person`, or its name as text), which is then no predictor; for a matrix a
#'   vector with an entry for each row.
#' @param records Public number, at most 2^20: of each person the first so many records are used. It hardly changes the
#'   noise, so it may be large.
#' @param offset For a matrix: a number for each row, which is added to its linear predictor, with coefficient one;
#'   in a formula write `offset()`. `predict()` needs the offset of the new rows.
#' @param offset_range The public range of `offset`, `c(lower, upper)`, to which it is clipped.
#' @param smooth Turn each term that is a numeric column into a smooth of it, as in `y ~ s(a) + s(b) + f` for `y ~ .`?
#'   See [smooth-terms].
#' @param na.action Must be left out: `missing` says what becomes of records with missing values, and n stays as it is.
#' @param missing `"drop"`: a record with a missing value is a null record; `"fill"`: gaps in predictors are filled by
#'   public or released numbers, and factors have a level for them; `"indicate"`: columns of numbers with gaps also have
#'   an indicator. See [missing-values].
#' @param radius Public bound on the norm of the mapped rows, with the intercept; rows
#'   are clipped to it. Needed for a matrix.
#' @param target From [sosp()]: the run stops at the first certified point, and the rest of its
#'   budget is unused. `NULL`: the smallest target that the planned noise can certify, which follows from
#'   n, the number of columns and the budget, never from the data; the run then continues from certified
#'   points until its budget is spent and returns the last of them. The methods `"newton-ridge"`, `"newton-b"`, `"gd"`,
#'   `"sgd"`, `"blgd"`, `"agd"`, `"blsgd"`, `"blsgd-ac"`, `"spider"`, `"objpert"` and `"outpert"` always spend their
#'   budget, and `"warm-ridge"` saves some only in its last part.
#' @param control The method's settings, made by the function that the section Methods names with it; `NULL` is the
#'   defaults.
#' @param budget From [dp_budget()], to share one budget among several fits. Of a budget with a `store` each fit names
#'   its part by `eps`, and reserves it before it reads data ([budget-stores]).
#' @param label For a `budget` with a `store`: a text that it keeps, of at most 200 characters, such as
#'   `"main model, wave 2"`. It is public.
#' @param neighbours What is protected: `"replace-one"`, one record against any other, or `"zero-out"`, one record
#'   against a null record, for half the noise in a gradient. n is public under both.
#' @param start Starting coefficients on the original scale, chosen without looking at the data; with `"newton-ridge"`
#'   also the centre of its ridge. `NULL` is zero (for a numeric response the middle of its bounds). With an
#'   intercept and the logistic loss, some methods instead start at the constant prediction: the log-odds of the second
#'   class, whose fraction of the used records, or of their weights, is released. That takes at most
#'   5 percent of the budget with `"newton-ridge"`, or 60 where the noise hides what its steps could gain (d / (n mu)
#'   above 0.2), and at most 5 percent with `"newton"` and `"newton-b"` with `"lazy"` curvature. With
#'   the methods of [control_opt()] with tight constants, which may end at their start, it takes at most 10 percent, but
#'   up to 80 percent in two cases: where the standard deviation of the fraction would otherwise exceed 0.02; and,
#'   without a `target`, where the noise hides what their steps could gain (d / (n mu) above 0.1, see
#'   [geometry_public()]), unless a run without a step would use its gradients (see [control_opt()]): it then takes at
#'   most 50 percent.
#' @param noise `"secure"` (default) or `"reproducible"`, see [dp_oracle()].
#' @param progress Show a progress bar?
#' @param intercept For a matrix: put a column of ones before the others? A fit with it is more accurate than one to a
#'   matrix with such a column.
#' @param storage `"single"` keeps the numbers in single precision, see [dp_oracle()].
#' @param geometry How columns are centred and scaled, see the section Geometry: `"private"`, `"none"`, from
#'   [geometry_public()], or `NULL`: `"private"` or `"none"`, by the rule of that section.
#' @param inference `"sandwich"` or `"model"`: standard errors and intervals of that type, see [dp_inference()]. They
#'   take three quarters of the budget; the method has the rest. `"none"`: no intervals. `TRUE` is `"sandwich"`, `FALSE`
#'   `"none"`.
#' @param certificate `"own"`: the method's own certificate only. `"population"`: 15 percent of the records, chosen by
#'   their row numbers, are kept out of the fit, and [dp_certify()] uses them to certify the solution for the
#'   population. Both parts have the same `eps` and `delta`, which do not add, because no record is in both. The
#'   certificate of `"spider"` is about the population anyway. Sources cannot be split so, nor can a `budget`: give
#'   `dp_certify()` other records.
#' @param model A network in place of the linear model, see [networks], which also says what `x`, `data` and `bounds`
#'   are then. The methods are `"sgd"`, which `"auto"` takes (with an `id` `"blgd"`), and `"adam"`, see
#'   [control_network()], and `"blsgd"`, `"blsgd-ac"` and `"blgd"`, see [control_line_search()]; the fit is a
#'   `dp_network`, see [dp_network-methods]. `penalty`, `radius`, `target`, `start`, `intercept`, `storage`, `geometry`,
#'   `inference`, `certificate`, `smooth` and offsets cannot be given with it.
#' @param ... Not used; anything in it is an error.
#' @return An object of class `dp_sosp`, a list with
#'   * `coefficients` on the original scale;
#'   * `status`: `"sosp"` (gradient and eigenvalues surely meet the target); `"budget"`, `"iterations"` or `"records"`
#'     (the budget was spent, the iterations done, or all records read before that); `"start"` (the start is returned,
#'     as nothing better was found); `"noise"` (`explained` does not show the fit to be better than the intercept-only
#'     model, or it was not measured and every point meets the target); `"ranges"` (finished, but values of some columns
#'     seem to lie at an end of their ranges, see the section Checks); or `"null"` (the released numbers look as if no
#'     record was usable, so that the fit stopped and has no coefficients, see the section Checks);
#'   * `checks`: what the section Checks describes: `usable`, the released fraction of usable records and its standard
#'     deviation; `class`, the same of the second class, if its fraction was released (records without a response count
#'     as 0.62 there); `missed`, columns for which no range was found; `ends`, columns whose values seem to lie at an
#'     end of their declared range; `ranges`, a matrix of private ranges with the fractions `below` and `above` that the
#'     noisy counts show and their standard deviations; `clipped`, columns of these of which too many are; `single`,
#'     columns that seem to have one value; `explained`, how much better the fit is than the intercept-only model: a
#'     list of `fraction`, about the share of that model's deviance that the fit would explain of records like these
#'     (for squared error and Huber's loss R squared, for losses without a likelihood the share of the mean loss), `sd`,
#'     its standard deviation by the noise and by sampling, `better`: is it surely more than what fits to noise reach?
#'     and, with intervals, `wald`, a p value for the hypothesis that all coefficients but the intercept are zero, by
#'     Wald tests of all that are resolved and of the clearest one. `better` is true, too, where this is at most 0.002
#'     and the fraction is not surely negative. It is about the coefficients that [predict()][predict.dp_sosp] uses. Its
#'     release, the mean decrease of the loss from the intercept-only model, has 3 percent of the budget, 1 with
#'     intervals, or, with `"newton-ridge"` for two or more classes and no intervals, three quarters of what
#'     `certificate_share` says. `NULL` with published
#'     constants, for sources that are read once, for counts without an intercept and for networks;
#'   * `certificate`: estimates and confidence bounds of gradient norm and smallest eigenvalue at
#'     the solution, `NA` if not measured there, on the scale of the mapped problem or of its geometry; `of` says
#'     whether they are about the objective on the `"sample"` or in the `"population"`;
#'   * `population`: with `certificate = "population"` the value of [dp_certify()];
#'   * `decrease`: a lower bound on how far the objective at the solution is below that at the start, with the
#'     certificate's confidence (for this bound alone); `NA` where no release tells, as with methods that release no
#'     values;
#'   * `privacy`: eps, delta, rho, mu (of all releases together, where all are Gaussian, else `NA`), accountant, for
#'     batches its Renyi order, neighbours, noise and the ledger, from which [dp_verify()] recomputes eps;
#'   * `trace`: one row per release;
#'   * `released`: the last `gradient` and the last `matrix` that the fit paid for, of the mean loss on the full data
#'     without the penalty, `NULL` where there was none. Each is a list of `query` (such as `"gradient"` or
#'     `"hessian"`), the point (`at`), the noisy `value` and the `sd` of its noise (off a matrix' diagonal
#'     \eqn{sd / \sqrt2}{sd / sqrt(2)}), in the coordinates of the mapped rows or of their geometry; matrices of more
#'     than 1024 rows are not kept;
#'   * `inference`: the releases that intervals were computed from and their cost, see [dp_inference()]; `NULL` without
#'     intervals;
#'   * `predictor`: the coefficients that `predict()` uses, where they are not `coefficients`;
#'   * `level`: of fits by residuals ([loss_squared()], [loss_huber()], counts) what was released of the mapped
#'     response, see [control_newton_ridge()] (`missed`: no range of it was found), and from the noisy matrix the
#'     `factor` by which the columns were rescaled and the `variance` of the predictors; `NULL` for others;
#'   * `geometry`: how rows were centred and scaled, `NULL` where they were not, see [geometry_public()];
#'   * `batch` of the methods on batches: size, scheme, rate, fraction of the budget, planned steps;
#'   * `target`, `method`, `auto` (did the rule choose it?), `loss`, `penalty`, `control`, `design`, `call`;
#'   * `n`, the number of records or, with `id`, of persons; `persons`: the `name` of the id's column and the largest
#'     number of records of a person (`most`), `NULL` without `id`.
#'
#'   It holds no rows, residuals, functions or environments, and depends on the data through the
#'   releases only. `call` has names and single constants; a list, a vector or a function that came as a value, as by
#'   [do.call()], is a name such as `<list>` there, and [update()][dp_sosp-methods] asks for it. Errors and warnings
#'   show such calls, too.
#' @section Errors: All errors have the class `dpsosp_error`. Wrong arguments have the class `dpsosp_error_argument`;
#'   they are found before anything is charged and follow from arguments, n, names, types and declared levels only,
#'   never from a record's value. Some have a second class:
#'   * `dpsosp_error_nonconvex`: a non-convex problem, where a method needs a convex one;
#'   * `dpsosp_error_convex`: a convex problem, where the method is `"warm-ridge"`;
#'   * `dpsosp_error_network`: a `model`, with a method that does not take it;
#'   * `dpsosp_error_size`: a method that needs a Hessian of more than 8192 coefficients (as certificates of non-convex
#'     problems do, unless `eps_h` of the `target` allows their curvature);
#'   * `dpsosp_error_several`: with `loss_multinomial()`, an option that exists for losses of one predictor only;
#'   * `dpsosp_error_inference`: a fit that cannot have intervals;
#'   * `dpsosp_error_persons`: an `id`, with a method that is for records only;
#'   * `dpsosp_error_smooth`: smooth terms, with a method or an argument that does not take them;
#'   * `dpsosp_error_nonsmooth`: a loss whose second derivative jumps, where a method needs Hessians.
#'
#'   A budget that is spent is `dpsosp_budget_exhausted`.
#' @references Gao and Wright (2023), Differentially private optimization for smooth non-convex
#'   ERM, algorithms 1 to 3 and section 3.4, with the corrections in
#'   `vignette("proofs")`; Wang and Xu (2021), Escaping saddle points of empirical risk privately and
#'   scalably via DP-trust region method, algorithm 1.
#' @srrstats {RE1.0} dp_sosp.formula().
#' @srrstats {RE1.1} The sections Preprocessing and Formulas say how a formula becomes a matrix.
#' @srrstats {RE1.2, G2.5} The arguments `x`, `y` and `data` and the sections Preprocessing and Formulas name the types
#'   that are accepted; ordered factors have polynomials, others indicators.
#' @srrstats {RE1.3a} The value's description says that a fit holds no rows, so no row names.
#' @srrstats {RE1.4} Nothing is assumed of how the data are distributed: privacy holds for all, and the certificate,
#'   too. Ranges that are too narrow clip values; the section Checks says how a fit tells this.
#' @srrstats {RE2.0} The section Preprocessing; a matrix is used as it is, and geometry = "none" leaves rows as they
#'   are.
#' @srrstats {G2.13, G2.14, G2.14b, G2.15, G2.16} A record with a value that is missing or infinite counts as a null
#'   record, which adds nothing to a sum; how many there are is released with noise, and a warning says it.
#' @srrstats {G2.14c, RE2.2} `missing` fills gaps of predictors by released medians, public middles of ranges, and a
#'   level of their own. A value imputed from the data would carry others into this record's row, so that its influence
#'   had no bound.
#' @srrstatsNA {G2.14a, RE2.1} No value of a record may decide between a result and an error, so `na.action` is refused,
#'   with this reason.
#' @srrstats {RE2.3} The argument `geometry` centres and scales columns, by released or by public moments; `offset()`.
#' @seealso [control_opt()], [control_tr()], [control_gd()], [control_line_search()], [control_newton()],
#'   [control_newton_ridge()], [geometry_public()], [sosp()], [dp_budget()], [dp_ledger()].
#' @examples
#' d <- covertype[1:3000, ]
#' fit <- dp_sosp(cover ~ elevation + slope, d, eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900), slope = c(0, 66)))
#' fit
#' coef(fit)
#' table(predict(fit, d, type = "class"), d$cover)
#'
#' lengths <- list(Sepal.Length = c(4, 8), Sepal.Width = c(2, 5), Petal.Length = c(1, 7),
#'                 Petal.Width = c(0, 3))
#' flowers <- dp_sosp(Species ~ ., iris, eps = 5, delta = 1e-3, bounds = lengths)
#' coef(flowers)
#' @export
dp_sosp <- function(x, ...) {
  if (nargs() == 0L) abort("argument", "Nothing to fit: give a formula and a data frame, or a matrix and a response.")
  # The first argument of the formula method has this name. As in lm(), it may then be at any position.
  if ("formula" %in% names(match.call())) UseMethod("dp_sosp", y ~ x)
  UseMethod("dp_sosp")
}

#' @rdname dp_sosp
#' @export
dp_sosp.formula <- function(formula, data, eps = NULL, delta = NULL, method = "auto", loss = NULL,
                            penalty = NULL, bounds = "private", radius = NULL, target = NULL, control = NULL,
                            budget = NULL, neighbours = "replace-one", start = NULL,
                            noise = c("secure", "reproducible"), progress = interactive(),
                            storage = c("double", "single"), geometry = NULL,
                            inference = c("none", "sandwich", "model"), model = NULL,
                            certificate = c("own", "population"), subset = NULL, weights = NULL, na.action = NULL,
                            contrasts = NULL, smooth = FALSE, id = NULL, records = 1000,
                            label = NULL, missing = c("drop", "fill", "indicate"), ...) {
  call <- scrub_call(match.call(), quote(dp_sosp))
  check_dots(call)
  if (base::missing(data)) abort("argument", "`data` is missing: give a data frame.", call = call)
  sourced <- is_source(data, "data", call)
  asked <- check_model_takes(model, mget(asked_arguments), call)
  persons <- if (!sourced) frame_persons(substitute(id), records, data, call)
  if (sourced) data <- source_of_persons(substitute(id), records, data, call)
  name <- if (sourced) data$persons$name else persons$name
  if (!is.null(name)) call$id <- as.name(name)
  columns <- if (sourced) predictor_schema(data) else data
  tell_ids(formula, if (is.data.frame(columns)) columns[setdiff(names(columns), name)])
  call$contrasts <- contrasts_call(call$contrasts, contrasts, names(columns))
  extras <- frame_arguments(contrasts, substitute(subset), substitute(weights), na.action, missing, call)
  if (!is.null(radius)) radius <- check_radius(radius, call)
  if (check_flag(smooth, "smooth", call)) {
    if (!sourced) check_data(data, "data", call)
    formula <- smooth_formula(formula, if (sourced) predictor_schema(data) else data[setdiff(names(data), name)], call)
  }
  problem <- if (!is.null(model)) {
    network_formula(formula, data, model, loss, bounds, extras, call, persons)
  } else {
    if (sourced) problem_source(formula, data, loss, bounds, radius, extras, call, implies_loss(method))
    else problem_formula(formula, data, loss, bounds, radius, extras, call, implies_loss(method), persons)
  }
  fit_problem(problem, asked)
}

#' @rdname dp_sosp
#' @export
dp_sosp.default <- function(x, y, eps = NULL, delta = NULL, method = "auto", loss = NULL, penalty = NULL,
                            radius = NULL, target = NULL, control = NULL, budget = NULL, neighbours = "replace-one",
                            start = NULL, noise = c("secure", "reproducible"), progress = interactive(),
                            intercept = TRUE, storage = c("double", "single"), bounds = NULL, geometry = NULL,
                            inference = c("none", "sandwich", "model"), model = NULL,
                            certificate = c("own", "population"), weights = NULL, offset = NULL,
                            offset_range = NULL, id = NULL, records = 1000,
                            label = NULL, missing = c("drop", "fill", "indicate"), ...) {
  call <- scrub_call(match.call(), quote(dp_sosp))
  if ("data" %in% names(call)) {
    abort("argument", "`data` goes with a formula, which has no quotes: `dp_sosp(y ~ x, data, eps = 1)`.", call = call)
  }
  check_dots(call)
  if (base::missing(x)) abort("argument", "`x` is missing: give a matrix, or a formula and a data frame.", call = call)
  asked <- check_model_takes(model, mget(asked_arguments), call)
  missing <- check_missing(missing, call)
  problem <- if (!is.null(model)) {
    network_array(x, y, model, loss, bounds, weights, id, missing, call)
  } else {
    problem_matrix(x, y, loss, storage, intercept, radius, bounds, weights, offset, offset_range, call,
                   implies_loss(method), id, records, missing)
  }
  fit_problem(problem, asked)
}

# Both methods differ in how they make a problem, and in nothing else.
fit_problem <- function(problem, asked) {
  parts <- split_problem(problem, asked)
  job <- new_job(parts$rest, asked)
  tell_unresolved(job)
  tell_weights(job)
  fit <- fit_job(job)
  if (is.null(parts$out) || lacks_coefficients(fit)) fit else certify_out(fit, parts$out, asked)
}

# The stages after new_job(). stops: at the first release that says that no record is used?
fit_job <- function(job, stops = TRUE) {
  end <- job$hold(batch_needs(job))
  on.exit(end())
  withCallingHandlers({
    job <- run_stages(job, stops)
  }, interrupt = function(i) {
    if (!is.null(job$asked$budget)) inform("interrupt", "What was charged to `budget` stays charged")
  })
  close_claim(job)
  if (is.null(job$model)) new_linear_fit(job) else new_network_fit(job)
}
