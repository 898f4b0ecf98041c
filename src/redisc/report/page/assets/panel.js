/* The panel beside the graph: all that is known of one node. Texts are set as text, never as HTML. */
const MOST_LISTED = 12;

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

class NodePanel {
  constructor(host, chain) {
    this.host = host;
    this.chain = chain;
  }

  show(node, step, pinned) {
    if (node === null) {
      this.host.replaceChildren(element("p", "empty", "Point at a node to see what is known of it; click to keep it here."));
      return;
    }
    const parts = [this._title(node, pinned), this._facts(node, step), this._posterior(node)];
    if (this.chain.drivers) parts.push(this._drivers(node));
    parts.push(this._neighbours(node, step));
    this.host.replaceChildren(...parts);
  }

  _title(node, pinned) {
    const title = element("h3", "", `Node ${this.chain.id(node)}`);
    if (this.chain.isKnown[node]) title.append(element("span", "badge", "known label"));
    if (pinned) title.append(element("span", "badge", "pinned"));
    return title;
  }

  _facts(node, step) {
    const { chain } = this;
    const list = element("dl", "");
    const add = (name, ...value) => list.append(element("dt", "", name), element("dd", "", ...value));
    add("now", this._label(chain.label(node, step)));
    add("revealed", `step ${chain.shownFrom[node]} of ${chain.steps}, as `, this._label(chain.labels[node]));
    if (!chain.isKnown[node]) add("confidence", `${percent(chain.confidence[node] / 1000)} at that moment`);
    const truth = chain.truth[node];
    if (truth >= 0) add("true label", this._label(truth), truth === chain.labels[node] ? " – right" : " – wrong");
    return list;
  }

  _posterior(node) {
    const part = element("section", "", element("h4", "", "Posterior"));
    for (const { label, chance } of this.chain.posterior(node).filter((row) => row.chance > 0)) {
      const bar = element("span", "fill");
      bar.style.width = `${100 * chance}%`;
      bar.style.background = this.chain.colours[label];
      part.append(element("div", "chance", element("span", "name", this.chain.classes[label]),
        element("span", "track", bar), element("span", "figure", percent(chance))));
    }
    return part;
  }

  _drivers(node) {
    const part = element("section", "", element("h4", "", "Known labels that drive it"));
    const rows = this.chain.driversOf(node).map(({ node: other, effect }) => this._other(other, this.chain.labels[other],
      `: speaks ${effect > 0 ? "for" : "against"} it, ${(100 * Math.abs(effect)).toFixed(1)} points`));
    part.append(rows.length ? element("ul", "", ...rows) : element("p", "empty", "none"));
    return part;
  }

  _neighbours(node, step) {
    const beside = this.chain.neighbours(node);
    const part = element("section", "", element("h4", "", `Neighbours (${beside.length.toLocaleString("en")})`));
    const rows = Array.from(beside.slice(0, MOST_LISTED), (other) => this._other(other, this.chain.label(other, step)));
    if (beside.length > MOST_LISTED) rows.push(element("li", "empty", `and ${beside.length - MOST_LISTED} more`));
    part.append(element("ul", "", ...rows));
    return part;
  }

  /* A line about another node: its label's colour, its id, its label. */
  _other(node, label, ...more) {
    const words = `${this._name(label)}${this.chain.isKnown[node] ? ", known" : ""}`;
    return element("li", "", this._chip(label), `${this.chain.id(node)} `, element("span", "empty", words, ...more));
  }

  _label(label) {
    return element("span", "", this._chip(label), this._name(label));
  }

  _name(label) {
    return label < 0 ? "masked" : this.chain.classes[label];
  }

  _chip(label) {
    const chip = element("span", "chip");
    chip.style.background = label < 0 ? MASKED : this.chain.colours[label];
    return chip;
  }
}
