// Formulas of articles and of help pages.
renderMathInElement(document.body, {
  delimiters: [
    { left: "\\(", right: "\\)", display: false },
    { left: "\\[", right: "\\]", display: true },
    { left: "$$", right: "$$", display: true }
  ],
  throwOnError: false
});
