# Draws data/covertype.rda from the full data set. Run at the top of the repository:
#   Rscript data-raw/covertype.R [path to covertype.rds]
#
# The rows stay in the order of the draw: those of the source are in spatial order, so that its first n rows would not
# be a random sample.

source_path <- c(commandArgs(TRUE), "../shared/data/covertype.rds")[1]
full <- readRDS(source_path)
full <- full[full$cover_type <= 2, ]

RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20260101)
drawn <- full[sample.int(nrow(full), 25000), ]

one_hot_index <- function(rows, prefix, count) {
  max.col(as.matrix(rows[paste0(prefix, seq_len(count))]), ties.method = "first")
}

covertype <- drawn[1:10]
covertype$wilderness <- factor(
  one_hot_index(drawn, "wilderness_area_", 4),
  levels = 1:4, labels = c("Rawah", "Neota", "Comanche Peak", "Cache la Poudre")
)
covertype$soil <- factor(one_hot_index(drawn, "soil_type_", 40), levels = 1:40)
covertype$cover <- factor(drawn$cover_type, levels = 2:1, labels = c("lodgepole pine", "spruce/fir"))
rownames(covertype) <- NULL

save(covertype, file = "data/covertype.rda", compress = "xz", version = 2)
