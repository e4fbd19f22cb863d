import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../../errors.js";
import { isMissing } from "../../util/error-code.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { readOnly, readPlain } from "../../util/files/real-path.js";
import { replaceFile } from "../../util/files/replace-file.js";

/** What is read of a document that somebody else wrote. */
export const foundDocument = z.object({
  key: z.string(),
  title: z.string().nullish(),
  messages: z
    .array(z.object({ role: z.string(), content: z.string().nullish(), timestamp: z.string().nullish() }))
    .nullish(),
  metadata: z
    .object({
      lastSequence: z.number().int().nonnegative().nullish(),
      createdAt: z.string().nullish(),
      forkedFrom: z.looseObject({}).nullish(),
    })
    .nullish(),
});

/** A document as found on disk, ours or the Go maxclaw's. */
export type FoundDocument = z.infer<typeof foundDocument>;

export type DocumentReading =
  | { readonly status: "missing" }
  | { readonly status: "ok"; readonly document: FoundDocument }
  /** Not JSON, or not a session document. Nothing was changed on disk. */
  | { readonly status: "broken"; readonly why: string };

export async function readDocument(path: string): Promise<DocumentReading> {
  let text: string;
  try {
    text = await readFile(path, { encoding: "utf8", flag: readOnly });
  } catch (error) {
    if (isMissing(error)) return { status: "missing" };
    return { status: "broken", why: messageOf(error) };
  }
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { status: "broken", why: messageOf(error) };
  }
  const parsed = foundDocument.safeParse(json);
  if (parsed.success) return { status: "ok", document: parsed.data };
  return {
    status: "broken",
    why: parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
  };
}

/** It comes last in what is written below. */
const lastNumber = /"lastSequence": (\d+)\s*\}\s*\}\s*$/;
const endBytes = 100;

/** The last sequence number that a document shows; 0 where it does not tell. Of one that we have written only the end is read. */
export function shownSequence(path: string): number {
  try {
    const atEnd = lastNumber.exec(readEnd(path))?.[1];
    if (atEnd !== undefined) return Number(atEnd);
    return foundDocument.parse(JSON.parse(readPlain(path).toString())).metadata?.lastSequence ?? 0;
  } catch {
    return 0;
  }
}

function readEnd(path: string): string {
  const fd = openSync(path, readOnly);
  try {
    const bytes = Buffer.alloc(endBytes);
    const read = readSync(fd, bytes, 0, endBytes, Math.max(0, fstatSync(fd).size - endBytes));
    return bytes.toString("latin1", 0, read);
  } finally {
    closeSync(fd);
  }
}

/** Moves a document out of the way that may not be written over, and returns its new path. */
export async function setAside(path: string, now: Date, why: "broken" | "newer" = "broken"): Promise<string> {
  const aside = `${path}.${why}-${now.toISOString().replace(/[:.]/g, "-")}`;
  await rename(path, aside);
  return aside;
}

/** What may be beside a document besides other sessions: what was set aside, and what a kill has left of a write. */
const besideIt = /^\.(?:(?:broken|newer)-[\dT-]+Z|[0-9a-f]{12})$/;

/** Removes a document, and what is kept beside it. */
export async function removeDocument(path: string): Promise<void> {
  const [folder, own] = [dirname(path), basename(path)];
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const name of names)
    if (name === own || (name.startsWith(own) && besideIt.test(name.slice(own.length))))
      await rm(join(folder, name), { force: true });
}

/** Replaces the document in one step. Not synced: it can be rebuilt from the session log at any time. */
export async function writeDocument(path: string, document: object): Promise<void> {
  await makeFolder(dirname(path), 0o777);
  await replaceFile(path, `${JSON.stringify(document, null, 2)}\n`, { sync: false, mode: 0o600 });
}
