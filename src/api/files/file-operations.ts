import type { Uploads } from "../../inbound/uploads.js";
import type { SessionStore } from "../../sessions/session-store.js";
import type { OpenedFile } from "../../util/files/opened-file.js";
import { assertSession } from "../sessions/assert-session.js";
import type { FilesApi } from "./files-api.js";

export interface FilePorts {
  readonly sessions: Pick<SessionStore, "exists">;
  readonly uploads: Pick<Uploads, "keep" | "open" | "openReceived">;
  readonly artifacts: { open(sessionKey: string, artifactId: string): Promise<OpenedFile> };
}

/** Files on their way between people and the assistant. */
export function createFileOperations({ sessions, uploads, artifacts }: FilePorts): FilesApi {
  return {
    async openArtifact(key, artifactId) {
      await assertSession(sessions, key);
      return await artifacts.open(key, artifactId);
    },
    upload: (file) => uploads.keep(file),
    openUpload: (name) => uploads.open(name),
    async openReceived(key, name) {
      await assertSession(sessions, key);
      return await uploads.openReceived(key, name);
    },
  };
}
