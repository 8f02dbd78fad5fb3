/* The .Call entries. */
#ifndef DPSOSP_FFI_H
#define DPSOSP_FFI_H

#define R_NO_REMAP
#include <Rinternals.h>

SEXP ffi_arithmetic_check(void);
SEXP ffi_ledger_create(SEXP, SEXP, SEXP);
SEXP ffi_ledger_create_renyi(SEXP, SEXP);
SEXP ffi_ledger_decide(SEXP, SEXP);
SEXP ffi_ledger_close(SEXP, SEXP, SEXP);
SEXP ffi_ledger_state(SEXP);
SEXP ffi_oracle_create(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_create_stream(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_close(SEXP);
SEXP ffi_shard_create(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_shard_create_network(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_shard_move(SEXP, SEXP);
SEXP ffi_shard_sum(SEXP, SEXP);
SEXP ffi_shard_set_persons(SEXP, SEXP);
SEXP ffi_shard_set_weights(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_sparse_check(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_value(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_improvement(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_gradient(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_hessian(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_products(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_residual_gradient(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_residual_products(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_residual_hessian(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_residual_counts(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_row_lengths(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_moments(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_usable(SEXP, SEXP, SEXP);
SEXP ffi_oracle_response(SEXP, SEXP, SEXP);
SEXP ffi_oracle_class_counts(SEXP, SEXP, SEXP);
SEXP ffi_oracle_move(SEXP, SEXP);
SEXP ffi_oracle_set_weights(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_set_persons(SEXP, SEXP);
SEXP ffi_person_shares(SEXP);
SEXP ffi_oracle_decreases(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_choose(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_facts(SEXP);
SEXP ffi_oracle_kept(SEXP);
SEXP ffi_oracle_planned(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_oracle_sd(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_method_run(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_method_alpha(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_residual_scale(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_trust_region(SEXP, SEXP, SEXP);
SEXP ffi_penalty_bounds(SEXP);
SEXP ffi_loss_bounds(SEXP, SEXP);
SEXP ffi_loss_at(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_ledger_create_perturbed(SEXP, SEXP, SEXP);
SEXP ffi_loss_determinant(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_perturbed_epsilon(SEXP, SEXP, SEXP);
SEXP ffi_perturbed_mu(SEXP, SEXP, SEXP);

SEXP ffi_network_fans(SEXP);
SEXP ffi_network_oracle(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_network_predict(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_network_start(SEXP, SEXP);

SEXP ffi_design_numeric(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_design_indicator(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_single_create(SEXP);
SEXP ffi_column_digest(SEXP, SEXP);
SEXP ffi_sha256(SEXP);
SEXP ffi_random_id(void);
SEXP ffi_scattering(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_ranges_release(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_ranges_release_stream(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_ranges_release_remote(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);

SEXP ffi_scores_release(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_scores_choose(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_table_release(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_selection_cost(SEXP, SEXP, SEXP, SEXP);
SEXP ffi_selection_draw(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);

SEXP ffi_gdp_delta(SEXP, SEXP);
SEXP ffi_gdp_epsilon(SEXP, SEXP);
SEXP ffi_gdp_mu(SEXP, SEXP);
SEXP ffi_zcdp_delta(SEXP, SEXP);
SEXP ffi_zcdp_epsilon(SEXP, SEXP);
SEXP ffi_zcdp_rho(SEXP, SEXP);
SEXP ffi_rdp_curve(SEXP, SEXP);
SEXP ffi_rdp_epsilon(SEXP, SEXP);
SEXP ffi_rdp_log_delta(SEXP, SEXP);
SEXP ffi_rdp_budget(SEXP, SEXP, SEXP);
SEXP ffi_pld_epsilon(SEXP, SEXP, SEXP);
SEXP ffi_pld_log_delta(SEXP, SEXP, SEXP);
SEXP ffi_leaf_zcdp(SEXP);

#endif
