import { join } from "node:path";
import { FileSenders } from "../../labels/file-senders.js";
import { createLabels, type Labels } from "../../labels/labels.js";
import { TextLabels } from "../../labels/text-labels.js";
import type { MarkForeign } from "../../memory/paragraphs.js";
import { resolveFolderSync } from "../../policy/locations/paths.js";
import { keptFolderOf, receivedFiles } from "../../policy/locations/zones.js";

/** What the gateway knows about where files and their passages came from. */
export interface Provenance {
  readonly files: Labels;
  /** Passages of the memory's files. */
  readonly texts: TextLabels;
  readonly markForeign: MarkForeign;
  /** Of the files that came with messages. */
  readonly senders: FileSenders;
  /** `folder`: a session's own. */
  readonly sendersIn: (folder: string) => Promise<(file: string) => string | undefined>;
}

/** @param sessionsDir holds the folders of all sessions, and beside them what the gateway keeps */
export function openProvenance(sessionsDir: string, now: () => number): Provenance {
  const shared = join(sessionsDir, ".kept", ".workspace");
  const texts = new TextLabels(join(shared, "passages.txt"));
  const senders = new FileSenders();
  const files = createLabels({
    foldersOf(folder) {
      const own = resolveFolderSync(folder);
      return { own, kept: keptFolderOf(own) };
    },
    sharedFile: join(shared, "labels.jsonl"),
    foreignTexts: () => texts.foreignFiles(),
    now,
  });
  return {
    files,
    texts,
    senders,
    sendersIn: (folder) => senders.in(join(keptFolderOf(resolveFolderSync(folder)), receivedFiles)),
    markForeign: (paragraphs, { root, name }) => texts.mark(paragraphs, resolveFolderSync(join(root, name))),
  };
}
