// Draws every chart. Text and lines take the page's colour, so that light, dark and paper work.
(() => {
  const ink = "currentColor";
  const axis = {
    labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink,
    gridOpacity: 0.12, domainOpacity: 0.4, tickOpacity: 0.4, labelFontSize: 12, titleFontSize: 12,
    titleFontWeight: "normal",
  };
  const config = {
    background: "transparent", font: "system-ui, sans-serif", axis,
    view: { stroke: null }, title: { color: ink },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  for (const place of document.querySelectorAll(".chart")) {
    const spec = JSON.parse(place.nextElementSibling.textContent);
    vegaEmbed(place, spec, {
      renderer: "svg", actions: false, config, tooltip: { theme: dark ? "dark" : "light" },
    }).catch((error) => { place.textContent = `This chart could not be drawn: ${error.message}`; });
  }
})();
