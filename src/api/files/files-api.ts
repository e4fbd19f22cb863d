import type { Attachment } from "../../bus/messages.js";
import type { UploadRequest } from "../../inbound/uploads.js";
import type { OpenedFile } from "../../util/files/opened-file.js";

/** Files on their way between people and the assistant. */
export interface FilesApi {
  /**
   * A file that the people of a session were given, by the id that `artifact_state_changed` tells. Anyone who opens it
   * closes its handle.
   *
   * @throws {RequestError} 404
   */
  openArtifact(sessionKey: string, artifactId: string): Promise<OpenedFile>;
  /**
   * Keeps a file for the `attachments` of a message that is sent later. Resolves once it is durable; one that does not
   * come whole leaves nothing behind.
   *
   * @throws {RequestError} 413 when it is larger than `inbound.maxFileMegabytes`, 507 on a full disk, 503 when the disk fails
   */
  upload(file: UploadRequest): Promise<Attachment>;
  /**
   * An uploaded file, by the last part of its path. The caller closes it.
   *
   * @throws {RequestError} 404
   */
  openUpload(name: string): Promise<OpenedFile>;
  /**
   * The words of an uploaded recording, by the last part of its path.
   *
   * @throws {RequestError} 404, 409 `no_transcription` where the config names no service for that, 502 when the service fails
   */
  transcribeUpload(name: string, signal: AbortSignal): Promise<string>;
  /**
   * A file that came with a message of this session, by the last part of its path. The caller closes it.
   *
   * @throws {RequestError} 404
   */
  openReceived(sessionKey: string, name: string): Promise<OpenedFile>;
}
