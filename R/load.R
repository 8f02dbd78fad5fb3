# What happens when the package is loaded.

.onLoad <- function(libname, pkgname) {
  check_arithmetic(.Call(ffi_arithmetic_check))
  register_absent()
  when_loaded("parsnip", register_engines)
  when_loaded("marginaleffects", register_class)
}

# Calls register() now, or when the package is loaded later.
when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), function(...) register())
}
