import { fill, h } from "./dom";
import type { Edge } from "./messages";

const SHOWN = 14;
const ROW_PX = 22;
const WIDTH = 1000;
const SIDE = 300;
const NAME_MAX = 39;
const SVG = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** A name's end says more of it than its middle. */
function cut(name: string): string {
  const half = Math.floor((NAME_MAX - 1) / 2);
  return name.length > NAME_MAX ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
}

/** Which programs sent to which peers: a picture of what the list below it says in numbers. */
export class EgressMap {
  readonly element = h("figure", { class: "egress" });

  /** @param of how many there are; `edges` are those with most octets */
  show(edges: Edge[], of: number): void {
    const first = (of: (edge: Edge) => string): string[] => [...new Set(edges.map(of))].slice(0, SHOWN);
    const programs = first((edge) => edge.program);
    const peers = first((edge) => edge.peer);
    const drawn = edges.filter((edge) => programs.includes(edge.program) && peers.includes(edge.peer));
    if (drawn.length === 0) {
      fill(this.element, h("p", {}, "No talk with another machine was seen. What went over the link without an address is among the events."));
      return;
    }
    const most = drawn.reduce((max, { bytes }) => Math.max(max, bytes), 1);
    const y = (at: number): number => at * ROW_PX + ROW_PX / 2;
    const height = Math.max(programs.length, peers.length) * ROW_PX;
    const lines = drawn.map((edge) => {
      const from = y(programs.indexOf(edge.program));
      const to = y(peers.indexOf(edge.peer));
      const middle = WIDTH / 2;
      const width = 1 + 9 * (Math.log1p(edge.bytes) / Math.log1p(most));
      return svg(
        "path",
        { d: `M${SIDE} ${from}C${middle} ${from} ${middle} ${to} ${WIDTH - SIDE} ${to}`, "stroke-width": width.toFixed(1), class: edge.refused ? "refused" : "" },
        svg("title", {}, `${edge.program} and ${edge.label}: ${edge.bytes.toLocaleString("en")} octets in ${edge.flows} flows${edge.refused ? "; nothing got through" : ""}`),
      );
    });
    const label = (name: string, at: number, x: number, anchor: string): SVGElement =>
      svg("text", { x, y: y(at), "text-anchor": anchor, "dominant-baseline": "middle" }, cut(name), svg("title", {}, name));
    const left = of - drawn.length;
    const labels = new Map(edges.map((edge) => [edge.peer, edge.label]));
    fill(
      this.element,
      svg(
        "svg",
        { viewBox: `0 0 ${WIDTH} ${height}`, class: "map", role: "img", "aria-label": `Which of ${programs.length} programs sent to which of ${peers.length} peers; the same is in the list below.` },
        ...lines,
        ...programs.map((name, at) => label(name, at, SIDE - 8, "end")),
        ...peers.map((peer, at) => label(labels.get(peer)!, at, WIDTH - SIDE + 8, "start")),
      ),
      h("p", { class: "hint" }, `The thicker, the more octets both ways; dashed: nothing got through.${left > 0 ? ` ${left.toLocaleString("en")} more pairs are in the list.` : ""} Traffic that stays in the guest is not here.`),
    );
  }
}
