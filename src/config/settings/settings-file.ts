import { createHash } from "node:crypto";
import { join } from "node:path";
import { ConfigError, RequestError } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { isMissing } from "../../util/error-code.js";
import { replaceFile } from "../../util/files/replace-file.js";
import { reasonOf } from "../../util/files/system-fault.js";
import { type ConfigEdit, editConfig, readRaw } from "../edit.js";
import { faultSentence } from "../faults/fault.js";
import type { LiveConfig } from "../live/live-config.js";
import { configOf, type LoadedConfig, loadConfig } from "../load.js";
import { readBytes } from "../read-text.js";
import { configSchema } from "../schema.js";
import { findingIn } from "../settle.js";
import { isObject, type JsonObject } from "../substitute.js";
import { applied, editsFor } from "./edits.js";
import { assertMayChange, assertSecretsStay } from "./guarded.js";
import { inside, withoutSecrets } from "./hide.js";

export interface SettingsFileOptions {
  readonly home: string;
  /** The file of the gateway that runs; undefined where there was none. */
  readonly path: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the gateway does with the file; looked at again, so that what was just written counts. */
  readonly live: Pick<LiveConfig, "running" | "look">;
}

export interface ShownSettings {
  /** The file over the defaults, without its secrets. */
  readonly config: JsonObject;
  /** Changes with the file. */
  readonly revision: string;
  /** Settings that count from the next start on, by name. */
  readonly restart: readonly string[];
  readonly problems: readonly string[];
}

export interface ChangedSettings extends ShownSettings {
  /** Where the file is as it was before; absent where nothing changed or there was none. */
  readonly backup?: string | undefined;
}

interface Looked {
  readonly shown: ShownSettings;
  readonly raw: JsonObject;
  readonly whole: JsonObject;
}

/** The config file, as people read and change it while the gateway runs. Changes are made one after the other. */
export class SettingsFile {
  readonly #options: SettingsFileOptions;
  readonly #inOrder = new InOrder();

  constructor(options: SettingsFileOptions) {
    this.#options = options;
  }

  get path(): string {
    return this.#options.path ?? join(this.#options.home, "config.json");
  }

  /** The config as the next start would have it, secrets included: for the gateway alone. */
  async load(): Promise<LoadedConfig> {
    const { home, path, env } = this.#options;
    const loaded = await loadConfig({ home, configPath: path, env });
    if (loaded.unparsable === undefined) return loaded;
    throw refused(`${faultSentence(this.path, loaded.unparsable)}. Correct it first.`, 409, "wrong_state");
  }

  /** The file as it is written, secrets included: for the gateway alone. */
  async raw(): Promise<JsonObject> {
    return (await this.#look()).raw;
  }

  /** The file over the defaults, secrets included: for who may read the file itself. */
  async whole(): Promise<JsonObject> {
    return (await this.#look()).whole;
  }

  /** @throws {RequestError} 409 when the file cannot be read */
  async read(): Promise<ShownSettings> {
    return (await this.#look()).shown;
  }

  /**
   * Writes what differs from what was shown, after a copy of the file beside it. What was not sent stays as it is.
   *
   * @throws {RequestError} 400 for what would be wrong, 403 for what only the file can say, 409 when the file cannot be
   *   read, 412 when it is not the one of `revision` any more; nothing is written then
   */
  change(sent: JsonObject, revision: string | undefined): Promise<ChangedSettings> {
    const work = this.#inOrder.run(() => this.#change(sent, revision));
    return work;
  }

  async #change(sent: JsonObject, revision: string | undefined): Promise<ChangedSettings> {
    const { shown, raw } = await this.#look();
    if (revision !== undefined && revision !== shown.revision)
      throw new RequestError("The settings have changed since you read them. Read them again.", {
        status: 412,
        code: "changed",
      });
    const edits = editsFor(shown.config, raw, sent);
    if (edits.length === 0) return shown;
    await this.#check(raw, edits);
    const backup = await this.#keepCopy();
    try {
      await editConfig(this.path, edits);
    } catch (error) {
      throw error instanceof ConfigError ? refused(error.message, 409, "wrong_state") : error;
    }
    return { ...(await this.read()), backup };
  }

  /** Refuses what would be a problem from then on. */
  async #check(raw: JsonObject, edits: readonly ConfigEdit[]): Promise<void> {
    assertMayChange(edits, this.#options.live.running.gateway.token !== undefined, this.path);
    assertSecretsStay(raw, edits);
    const { home, env } = this.#options;
    const before = await configOf(raw, { home, env });
    const after = await configOf(applied(raw, edits), { home, env });
    const added = after.problems.filter((problem) => !before.problems.includes(problem));
    if (added.length > 0) throw refused(`Nothing was changed. ${added.map(findingIn).join(". ")}.`, 400, "bad_request");
  }

  async #look(): Promise<Looked> {
    const { config, problems, secrets } = await this.load();
    const root = await readRaw(this.path, []);
    const raw = isObject(root) ? root : {};
    const defaults: JsonObject = JSON.parse(JSON.stringify(configSchema.parse({})));
    const { workspace } = config.agents.defaults;
    const whole = over(over(defaults, { agents: { defaults: { workspace } } }), raw);
    const shown = withoutSecrets(whole, secrets);
    const { restart } = await this.#options.live.look();
    const revision = createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 32);
    return { raw, whole, shown: { config: isObject(shown) ? shown : {}, revision, restart, problems } };
  }

  /** One copy, of the last state: with it a change can be taken back. */
  async #keepCopy(): Promise<string | undefined> {
    const backup = `${this.path}.previous`;
    let content: Buffer;
    try {
      content = await readBytes(this.path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw refused(`${this.path} cannot be read: ${reasonOf(error)}`, 409, "wrong_state");
    }
    await replaceFile(backup, content, { mode: 0o600 });
    return backup;
  }
}

function over(below: JsonObject, above: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = inside(below, key);
    if (value !== null) merged[key] = isObject(under) && isObject(value) ? over(under, value) : value;
  }
  return merged;
}

function refused(message: string, status: number, code: string): RequestError {
  return new RequestError(message, { status, code });
}
