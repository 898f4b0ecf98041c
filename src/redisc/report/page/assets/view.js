/* The graph on the screen: edges and nodes drawn once by Plotly, colours changed step by step. */
const POINTED = "#b3005e";
const NODES = 1; // the place of the nodes among the traces: edges lie under them

class GraphView {
  constructor(element, chain) {
    this.element = element;
    this.chain = chain;
    this.webgl = GraphView.hasWebGL();
    this.colours = new Array(chain.size).fill(MASKED);
    this.final = this.colours;
  }

  static hasWebGL() {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl") && window.WebGLRenderingContext);
  }

  async draw() {
    const layout = {
      xaxis: this._axis(this.chain.x),
      yaxis: { ...this._axis(this.chain.y), scaleanchor: "x" },
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hovermode: "closest",
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "pan",
      showlegend: false,
    };
    const config = { responsive: true, displaylogo: false, scrollZoom: true, displayModeBar: false };
    await Plotly.newPlot(this.element, [this._edges(), this._nodes()], layout, config);
    this._keepTheWheelForThePage();
    // When the window changes Plotly draws with the colours that it began with.
    this.element.on("plotly_afterplot", () => this._repaint(this._maskedFirst()));
  }

  /* Choose what colours mean; the next paint shows it. */
  colourBy(mode) {
    this.final = Array.from({ length: this.chain.size }, (_, node) => COLOURINGS[mode].colour(this.chain, node));
  }

  paint(step) {
    const { shownFrom } = this.chain;
    const changed = [];
    let back = false;
    for (let node = 0; node < this.colours.length; node++) {
      const colour = shownFrom[node] <= step ? this.final[node] : MASKED;
      if (colour === this.colours[node]) continue;
      this.colours[node] = colour;
      changed.push(node);
      back ||= colour === MASKED;
    }
    if (changed.length && !this._repaint(back ? this._maskedFirst() : changed)) {
      Plotly.restyle(this.element, { "marker.color": [this.colours] }, [NODES]);
    }
  }

  /* Ring a node and its neighbours; none where node is null. Shapes are redrawn alone, the graph is not. */
  highlight(node) {
    const shapes = [];
    if (node !== null) {
      const beside = Array.from(this.chain.neighbours(node).slice(0, 100));
      const lines = beside.map((other) => `M${this._place(node)}L${this._place(other)}`);
      if (lines.length) shapes.push({ type: "path", path: lines.join(""), line: { color: POINTED, width: 1 } });
      for (const other of beside) shapes.push(this._ring(other, 0.65 * this.size, 1.2));
      shapes.push(this._ring(node, 0.8 * this.size + 1, 2.5));
    }
    Plotly.relayout(this.element, { shapes });
  }

  /* All nodes in the order of drawing: no masked one covers a label. */
  _maskedFirst() {
    const [masked, shown] = [[], []];
    this.colours.forEach((colour, node) => (colour === MASKED ? masked : shown).push(node));
    return masked.concat(shown);
  }

  /* Hand the colours to Plotly's WebGL scene and draw these nodes over what is there; a restyle would compute and draw
     everything anew, edges too, which takes tens of times as long on 10,000 nodes. The scene is no public interface:
     where it is missing the answer is false. */
  _repaint(order) {
    const nodes = this.element._fullLayout?._plots?.xy?._scene?.scatter2d;
    if (!nodes?.update || !nodes.draw) return false;
    nodes.update([null, { colors: this.colours }]);
    nodes.draw([[], order]);
    return true;
  }

  _edges() {
    const { x, y, edges } = this.chain;
    const at = (axis) => Float32Array.from({ length: (edges.length / 2) * 3 }, (_, k) => {
      return k % 3 === 2 ? NaN : axis[edges[Math.floor(k / 3) * 2 + (k % 3)]];
    });
    const line = { color: edges.length > 20000 ? "#e3e3df" : "#cfcfca", width: 1 };
    return { type: this._type(), mode: "lines", x: at(x), y: at(y), line, hoverinfo: "skip" };
  }

  _nodes() {
    const { x, y, size, isKnown } = this.chain;
    const room = Math.min(this.element.clientWidth, this.element.clientHeight) / Math.sqrt(size);
    this.size = Math.max(3, Math.min(15, 0.62 * room));
    const line = { color: "#1d2327", width: Array.from(isKnown, (known) => (known ? this.size / 7 : 0)) };
    const marker = { color: this.colours, size: this.size, opacity: 1, line };
    return { type: this._type(), mode: "markers", x, y, marker, hoverinfo: "none" };
  }

  _type() {
    return this.webgl ? "scattergl" : "scatter";
  }

  _axis(places) {
    const high = places.reduce((most, place) => Math.max(most, place), 0);
    return { visible: false, range: [-250, high + 250] };
  }

  _place(node) {
    return `${this.chain.x[node]},${this.chain.y[node]}`;
  }

  _ring(node, radius, width) {
    const [x, y] = [this.chain.x[node], this.chain.y[node]];
    const box = { x0: -radius, x1: radius, y0: -radius, y1: radius, xanchor: x, yanchor: y };
    return { type: "circle", xsizemode: "pixel", ysizemode: "pixel", ...box, line: { color: POINTED, width } };
  }

  /* The wheel zooms only after a click into the graph and until the pointer leaves: a page must scroll. */
  _keepTheWheelForThePage() {
    let active = false;
    this.element.addEventListener("pointerdown", () => { active = true; });
    this.element.addEventListener("pointerleave", () => { active = false; });
    this.element.addEventListener("wheel", (event) => { if (!active) event.stopPropagation(); }, true);
  }
}
