import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BackupView } from "../../../api/system-api.js";
import type { HeldFiles } from "../../../engine/held-files.js";
import { EngineError, messageOf, RequestError } from "../../../errors.js";
import { linked } from "../../../util/async/linked.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import type { OpenedFile } from "../../../util/files/opened-file.js";
import { cutText } from "../../../util/text/cut-text.js";

export interface BackupPorts {
  readonly home: string;
  readonly workspace: string;
  readonly version: string;
  /** Of the file that is in force. */
  readonly configPath: () => string | undefined;
  readonly holdFiles: () => Promise<HeldFiles>;
}

const shape = /^maxclaw-backup-[0-9-]+\.tar\.gz$/;

/**
 * Backups that the gateway makes of itself, in a folder of their own: none of them holds keys or tokens, so that they may leave the
 * machine. Those of updates, beside it, do.
 */
export class Backups {
  readonly #ports: BackupPorts;
  readonly #folder: string;
  #isBusy = false;

  constructor(ports: BackupPorts) {
    this.#ports = ports;
    this.#folder = join(ports.home, "backups", "page");
  }

  async list(): Promise<readonly BackupView[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true }).catch(() => []);
    const files = entries.filter((entry) => entry.isFile() && shape.test(entry.name));
    const found = await Promise.all(files.map(({ name }) => this.#view(name)));
    return found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  }

  async make(signal: AbortSignal): Promise<BackupView> {
    if (this.#isBusy)
      throw new RequestError("A backup is being made already. Wait until it is done.", { status: 409, code: "busy" });
    this.#isBusy = true;
    try {
      return await this.#make(signal);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      throw new RequestError(messageOf(error), { status: 500, code: "backup_failed", cause: error });
    } finally {
      this.#isBusy = false;
    }
  }

  async open(name: string): Promise<OpenedFile> {
    // A pipe would hold up who opens it.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = shape.test(name) ? await open(join(this.#folder, name), flags).catch(() => undefined) : undefined;
    const found = await handle?.stat();
    if (handle === undefined || found?.isFile() !== true) {
      await handle?.close();
      throw new RequestError(`There is no backup ${cutText(name, 100)}.`, { status: 404, code: "not_found" });
    }
    return { filename: name, mimeType: "application/gzip", sizeBytes: found.size, handle };
  }

  async #make(signal: AbortSignal): Promise<BackupView> {
    const { home, workspace, version, configPath, holdFiles } = this.#ports;
    const [{ makeBackup }, { configOfBackup }, last] = await Promise.all([
      import("../../../offline/backup.js"),
      import("../../../config/document/config-of-backup.js"),
      import("../../../offline/last-backup.js"),
    ]);
    await makeFolder(this.#folder);
    const name = await this.#freeName(last.backupNameAt(new Date()));
    const file = join(this.#folder, name);
    const { config, placeholders } = await configOfBackup(configPath(), false);
    await using held = await holdFiles();
    using either = linked(signal);
    held.lost.addEventListener("abort", () => either.abort(held.lost.reason), { once: true });
    await makeBackup(
      { home, workspace, segment: held.segment },
      {
        ...{ file, maxclaw: version, config, placeholders, hasSecrets: false },
        // The end of this function waits for the same, and throws what it may throw.
        onStateDone: () => void held[Symbol.asyncDispose]().then(undefined, () => undefined),
      },
      either.signal,
    );
    await last.rememberBackup(home, file);
    return await this.#view(name);
  }

  /** Two may be made within a second. */
  async #freeName(name: string): Promise<string> {
    const taken = new Set(await readdir(this.#folder));
    let free = name;
    for (let n = 2; taken.has(free); n += 1) free = name.replace(/\.tar\.gz$/, `-${n}.tar.gz`);
    return free;
  }

  async #view(name: string): Promise<BackupView> {
    const { size, mtime } = await stat(join(this.#folder, name));
    return { name, bytes: size, createdAt: mtime.toISOString() };
  }
}
