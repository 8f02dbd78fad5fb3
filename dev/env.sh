# Sourced by the other scripts: the same environment on all machines, without network access.
export LC_ALL=C.UTF-8 LANGUAGE=en TZ=UTC
export OPENBLAS_NUM_THREADS=1 OMP_THREAD_LIMIT=2
export OMP_WAIT_POLICY=passive # threads that wait in a loop take the processor from others on a busy machine
export R_PROFILE_USER=/dev/null R_ENVIRON_USER=/dev/null
export _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_CRAN_INCOMING_USE_ASPELL_=false
export _R_CHECK_SYSTEM_CLOCK_=0 _R_CHECK_FORCE_SUGGESTS_=false
export _R_CHECK_PKG_SIZES_THRESHOLD_=6 # in MB; CRAN's limits are those of data and of documentation, 5 each
