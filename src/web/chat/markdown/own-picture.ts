import { FilePreview } from "../../files/preview.js";
import { h } from "../../parts/dom.js";

/** A picture of the session's own, by the path that an answer gives it; undefined for any other file. */
export type PictureOf = (path: string) => OwnPicture | undefined;

export interface OwnPicture {
  readonly filename: string;
  readonly mimeType: string;
  load(): Promise<Blob>;
}

/** Shows the session's own pictures where a finished block names them. They come over the route that checks who asks. */
export function showOwnPictures(block: HTMLElement, pictureOf: PictureOf): void {
  for (const link of block.querySelectorAll<HTMLAnchorElement>("a.picture:not([href])[title]")) {
    const picture = pictureOf(link.title);
    if (picture === undefined) continue;
    const alt = link.textContent || picture.filename;
    const preview = new FilePreview(() => picture.load());
    const frame = h("span", { class: "own-picture" }, preview.picture, preview.problem);
    preview.reserve(picture);
    if (preview.picture.hidden) continue;
    link.replaceWith(frame);
    preview.picture.alt = alt;
    preview.show({ ...picture, alt }, 0, frame);
  }
}
