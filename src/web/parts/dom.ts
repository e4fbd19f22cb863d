type Value = string | boolean | undefined | ((event: Event) => void);
type Child = Node | string | undefined;

/** A new element. `on…` properties are listeners; true and false set and leave out an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

const svg = "http://www.w3.org/2000/svg";

const iconPaths = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  pencil: "M4 20l1-4L16.5 4.5l3 3L8 19l-4 1z",
  trash: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12",
  attach:
    "M20 11.500l-8 8a5 5 0 0 1-7-7l8.500-8.500a3.300 3.300 0 0 1 4.700 4.700L9.800 17a1.600 1.600 0 0 1-2.300-2.300L15 7.200",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6L6 18",
  down: "M12 5v14M6 13l6 6 6-6",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5.2L4 17l3 3 5.300-5.200a4 4 0 0 0 5.200-5.300L15 12l-3-3z",
} as const;

export function icon(name: keyof typeof iconPaths): SVGSVGElement {
  const image = document.createElementNS(svg, "svg");
  image.setAttribute("viewBox", "0 0 24 24");
  image.setAttribute("class", "icon");
  image.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg, "path");
  path.setAttribute("d", iconPaths[name]);
  image.append(path);
  return image;
}

/** Gives the parent exactly these children in this order, moving as little as possible. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const wanted = new Set<Element>(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/** Changes the text only when it differs, so that nothing is announced or repainted for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
