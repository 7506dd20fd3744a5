// `ast` interprets Vega's expressions: many servers forbid to compile them (unsafe-eval).
// Draws every chart, one after the other so that the page stays at hand meanwhile. Text, lines and
// colours are variables of the style sheet, so that light, dark and paper work.
addEventListener("beforeprint", () => {
  for (const facts of document.querySelectorAll("#run details")) facts.open = true;
});
(async () => {
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
  const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const place of document.querySelectorAll(".chart")) {
    const spec = JSON.parse(place.nextElementSibling.textContent);
    try {
      await vegaEmbed(place, spec, {
        renderer: "svg", ast: true, actions: false, config, tooltip: { theme }, loader: { target: "_self" },
      });
    } catch (error) {
      place.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }
  document.body.dataset.charts = "drawn";
})();
