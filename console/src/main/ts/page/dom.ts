type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Makes an element. Text is only ever text: nothing recorded becomes markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((each): each is Node | string => each instanceof Node || typeof each === "string"));
  return element;
}

/** Puts these in the place of what an element has. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(
    ...children.filter((each): each is Node | string => each instanceof Node || typeof each === "string"),
  );
}

/** Changes what the address has behind its #, without a step back to what was there. */
export function replaceHash(hash: string): void {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Browsers refuse too many changes in a short time; the next one has all of it again.
  }
}
