# Everything a developer runs. make test is what has to pass; .ci/run runs it on a clean clone with tests in full.

.PHONY: help setup demo test test-long check ctest rooms analyze asan valgrind gctorture inject mutants golden touch audit fuzz hosts nodes slurm duckdb bench docs lint srr coverage portability site format clean

help:
	@sed -n 's/^## //p' Makefile

## make setup        install what is missing (Debian packages)
setup:
	dev/setup.sh

## make demo         fit a private model on example data; pictures in build/
demo:
	dev/setup.sh --demo
	INSTALL=1 dev/build.sh --no-build-vignettes
	Rscript dev/demo.R build/lib build/demo.png

## make test         all checks, those that take long in a shorter form; eight minutes on two processors
test:
	@dev/test.sh

## make test-long    all checks in full, with R CMD check, and tests under the sanitizers and valgrind; an hour
test-long:
	@dev/test.sh --long

## make check        R CMD check of the built package alone
check: setup
	dev/check.sh $$(dev/build.sh)

## make ctest        C tests of the core, plain build
ctest: setup
	$(MAKE) -C dev/ctest plain

## make rooms        the rule of the rooms, and the check of this check
rooms:
	dev/rooms.sh
	dev/rooms-selftest.sh

## make analyze      cppcheck and gcc -fanalyzer; what flags such as -ffast-math would do
analyze: setup
	dev/analyze.sh
	dev/fast-math.sh

## make asan         C tests and the package's tests under the sanitizers
asan: setup
	$(MAKE) -C dev/ctest asan
	dev/build.sh --no-build-vignettes
	dev/asan.sh

## make valgrind     C tests under valgrind
valgrind: setup
	$(MAKE) -C dev/ctest valgrind

## make gctorture    the glue with a garbage collection at every allocation
gctorture: setup
	INSTALL=1 dev/build.sh --no-build-vignettes
	Rscript dev/gctorture.R build/lib

## make inject       the glue with R's memory failing at each place
inject: setup
	dev/inject.sh

## make mutants      do the tests notice mistakes? hours
mutants: setup
	dev/mutants.sh

## make audit        lower bounds on eps against the claims, into dev/audit.md; half an hour
audit: setup
	INSTALL=1 dev/build.sh --no-build-vignettes
	OPENBLAS_CORETYPE=Prescott Rscript dev/audit.R build/lib

## make golden       are all numbers those of the commit BASE (HEAD), bit for bit? two minutes
BASE = HEAD
golden: setup
	dev/golden.sh $(BASE)

## make touch        does adding a loss, a query, a method, a basis touch few files? some minutes
touch: setup
	dev/touch.sh

## make nodes        two PostgreSQL servers as one data set: do they compute sums only? two minutes
nodes: setup
	INSTALL=1 dev/build.sh --no-build-vignettes
	Rscript dev/nodes.R build/lib

## make duckdb      push-down to DuckDB; compiles its package first, which takes an hour
duckdb: setup
	dev/duckdb.sh

## make fuzz         random input to the core for SECONDS (600) in all
SECONDS = 600
fuzz:
	dev/setup.sh clang libclang-rt-dev
	dev/fuzz.sh $(SECONDS)

## make hosts        shards on two hosts, network namespaces of this machine, over TLS; needs root
hosts: setup
	INSTALL=1 dev/build.sh --no-build-vignettes
	dev/hosts.sh

## make slurm        shards whose workers Slurm starts, on a cluster of this machine alone; needs root
slurm: setup
	dev/setup.sh slurm-wlm munge
	INSTALL=1 dev/build.sh --no-build-vignettes
	dev/slurm.sh

## make bench        every script of dev/bench, with the package as it is
bench: setup
	INSTALL=1 dev/build.sh --no-build-vignettes
	set -e; for script in dev/bench/*.R; do \
	  if [ -f "$$script" ]; then R_LIBS=build/lib OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 Rscript "$$script"; fi; done

## make docs         man/ and NAMESPACE from the roxygen comments
docs: setup
	dev/docs.sh

## make format       C sources in the style of .clang-format
format:
	dev/setup.sh clang-format
	clang-format -i src/*.[ch] src/*/*.[ch] dev/ctest/*.[ch]

## make lint         style of the R code, spelling of the documents
lint: setup
	DPSOSP_LONG=1 Rscript dev/lint.R

## make srr          do rOpenSci's standards have one tag each?
srr:
	Rscript dev/srr.R

## make coverage     lines of R and C that the tests reach, into dev/coverage.md; an hour
coverage:
	dev/setup.sh r-cran-covr
	dev/coverage.sh

## make portability  other compilers, C libraries, processors and settings of R; what is absent is skipped
portability: setup
	dev/portability.sh

## make site         the site, in build/site, and a look at it in headless Chromium
site:
	dev/site.sh

## make clean        remove build/
clean:
	rm -rf build
