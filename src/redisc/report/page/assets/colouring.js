/* What colours mean. Cividis for confidence: yellow is unsure, dark blue sure, for readers of every kind of sight. */
const MASKED = "#d6d6d3";
const RIGHT = "#8fc1de";
const WRONG = "#000000";
const CIVIDIS = [[253, 231, 55], [188, 175, 111], [124, 123, 120], [64, 78, 107], [0, 34, 78]];

function shade(confidence) {
  const place = Math.min(Math.round(confidence * 32) / 32, 0.9999) * (CIVIDIS.length - 1);
  const [low, high, rest] = [CIVIDIS[Math.floor(place)], CIVIDIS[Math.floor(place) + 1], place % 1];
  return `rgb(${low.map((part, k) => Math.round(part + rest * (high[k] - part))).join(",")})`;
}

/* For each way to colour: the colour of a revealed node, and the legend. */
const COLOURINGS = {
  label: {
    colour: (chain, node) => chain.colours[chain.labels[node]],
    legend: (chain) => chain.classes.map((name, k) => [name, chain.colours[k]]),
  },
  confidence: {
    colour: (chain, node) => shade(chain.confidence[node] / 1000),
    legend: () => [0, 0.25, 0.5, 0.75, 1].map((value) => [`${100 * value} %`, shade(value)]),
  },
  mistakes: {
    colour: (chain, node) => {
      if (chain.truth[node] < 0) return MASKED;
      return chain.truth[node] === chain.labels[node] ? RIGHT : WRONG;
    },
    legend: () => [["right", RIGHT], ["wrong", WRONG]],
    rest: "masked or not scored",
  },
};
