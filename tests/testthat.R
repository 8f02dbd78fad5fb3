library(testthat)
library(dpsosp)

test_check("dpsosp")
