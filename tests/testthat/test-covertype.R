public_ranges <- list(
  elevation = c(1850, 3900), aspect = c(0, 360), slope = c(0, 66),
  horizontal_distance_to_hydrology = c(0, 1400), vertical_distance_to_hydrology = c(-180, 610),
  horizontal_distance_to_roadways = c(0, 7200), hillshade_9am = c(0, 255), hillshade_noon = c(0, 255),
  hillshade_3pm = c(0, 255), horizontal_distance_to_fire_points = c(0, 7200)
)

test_that("covertype has its shape", {
  expect_identical(dim(covertype), c(25000L, 13L))
  expect_named(covertype, c(names(public_ranges), "wilderness", "soil", "cover"))
  expect_identical(row.names(covertype), as.character(1:25000))
  expect_false(anyNA(covertype))
  expect_identical(anyDuplicated(covertype), 0L)
})

test_that("covertype declares all levels, with spruce/fir as the modelled one", {
  expect_identical(levels(covertype$wilderness), c("Rawah", "Neota", "Comanche Peak", "Cache la Poudre"))
  expect_identical(levels(covertype$soil), as.character(1:40))
  expect_identical(levels(covertype$cover), c("lodgepole pine", "spruce/fir"))
})

test_that("covertype lies in the ranges of its help page", {
  for (column in names(public_ranges)) {
    range <- public_ranges[[column]]
    expect_type(covertype[[column]], "integer")
    expect_true(all(covertype[[column]] >= range[1] & covertype[[column]] <= range[2]), label = column)
  }
})

test_that("the class share is that of the full data, up to sampling", {
  # 211,840 spruce/fir and 283,301 lodgepole pine cells in the source
  share <- 211840 / (211840 + 283301)
  sd <- sqrt(share * (1 - share) / 25000)
  expect_lt(abs(mean(covertype$cover == "spruce/fir") - share), 4 * sd)
})

test_that("covertype is a subset of the full data", {
  skip_unless_long()
  full <- readRDS(shared_file("data/covertype.rds"))
  full <- full[full$cover_type <= 2, ]
  wilderness <- as.matrix(full[paste0("wilderness_area_", 1:4)]) %*% 1:4
  soil <- as.matrix(full[paste0("soil_type_", 1:40)]) %*% 1:40
  key <- function(rows) do.call(paste, unname(rows))
  ours <- lapply(covertype[c(names(public_ranges), "wilderness", "soil")], as.integer)
  source_key <- key(c(full[names(public_ranges)], list(wilderness, soil, full$cover_type)))
  ours_key <- key(c(ours, list(ifelse(covertype$cover == "spruce/fir", 1L, 2L))))
  expect_true(all(ours_key %in% source_key))
})
