import type { LoadFile } from "../files/file-view.js";
import type { Item } from "../session/view-state.js";
import type { OwnPicture } from "./markdown/own-picture.js";

/**
 * A file of the session that an answer names by its path: one that the assistant has given, or one that came with a message. Of
 * several with one name the newest.
 */
export function ownPictureOf(items: readonly Item[], path: string, load: LoadFile): OwnPicture | undefined {
  if (/^[a-z][a-z\d+.-]*:|^\/\//i.test(path)) return undefined;
  const name = decoded(path.split(/[/\\]/).at(-1) ?? "");
  if (name === "") return undefined;
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.kind === "file" && item.status === "ready" && item.filename === name) {
      const { filename, mimeType, artifactId } = item;
      return { filename, mimeType, load: () => load(`artifacts/${encodeURIComponent(artifactId)}`) };
    }
    if (item?.kind !== "user") continue;
    const sent = item.files.find(({ storedAs, filename }) => storedAs === name || filename === name);
    if (sent === undefined) continue;
    const { filename, mimeType, storedAs } = sent;
    return { filename, mimeType, load: () => load(`received/${encodeURIComponent(storedAs)}`) };
  }
  return undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A percent sign that stands for itself.
    return name;
  }
}
