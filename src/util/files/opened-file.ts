import type { FileHandle } from "node:fs/promises";

/** A file that people were given, open for reading. */
export interface OpenedFile {
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly handle: FileHandle;
}
