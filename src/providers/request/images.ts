import type { ImagePart } from "../../events/content.js";
import { codeOf } from "../../util/error-code.js";
import { readNoted } from "../../util/files/noted-file.js";
import { type ImageType, imageTypeOf } from "../../util/image-type.js";
import { wellFormed } from "../../util/text/well-formed.js";

/** What the large APIs take at most for one image. */
const maxImageBytes = 5 * 1024 * 1024;

export type LoadedImage =
  | { readonly kind: "image"; readonly mimeType: ImageType; readonly base64: string }
  /** One line for the model in the image's place. */
  | { readonly kind: "missing"; readonly text: string };

/**
 * Reads an image for a request. A file that is gone, too large or of another type never fails the request. The type is the
 * one that the file has, whatever was said about it: an API refuses each later request of a conversation for one that is none.
 */
export async function loadImage(part: ImagePart): Promise<LoadedImage> {
  const name = part.filename ?? "image";
  try {
    const bytes = await readNoted(part.path, maxImageBytes);
    const mimeType = imageTypeOf(bytes);
    if (mimeType === undefined) return missing(name, "it is not a JPEG, PNG, GIF or WebP");
    return { kind: "image", mimeType, base64: bytes.toString("base64") };
  } catch (error) {
    if (codeOf(error) === "EFBIG") return missing(name, "larger than 5 MB");
    return missing(name, codeOf(error) === "ENOENT" ? "the file is gone" : "it cannot be read");
  }
}

function missing(name: string, why: string): LoadedImage {
  return { kind: "missing", text: wellFormed(`[${name} cannot be shown: ${why}]`) };
}
