/* A chain as the page's data tells it: which label each node shows at each step of the slider. */
class Chain {
  constructor(data) {
    Object.assign(this, data);
    this.size = data.x.length;
    // A node with revealed == t is masked in Y(t) and stands in Y(t-1); step k of the slider shows Y(T-k).
    this.shownFrom = Uint32Array.from(data.revealed, (t) => data.steps - t + 1);
    this.isKnown = new Uint8Array(this.size);
    for (const node of data.known) this.isKnown[node] = 1;
    this.countAt = this._counts();
    this._index(data.edges);
  }

  id(node) {
    return this.ids ? this.ids[node] : String(node);
  }

  /* The label that a node shows at a step, or -1 while it is masked. */
  label(node, step) {
    return this.shownFrom[node] <= step ? this.labels[node] : -1;
  }

  neighbours(node) {
    return this._ends.subarray(this._starts[node], this._starts[node + 1]);
  }

  /* The node's most probable classes with their probabilities. */
  posterior(node) {
    const rows = [];
    for (let k = node * this.top; k < (node + 1) * this.top; k++) {
      rows.push({ label: this.likely[k], chance: this.chance[k] / 1000 });
    }
    return rows;
  }

  /* Pairs of a known node and what its label adds to the probability of this node's likeliest label. */
  driversOf(node) {
    const flat = this.drivers ? this.drivers[node] : [];
    const rows = [];
    for (let k = 0; k < flat.length; k += 2) rows.push({ node: flat[k], effect: flat[k + 1] / 1000 });
    return rows;
  }

  /* How many nodes each step shows. */
  _counts() {
    const counts = new Uint32Array(this.steps + 1);
    for (const step of this.shownFrom) counts[step]++;
    for (let step = 1; step <= this.steps; step++) counts[step] += counts[step - 1];
    return counts;
  }

  /* Neighbours as one list and where each node's part starts. */
  _index(edges) {
    this._starts = new Uint32Array(this.size + 1);
    for (const node of edges) this._starts[node + 1]++;
    for (let node = 0; node < this.size; node++) this._starts[node + 1] += this._starts[node];
    this._ends = new Uint32Array(edges.length);
    const next = this._starts.slice();
    for (let k = 0; k < edges.length; k += 2) {
      this._ends[next[edges[k]]++] = edges[k + 1];
      this._ends[next[edges[k + 1]]++] = edges[k];
    }
  }
}
