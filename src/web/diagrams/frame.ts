/**
 * Draws diagrams for the page. It runs in a frame without an origin: neither a diagram nor the library that draws it can
 * reach the page, its storage or the gateway, and so it is the page that sends it the library, as text. Then it gets
 * `{id, source, isDark}` and answers `{id, svg, width, height}` or `{id, problem}`.
 */

/** What the library leaves in the frame. */
interface Mermaid {
  initialize(settings: object): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

/** Longer diagrams take the browser too long. */
const longest = 20_000;
const mostEdges = 300;
const slices = [
  "#2a6b5a",
  "#b5651d",
  "#3f6fb0",
  "#8a4f9e",
  "#b3362b",
  "#6b7a1f",
  "#17808a",
  "#a0527a",
  "#6e655a",
  "#4a5aa8",
];
const settings = {
  startOnLoad: false,
  securityLevel: "strict",
  suppressErrorRendering: true,
  // Labels are text of the picture: a picture shows no HTML everywhere.
  htmlLabels: false,
  flowchart: { htmlLabels: false },
  fontFamily: "system-ui, sans-serif",
  // Those of the themes are nearly the same in a pie, and as the ground.
  themeVariables: {
    ...Object.fromEntries(slices.flatMap((colour, index) => [[`pie${index + 1}`, colour]])),
    pieOpacity: "1",
    pieSectionTextColor: "#ffffff",
  },
  maxTextSize: longest,
  maxEdges: mostEdges,
};

class DiagramFrame {
  #drawing = Promise.resolve();
  #count = 0;

  /** One after the other, because the colours are the library's. */
  take(asked: { readonly [name: string]: unknown }): void {
    const { id, library, source, isDark } = asked;
    this.#drawing = this.#drawing.then(async () => {
      try {
        if (typeof library === "string") await run(library);
        else parent.postMessage({ id, ...(await this.#draw(String(source), isDark === true)) }, "*");
      } catch (error) {
        parent.postMessage({ id, problem: String(error) }, "*");
      }
    });
  }

  async #draw(source: string, isDark: boolean) {
    const { mermaid } = globalThis as { readonly mermaid?: Mermaid };
    if (mermaid === undefined) throw new Error("The library did not load.");
    mermaid.initialize({ ...settings, theme: isDark ? "dark" : "neutral" });
    this.#count += 1;
    const { svg } = await mermaid.render(`diagram${this.#count}`, source);
    const place = document.createElement("template");
    place.innerHTML = svg;
    const picture = place.content.querySelector("svg");
    const [, , width = 0, height = 0] = (picture?.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
    if (picture === null || !(width > 0 && height > 0)) throw new Error("The diagram is empty.");
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    return { svg: new XMLSerializer().serializeToString(picture), width, height };
  }
}

/** As a script of its own: the library counts on being one. */
async function run(library: string): Promise<void> {
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([library], { type: "text/javascript" }));
  await new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

const frame = new DiagramFrame();
addEventListener("message", ({ data, source }) => {
  if (source === parent) frame.take(Object(data));
});
