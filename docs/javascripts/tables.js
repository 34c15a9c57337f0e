// What scrolls sideways can be reached by keys, and the dialog of the search has a name.
document$.subscribe(() => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const code of document.querySelectorAll(".md-typeset pre > code")) code.tabIndex = 0;
  const look = () => {
    const wraps = document.querySelectorAll(".md-typeset__scrollwrap");
    if (wraps.length < document.querySelectorAll(".md-typeset table:not([class])").length) {
      setTimeout(look, 50);
      return;
    }
    for (const wrap of wraps) {
      wrap.tabIndex = 0;
      wrap.setAttribute("role", "region");
      wrap.setAttribute("aria-label", "table");
    }
  };
  look();
});
