// Tables that scroll sideways can be reached by keys.
document$.subscribe(() => {
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
