import { dirname } from "node:path";
import { makeFolder } from "../util/files/make-folder.js";
import { replaceFile } from "../util/files/replace-file.js";
import { systemSentence } from "../util/files/system-fault.js";
import { ServiceError } from "./manager.js";

/** Writes what the system reads of a service. @throws {ServiceError} in words where the file system refuses it */
export async function writeService(file: string, text: string): Promise<void> {
  try {
    await makeFolder(dirname(file), 0o777);
    await replaceFile(file, text, { mode: 0o644 });
  } catch (error) {
    const sentence = systemSentence(error);
    if (sentence === undefined) throw error;
    throw new ServiceError(`The file of the service cannot be written. ${sentence}`, { kind: "refused", cause: error });
  }
}
