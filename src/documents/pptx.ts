import type { Archive } from "./archive.js";
import { readXml, relationsOf } from "./office-xml.js";
import type { DocumentText } from "./pdf.js";
import { counted, TextSink } from "./unreadable.js";

/** PowerPoint: the slides in their order, each with its notes. */
export async function readPptx(archive: Archive, main: string, limit: number): Promise<DocumentText> {
  const targets = new Map((await relationsOf(archive, main)).map(({ id, target }) => [id, target]));
  const slides: string[] = [];
  await readXml(archive, main, {
    open(name, attributes) {
      const slide = name === "p:sldId" ? targets.get(attributes["r:id"] ?? "") : undefined;
      if (slide !== undefined) slides.push(slide);
    },
  });
  const sink = new TextSink(limit);
  for (const [index, slide] of slides.entries()) {
    if (sink.isFull) break;
    sink.add(`\n\n[slide ${index + 1}]\n`);
    await readShapes(archive, slide, sink);
    const notes = (await relationsOf(archive, slide)).find(({ type }) => type.endsWith("/notesSlide"));
    if (notes !== undefined) await readNotes(archive, notes.target, sink, limit);
  }
  return { ...sink.result(), size: counted(slides.length, "slide") };
}

async function readNotes(archive: Archive, name: string, sink: TextSink, limit: number): Promise<void> {
  const notes = new TextSink(limit);
  await readShapes(archive, name, notes);
  const { text } = notes.result();
  // A page of notes has at least its own number.
  if (!/^\d*$/.test(text)) sink.add(`[notes] ${text.replace(/\n\d+$/, "")}\n`);
}

async function readShapes(archive: Archive, name: string, sink: TextSink): Promise<void> {
  let isText = false;
  let cells: string[] | undefined;
  let paragraph = "";
  await readXml(
    archive,
    name,
    {
      open(tag) {
        if (tag === "a:t") isText = true;
        else if (tag === "a:br") paragraph += "\n";
        else if (tag === "a:tr") cells = [];
        else if (tag === "a:tc") cells?.push("");
      },
      close(tag) {
        if (tag === "a:t") isText = false;
        else if (tag === "a:p" && cells !== undefined) {
          cells[cells.length - 1] = `${cells.at(-1) ?? ""} ${paragraph}`.trim();
          paragraph = "";
        } else if (tag === "a:p") {
          if (paragraph.trim() !== "") sink.add(`${paragraph}\n`);
          paragraph = "";
        } else if (tag === "a:tr") {
          sink.add(`${(cells ?? []).join(" | ")}\n`);
          cells = undefined;
        }
      },
      text(text) {
        if (isText) paragraph += text;
      },
    },
    () => sink.isFull,
  );
}
