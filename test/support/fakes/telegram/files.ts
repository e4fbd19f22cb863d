import type { ServerResponse } from "node:http";
import { type Reply, refusal, success } from "./wire.js";

/** The files of people's messages. */
export class Files {
  readonly #kept = new Map<string, Buffer>();

  /** Returns its `file_id`. */
  keep(bytes: Buffer): string {
    const id = `file${this.#kept.size + 1}`;
    this.#kept.set(id, bytes);
    return id;
  }

  find(id: string): Reply {
    const bytes = this.#kept.get(id);
    if (bytes === undefined) return refusal(400, "Bad Request: wrong file_id");
    return success({ file_id: id, file_unique_id: id, file_size: bytes.length, file_path: `files/${id}` });
  }

  download(id: string, response: ServerResponse): void {
    const bytes = this.#kept.get(id);
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  }
}
