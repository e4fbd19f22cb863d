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
  microphone: "M12 4a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V7a3 3 0 0 0-3-3M6 11.500a6 6 0 0 0 12 0M12 17.500V21",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  close: "M6 6l12 12M18 6L6 18",
  replace: "M12 19V5M6 11l6-6 6 6M4 21h16",
  down: "M12 5v14M6 13l6 6 6-6",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  chat: "M4 5h16v11H9l-5 4z",
  clock: "M12 4a8 8 0 1 0 0 16a8 8 0 0 0 0-16M12 8v4.500l3 2",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1.500 3h3L15 13h5",
  memory: "M6 4h12v16l-6-4-6 4z",
  chart: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  gear: "M12 9a3 3 0 1 0 0 6a3 3 0 0 0 0-6M12 2v4M12 18v4M2 12h4M18 12h4M5 5l2.800 2.800M16.200 16.200L19 19M19 5l-2.800 2.800M7.800 16.200L5 19",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
  book: "M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2v14a2 2 0 0 1 2-2h4z",
  shield: "M12 3l7 3v5c0 5-3 8-7 10c-4-2-7-5-7-10V6z",
  people:
    "M9 11a3.500 3.500 0 1 0 0-7a3.500 3.500 0 0 0 0 7M3 20c0-4 2.500-6 6-6s6 2 6 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2 .7 3 2.500 3 5.500",
  phone: "M8 3h8v18H8zM11 18h2",
  spark: "M12 3l2 6.500L20 12l-6 2.500L12 21l-2-6.500L4 12l6-2.500z",
  coin: "M12 4a8 8 0 1 0 0 16a8 8 0 0 0 0-16M14.500 9c-.5-1-1.500-1.500-2.500-1.500c-1.500 0-2.500.8-2.500 2c0 3 5 1.500 5 4.500c0 1.300-1 2-2.500 2c-1.200 0-2.200-.5-2.700-1.600M12 6v12",
  search: "M10.500 4a6.500 6.500 0 1 0 0 13a6.500 6.500 0 0 0 0-13M15.500 15.500L21 21",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5.2L4 17l3 3 5.300-5.200a4 4 0 0 0 5.200-5.300L15 12l-3-3z",
} as const;

export type IconName = keyof typeof iconPaths;

export function icon(name: IconName): SVGSVGElement {
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
