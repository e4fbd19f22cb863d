import path from "node:path/posix";
import { Parser } from "htmlparser2";
import type { Archive } from "./archive.js";

export type Attributes = Readonly<Record<string, string>>;

export interface XmlListener {
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** What a file of the archive refers to; the targets are names in the archive. */
export interface Relation {
  readonly id: string;
  /** A URL whose last part says what it is. */
  readonly type: string;
  readonly target: string;
}

/** Reads an XML file of the archive from its beginning, until it is enough. */
export async function readXml(
  archive: Archive,
  name: string,
  listener: XmlListener,
  isEnough?: () => boolean,
): Promise<void> {
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => listener.open?.(tag, attributes),
      onclosetag: (tag) => listener.close?.(tag),
      ontext: (text) => listener.text?.(text),
    },
    { xmlMode: true, decodeEntities: true },
  );
  await archive.read(name, (text) => parser.write(text), isEnough);
  parser.end();
}

/** The relations of a file; of the archive itself with an empty name. */
export async function relationsOf(archive: Archive, name: string): Promise<readonly Relation[]> {
  const folder = path.dirname(name);
  const relations: Relation[] = [];
  await readXml(archive, path.join(folder, "_rels", `${path.basename(name)}.rels`), {
    open(tag, { Id = "", Type = "", Target = "", TargetMode }) {
      if (tag !== "Relationship" || TargetMode === "External") return;
      const target = Target.startsWith("/") ? Target.slice(1) : path.join(folder, Target);
      relations.push({ id: Id, type: Type, target });
    },
  });
  return relations;
}
