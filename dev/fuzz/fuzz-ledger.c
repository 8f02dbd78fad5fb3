/* Any sequence of charges: the capacity is never exceeded, and what was charged stays. */
#include "fuzz.h"

#include "barrier/barrier.h"

static void act(struct fuzz *f, struct ledger *l);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz f = fuzz_begin(data, size);
  struct ledger *l = NULL;
  double gdp = fuzz_double(&f), zcdp = fuzz_double(&f);
  uint32_t kind = fuzz_below(&f, 4);
  int status =
      kind == 3 ? ledger_create_renyi(1 + zcdp, gdp, &l) : ledger_create(gdp, zcdp, (enum ledger_accountant)kind, &l);
  REQUIRE((status == BASE_OK) == (l != NULL));
  while (l && f.left > 0) act(&f, l);
  ledger_free(l);
  fuzz_end();
  return 0;
}

static void act(struct fuzz *f, struct ledger *l) {
  const double spent = ledger_spent(l);
  const size_t length = ledger_length(l);
  const enum ledger_accountant accountant = ledger_accountant_of(l);
  const enum oracle_neighbours neighbours = (enum oracle_neighbours)fuzz_below(f, 2), before = ledger_neighbours(l);
  struct ledger_entry entry = {"gradient", "gaussian", fuzz_double(f), 1, 1, 1};
  int status, gaussian = (int)fuzz_below(f, 2);
  switch (fuzz_below(f, 4)) {
  case 0:
    status = ledger_decide(l, (enum ledger_accountant)fuzz_below(f, 3));
    break;
  case 1:
    status = ledger_close(l, neighbours, fuzz_double(f));
    break;
  default:
    status = ledger_charge(l, neighbours, gaussian, &entry);
  }
  REQUIRE(status >= 0 && status < BASE_STATUS_COUNT);
  /* the compensation of an earlier rounding may be larger than a charge */
  REQUIRE(ledger_spent(l) >= spent * (1 - 0x1p-52) && ledger_spent(l) <= ledger_capacity(l));
  REQUIRE(ledger_left(l) >= 0);
  REQUIRE(ledger_length(l) == length || ledger_length(l) == length + 1);
  if (status != BASE_OK) REQUIRE(ledger_length(l) == length && ledger_spent(l) == spent);
  if (length > 0) REQUIRE(ledger_accountant_of(l) == accountant && ledger_neighbours(l) == before);
}
