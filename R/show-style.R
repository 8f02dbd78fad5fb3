# What pictures have in common. They are made for one column of a page (9 cm) and for grey prints: symbols and line
# types differ, and the legend is beside the panel.

plot_symbols <- c(19, 1, 17, 2, 15, 0, 18, 5, 3, 4)

# Above the plot, where it hides nothing.
legend_above <- function(title, keys, ...) {
  graphics::legend("bottomleft", keys, title = title, title.adj = 0, inset = c(0, 1), xpd = TRUE, bty = "n", cex = 0.8,
                   ...)
}

# What the linear predictor is.
predictor_text <- function(fit) {
  response <- fit$response
  switch(fit_link(fit)$name,
    logit = if (length(response$labels) == 2L) paste("the log-odds of", short_text(response$labels[2])) else
      "the linear predictor",
    log = "the log of the mean",
    if (response$kind == "bounded") short_text(response$name) else "the linear predictor"
  )
}

# Names of columns often differ in their ends only.
short_text <- function(x, most = 26L) {
  n <- nchar(x)
  end <- most %/% 2L - 1L
  ifelse(n > most, paste0(substr(x, 1L, most - 2L - end), "..", substr(x, n - end + 1L, n)), x)
}

# Text of base graphics is smaller where a picture is small.
text_size <- function() min(graphics::par("cex"), max(0.6, min(graphics::par("din") / 6)))

# ---- with ggplot2, which is an optional package ----

in_column <- function() {
  ggplot2::theme(legend.position = "bottom", legend.title = ggplot2::element_blank(),
                 legend.key.height = ggplot2::unit(0.8, "lines"), legend.key.width = ggplot2::unit(1, "lines"),
                 legend.margin = ggplot2::margin(), legend.spacing.x = ggplot2::unit(2, "pt"),
                 text = ggplot2::element_text(size = 9), legend.text = ggplot2::element_text(size = 6.5))
}

# The legend has one key per entry, in two columns.
key_rows <- function() ggplot2::guide_legend(ncol = 2L)
