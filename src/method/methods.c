/* The table of the methods, one on each line; its entry is at the end of the method's file. */
#include "method/private.h"

#include <string.h>

extern const struct method method_opt, method_tr, method_gd, method_newton, method_moment, method_ridge,
    method_residual, method_rounds, method_perturbed, method_cubic, method_descent, method_backtracking, method_spider,
    method_population;

const struct method *const methods_all[] = {
    &method_opt,          /* short steps and line search, in one phase or two */
    &method_tr,           /* trust region */
    &method_gd,           /* gradient descent */
    &method_newton,       /* Newton's method */
    &method_moment,       /* the same for several outputs */
    &method_ridge,        /* Newton's method with a ridge of its own, for weighted rows */
    &method_residual,     /* the same for squared error, with clipped residuals */
    &method_rounds,       /* rounds at the posterior mean, for several outputs */
    &method_perturbed,    /* output and objective perturbation */
    &method_descent,      /* gradient descent for networks */
    &method_cubic,        /* cubic regularisation */
    &method_backtracking, /* gradient descent with line searches */
    &method_spider,       /* SPIDER, which uses each record once */
    &method_population,   /* no method: certifies the start */
    NULL,
};

const struct method *method_named(const char *name) {
  const struct method *const *m = methods_all;
  while (*m && strcmp((*m)->name, name) != 0) m++;
  return *m;
}

static const char *const statuses[] = {"sosp", "budget", "iterations", "start", "records", NULL};

const struct field result_fields[] = {
    {"status", FIELD_CHOICE, offsetof(struct opt_result, status), statuses},
    FIELD(opt_result, COUNT, planned),
    FIELD(opt_result, NUMBER, gap),
    FIELD(opt_result, NUMBER, ridge),
    FIELD(opt_result, NUMBER, effective),
    FIELD(opt_result, NUMBER, factor),
    FIELD(opt_result, NUMBER, variance),
    FIELD(opt_result, NUMBER, square),
    FIELD(opt_result, NUMBER, gradient_norm),
    FIELD(opt_result, NUMBER, gradient_upper),
    FIELD(opt_result, NUMBER, eigen_min),
    FIELD(opt_result, NUMBER, eigen_lower),
    FIELD(opt_result, FLAG, eigen_known),
    FIELD(opt_result, NUMBER, decrease),
    {NULL, FIELD_FLAG, 0, NULL},
};

const struct field trace_fields[] = {
    FIELD(trace_row, COUNT, phase),     FIELD(trace_row, COUNT, iteration), FIELD(trace_row, TEXT, query),
    FIELD(trace_row, NUMBER, estimate), FIELD(trace_row, NUMBER, bound),    FIELD(trace_row, NUMBER, sd),
    FIELD(trace_row, NUMBER, rho),      FIELD(trace_row, NUMBER, step),     {NULL, FIELD_FLAG, 0, NULL},
};
