// The table of contents beside an article: a link to each heading that has an id, as pkgdown.js asks for it.
window.Toc = {
  init: function(options) {
    var list = document.createElement("ul");
    list.className = "nav flex-column";
    options.$scope.filter("h2, h3").each(function() {
      var section = this.id ? this : this.closest("[id]");
      if (!section || section.id === "main") return;
      var item = document.createElement("li");
      var link = document.createElement("a");
      link.className = "nav-link" + (this.tagName === "H3" ? " ps-4" : "");
      link.href = "#" + section.id;
      link.innerHTML = this.innerHTML;
      $(link).find("a").remove();
      item.appendChild(link);
      list.appendChild(item);
    });
    options.$nav.append(list);
  }
};
