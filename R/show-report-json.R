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
