/* Registration of the .Call entries. */
#define R_NO_REMAP
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "base/base.h"
#include "ffi.h"

#define ENTRY(name, arity)                                                                                             \
  { #name, (DL_FUNC)&name, arity }

static const R_CallMethodDef call_entries[] = {
    ENTRY(ffi_arithmetic_check, 0),
    ENTRY(ffi_ledger_create, 3),
    ENTRY(ffi_ledger_create_renyi, 2),
    ENTRY(ffi_ledger_decide, 2),
    ENTRY(ffi_ledger_close, 3),
    ENTRY(ffi_ledger_state, 1),
    ENTRY(ffi_oracle_create, 9),
    ENTRY(ffi_oracle_create_stream, 15),
    ENTRY(ffi_oracle_close, 1),
    ENTRY(ffi_shard_create, 6),
    ENTRY(ffi_shard_create_network, 6),
    ENTRY(ffi_shard_move, 2),
    ENTRY(ffi_shard_sum, 2),
    ENTRY(ffi_shard_set_persons, 2),
    ENTRY(ffi_shard_set_weights, 4),
    ENTRY(ffi_sparse_check, 4),
    ENTRY(ffi_oracle_value, 4),
    ENTRY(ffi_oracle_improvement, 7),
    ENTRY(ffi_oracle_gradient, 4),
    ENTRY(ffi_oracle_hessian, 4),
    ENTRY(ffi_oracle_products, 4),
    ENTRY(ffi_oracle_residual_gradient, 6),
    ENTRY(ffi_oracle_residual_products, 6),
    ENTRY(ffi_oracle_residual_hessian, 7),
    ENTRY(ffi_oracle_residual_counts, 7),
    ENTRY(ffi_oracle_row_lengths, 4),
    ENTRY(ffi_oracle_moments, 5),
    ENTRY(ffi_oracle_usable, 3),
    ENTRY(ffi_oracle_response, 3),
    ENTRY(ffi_oracle_class_counts, 3),
    ENTRY(ffi_oracle_move, 2),
    ENTRY(ffi_oracle_set_weights, 4),
    ENTRY(ffi_oracle_set_persons, 2),
    ENTRY(ffi_person_shares, 1),
    ENTRY(ffi_oracle_decreases, 6),
    ENTRY(ffi_oracle_choose, 8),
    ENTRY(ffi_oracle_facts, 1),
    ENTRY(ffi_oracle_kept, 1),
    ENTRY(ffi_oracle_planned, 9),
    ENTRY(ffi_oracle_sd, 5),
    ENTRY(ffi_method_run, 8),
    ENTRY(ffi_method_alpha, 6),
    ENTRY(ffi_residual_scale, 4),
    ENTRY(ffi_trust_region, 3),
    ENTRY(ffi_penalty_bounds, 1),
    ENTRY(ffi_loss_bounds, 2),
    ENTRY(ffi_loss_at, 5),
    ENTRY(ffi_ledger_create_perturbed, 3),
    ENTRY(ffi_loss_determinant, 4),
    ENTRY(ffi_perturbed_epsilon, 3),
    ENTRY(ffi_perturbed_mu, 3),
    ENTRY(ffi_network_fans, 1),
    ENTRY(ffi_network_oracle, 10),
    ENTRY(ffi_network_predict, 4),
    ENTRY(ffi_network_start, 2),
    ENTRY(ffi_design_numeric, 6),
    ENTRY(ffi_design_indicator, 4),
    ENTRY(ffi_single_create, 1),
    ENTRY(ffi_column_digest, 2),
    ENTRY(ffi_sha256, 1),
    ENTRY(ffi_random_id, 0),
    ENTRY(ffi_scattering, 6),
    ENTRY(ffi_ranges_release, 7),
    ENTRY(ffi_ranges_release_stream, 8),
    ENTRY(ffi_ranges_release_remote, 7),
    ENTRY(ffi_scores_release, 5),
    ENTRY(ffi_scores_choose, 5),
    ENTRY(ffi_table_release, 7),
    ENTRY(ffi_selection_cost, 4),
    ENTRY(ffi_selection_draw, 7),
    ENTRY(ffi_gdp_delta, 2),
    ENTRY(ffi_gdp_epsilon, 2),
    ENTRY(ffi_gdp_mu, 2),
    ENTRY(ffi_zcdp_delta, 2),
    ENTRY(ffi_zcdp_epsilon, 2),
    ENTRY(ffi_zcdp_rho, 2),
    ENTRY(ffi_rdp_curve, 2),
    ENTRY(ffi_rdp_epsilon, 2),
    ENTRY(ffi_rdp_log_delta, 2),
    ENTRY(ffi_rdp_budget, 3),
    ENTRY(ffi_pld_epsilon, 3),
    ENTRY(ffi_pld_log_delta, 3),
    ENTRY(ffi_leaf_zcdp, 1),
    {NULL, NULL, 0},
};

void attribute_visible R_init_dpsosp(DllInfo *dll) {
  R_registerRoutines(dll, NULL, call_entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  base_limit_threads(1); /* records the process; the entries set its number of threads */
}
