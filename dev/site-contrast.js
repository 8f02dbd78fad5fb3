// Put at the end of a page by dev/site-look.sh: replaces it by a list of texts whose contrast with their background is
// below 4.5, or 3 for large ones (WCAG 2.1, criterion 1.4.3), one for each pair of colours.
window.addEventListener("load", function() {
  function numbers(colour) {
    var found = colour.match(/[\d.]+/g).map(Number);
    return found.length > 3 ? found : found.concat(1);
  }
  function behind(element) {
    for (; element; element = element.parentElement) {
      var colour = numbers(getComputedStyle(element).backgroundColor);
      if (colour[3] > 0.5) return colour;
    }
    return [255, 255, 255];
  }
  function luminance(colour) {
    var parts = colour.slice(0, 3).map(function(value) {
      value /= 255;
      return value <= 0.03928 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  }
  function contrast(a, b) {
    var la = luminance(a), lb = luminance(b);
    return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
  }
  var seen = {}, count = 0, walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), node;
  while ((node = walker.nextNode())) {
    var element = node.parentElement, style = getComputedStyle(element);
    if (!node.nodeValue.trim() || !element.getClientRects().length || style.visibility === "hidden") continue;
    count++;
    var colour = numbers(style.color), back = behind(element), size = parseFloat(style.fontSize);
    var large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight, 10) >= 700);
    var ratio = contrast(colour, back);
    if (ratio < (large ? 3 : 4.5)) {
      seen[style.color + " on " + back.slice(0, 3)] = ratio.toFixed(2) + " " + node.nodeValue.trim().slice(0, 40);
    }
  }
  document.body.textContent = "contrast of " + count + " texts" + Object.keys(seen).map(function(pair) {
    return "; LOW " + pair + ": " + seen[pair];
  }).join("");
});
