/* Slider, play button, keyboard and pointer; holds which step and which node are shown. */
const SECONDS = 8; // that a whole chain plays at speed 1

class Player {
  constructor(chain) {
    this.chain = chain;
    this.view = new GraphView(document.getElementById("graph"), chain);
    this.panel = new NodePanel(document.getElementById("panel"), chain);
    for (const name of ["play", "step", "counter", "speed", "mode", "legend"]) this[`${name}Part`] = document.getElementById(name);
    this.step = chain.steps;
    this.node = null;
    this.pinned = false;
    this.playing = false;
  }

  async start() {
    document.getElementById("no-webgl").hidden = this.view.webgl;
    this.stepPart.max = this.chain.steps;
    if (!this.chain.truth.some((label) => label >= 0)) this.modePart.querySelector("[value=mistakes]").remove();
    await this.view.draw();
    this._listen();
    this.colourBy("label");
    this.pointAt(null);
  }

  show(step) {
    this.step = Math.max(0, Math.min(this.chain.steps, step));
    this.stepPart.value = this.step;
    const share = this.chain.countAt[this.step] / this.chain.size;
    const text = `t = ${this.chain.steps - this.step}, revealed ${Math.round(100 * share)} %`;
    this.counterPart.textContent = text;
    this.stepPart.setAttribute("aria-valuetext", text);
    this.view.paint(this.step);
    if (this.node !== null) this.panel.show(this.node, this.step, this.pinned);
  }

  colourBy(mode) {
    const { legend, rest } = COLOURINGS[mode];
    const entries = [...legend(this.chain), [rest || "masked", MASKED]];
    this.legendPart.replaceChildren(...entries.map(([name, colour]) => {
      const chip = element("span", "chip");
      chip.style.background = colour;
      return element("li", "", chip, name);
    }));
    this.view.colourBy(mode);
    this.show(this.step);
  }

  play() {
    if (this.step === this.chain.steps) this.show(0);
    this._setPlaying(true);
    let [last, due] = [performance.now(), 0];
    const frame = (now) => {
      if (!this.playing) return;
      due += ((now - last) / 1000) * (this.chain.steps / SECONDS) * Number(this.speedPart.value);
      last = now;
      if (due >= 1) this.show(this.step + Math.floor(due));
      due %= 1;
      if (this.step < this.chain.steps) requestAnimationFrame(frame);
      else this.pause();
    };
    requestAnimationFrame(frame);
  }

  pause() {
    this._setPlaying(false);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /* Show a node in the panel and ring it; null clears both. */
  pointAt(node, pinned = false) {
    if (node === this.node && pinned === this.pinned && node !== null) return;
    const moved = node !== this.node;
    [this.node, this.pinned] = [node, pinned];
    this.panel.show(node, this.step, pinned);
    if (moved) this.view.highlight(node);
  }

  _setPlaying(playing) {
    this.playing = playing;
    this.playPart.textContent = playing ? "Pause" : "Play";
    this.playPart.setAttribute("aria-label", this.playPart.textContent);
  }

  _listen() {
    this.playPart.addEventListener("click", () => this.toggle());
    this.modePart.addEventListener("change", () => this.colourBy(this.modePart.value));
    this.stepPart.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.stepPart.value));
    });
    document.addEventListener("keydown", (event) => this._press(event));
    const graph = this.view.element;
    graph.on("plotly_hover", ({ points }) => { if (!this.pinned) this.pointAt(points[0].pointIndex); });
    graph.on("plotly_click", ({ points }) => {
      const node = points[0].pointIndex;
      this.pointAt(node, !(this.pinned && node === this.node));
    });
  }

  _press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, a")) return;
    if (event.key === " " && event.target.matches("button")) return; // the browser clicks it
    const moves = {
      " ": () => this.toggle(),
      ArrowLeft: () => this._jump(this.step - 1),
      ArrowRight: () => this._jump(this.step + 1),
      Home: () => this._jump(0),
      End: () => this._jump(this.chain.steps),
      Escape: () => this.pointAt(null),
    };
    if (!moves[event.key] || !this._visible()) return;
    event.preventDefault();
    moves[event.key]();
  }

  _jump(step) {
    this.pause();
    this.show(step);
  }

  /* Keys belong to the player only while it can be seen. */
  _visible() {
    const box = this.view.element.getBoundingClientRect();
    return box.bottom > 0 && box.top < window.innerHeight;
  }
}

const player = new Player(new Chain(JSON.parse(document.getElementById("data").textContent)));
player.ready = player.start();
