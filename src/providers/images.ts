import { readFile, stat } from "node:fs/promises";
import type { ImagePart } from "../events/content.js";
import { wellFormed } from "../util/well-formed.js";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
export type ImageType = (typeof imageTypes)[number];

/** What the large APIs take at most for one image. */
const maxImageBytes = 5 * 1024 * 1024;

export type LoadedImage =
  | { readonly kind: "image"; readonly mimeType: ImageType; readonly base64: string }
  /** One line for the model in the image's place. */
  | { readonly kind: "missing"; readonly text: string };

/** Reads an image for a request. A file that is gone, too large or of another type never fails the request. */
export async function loadImage(part: ImagePart): Promise<LoadedImage> {
  const name = part.filename ?? "image";
  const mimeType = imageTypes.find((type) => type === part.mime_type.toLowerCase());
  if (mimeType === undefined) return missing(name, `models cannot look at ${part.mime_type}`);
  try {
    const { size } = await stat(part.path);
    if (size > maxImageBytes) return missing(name, "larger than 5 MB");
    return { kind: "image", mimeType, base64: (await readFile(part.path)).toString("base64") };
  } catch {
    return missing(name, "the file is gone");
  }
}

function missing(name: string, why: string): LoadedImage {
  return { kind: "missing", text: wellFormed(`[${name} cannot be shown: ${why}]`) };
}
