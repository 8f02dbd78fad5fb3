# A statement of privacy for programs: the fields of the public registry of deployments of differential privacy that
# follow from a result or a budget. inst/extdata/report-schema.json describes them; the texts are those of the page.

report_version <- 1L

report_json <- function(x, call) {
  if (!requireNamespace("jsonlite", quietly = TRUE)) {
    abort("argument", "`format = \"json\"` needs the package jsonlite.", call = call)
  }
  fields <- report_fields(x, call)
  strsplit(as.character(jsonlite::toJSON(fields, auto_unbox = TRUE, null = "null", na = "null", digits = NA,
                                         pretty = 2)), "\n")[[1]]
}

report_fields <- function(x, call) {
  budget <- inherits(x, "dp_budget")
  privacy <- if (budget) budget_privacy(x, budget_state(x)) else result_privacy(x, call)
  ledger <- if (budget || inherits(x, "dp_sosp")) dp_ledger(x) else privacy$ledger
  list(
    schema = "dpsosp-report", version = report_version,
    software = list(name = "dpsosp", version = as.character(utils::packageVersion("dpsosp"))),
    deployment = list(
      dp_variant = list(
        variant_name = if (privacy$accountant == "gdp") "Gaussian DP" else if (privacy$accountant == "zcdp") "zCDP"
          else if (privacy$delta > 0) "Approximate DP" else "Pure DP",
        data_domain = if (!budget) plain_item(public_item(x, ledger)),
        unprotected_quantities = plain_item(protection_items()[2])
      ),
      privacy_loss = list(
        privacy_unit = if (!budget) if (is.null(x$persons)) "record" else "person",
        privacy_unit_details = plain_item(protection_items()[1]),
        number_of_privacy_units = if (!budget) x_records(x),
        neighbour_relation = if (is.na(privacy$neighbours %||% NA)) NULL else privacy$neighbours,
        privacy_parameters = loss_parameters(privacy),
        privacy_parameters_details = plain_item(promise_items(privacy)[1])
      ),
      deployment_model = list(model_name = "Central",
                              release_type = if (budget) "Many releases" else "One-time release",
                              access_type = "Non-interactive",
                              noise = if (identical(privacy$noise, "reproducible")) "reproducible" else "secure"),
      implementation = list(mechanisms = spent_fields(ledger), composition = accountant_phrases[[privacy$accountant]],
                            ledger_verified = if (inherits(x, "dp_sosp")) dp_verify(x)$agrees)
    )
  )
}

loss_parameters <- function(privacy) {
  of <- list(epsilon = privacy$eps, delta = privacy$delta)
  if (privacy$accountant == "gdp") of$mu <- sqrt(2 * privacy$rho)
  if (privacy$accountant == "zcdp") of$rho <- privacy$rho
  lapply(of, function(number) if (is.finite(number)) number) # JSON has no infinite numbers
}

# One entry for each kind of release and mechanism.
spent_fields <- function(ledger) {
  kinds <- split(ledger, paste(ledger$what, ledger$mechanism), drop = TRUE)
  unname(lapply(kinds, function(rows) {
    list(query = rows$what[1], mechanism = rows$mechanism[1], releases = sum(is_release(rows)),
         share = if (sum(ledger$rho) > 0) sum(rows$rho) / sum(ledger$rho) else 0)
  }))
}

# The text of an item of the page, without its title and marks.
plain_item <- function(item) gsub("`", "", sub("^\\*\\*[^*]+\\*\\*:? ", "", item), fixed = TRUE)

# ---- of a page or of these fields ----

#' A statement of privacy to hand out
#'
#' One page about what a result guarantees, for a reader who decides whether it may be published, such as a data
#' protection officer: the guarantee and its relation, what is protected and what is not, what is assumed to be public,
#' what the budget was spent on, what the guarantee means for an attacker who tests a suspicion, and what is left of it
#' for persons with several records. It is made of public facts and released numbers, and costs nothing.
#'
#' @param x A fit, an evaluation, a certificate, the value of [dp_tune()], or a budget.
#' @param file `NULL`, which prints, or the name of a file to write: HTML with a picture for `.html` and `.htm`,
#'   Markdown with a table for `.md`, JSON for `.json`. An existing file is replaced. It has no references to other
#'   files.
#' @param format What is printed without a file: `"markdown"`, `"html"` or `"json"`. JSON, which needs the package
#'   jsonlite, has the fields of the public registry of deployments of differential privacy (OpenDP's
#'   deployments-registry-data) that follow from `x`: variant, unit, parameters, relation, mechanisms with their shares
#'   of the budget, what is public. Who publishes what and why is for the curator to add. Its schema, with a version, is
#'   `system.file("extdata", "report-schema.json", package = "dpsosp")`.
#' @param ... Not used; anything in it is an error.
#' @return The text, one string for each line, invisibly.
#'
#' @details An attacker knows all records but one, has two candidates for this one, and tests from the result which it
#'   is. `power` is the largest probability to find a true suspicion, where a false one is raised with probability
#'   `alpha`. For Gaussian releases that were counted exactly (accountant `"gdp"`) it is
#'   \eqn{\Phi(\Phi^{-1}(\alpha) + \mu)}{pnorm(qnorm(alpha) + mu)}, for any other
#'   \eqn{\min(1, e^\epsilon\alpha + \delta, 1 - e^{-\epsilon}(1 - \delta - \alpha))}{min(1, exp(eps) alpha + delta,
#'   1 - exp(-eps) (1 - delta - alpha))}. At eps = 1 and delta = 1e-6 these are 8.0 and 13.6 percent for an alpha of 5
#'   percent.
#'
#'   A person with k records is protected as k records are: see `group` of [dp_convert()].
#'
#'   A budget in `mu` or `rho` is also shown as eps at delta = 1e-6. A durable budget lists its reservations.
#' @section Errors: `dpsosp_error_argument` for an `x` of another class, for a name of another type of file, and for a
#'   file that cannot be written.
#' @references Dong, Roth and Su (2022), Gaussian differential privacy; Wasserman and Zhou (2010), A statistical
#'   framework for differential privacy.
#' @seealso [dp_verify()], [dp_ledger()].
#' @examples
#' d <- covertype[1:3000, ]
#' fit <- dp_sosp(cover ~ elevation, d, eps = 1, delta = 1e-6,
#'                bounds = list(elevation = c(1850, 3900)))
#' dp_report(fit)
#' page <- tempfile(fileext = ".html")
#' dp_report(fit, page)
#' @export
dp_report <- function(x, file = NULL, format = "markdown", ...) {
  call <- sys.call()
  check_dots(call)
  require_given()
  format <- check_choice(format, names(report_endings), "format", call)
  if (!is.null(file)) format <- check_page(file, call)
  text <- if (format == "json") report_json(x, call) else {
    blocks <- if (inherits(x, "dp_budget")) budget_blocks(x) else result_blocks(x, call)
    if (format == "html") page_html(blocks) else page_markdown(blocks)
  }
  if (is.null(file)) cat(text, sep = "\n") else write_page(text, file, call)
  invisible(text)
}
