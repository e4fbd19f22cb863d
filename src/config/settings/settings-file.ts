import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigError, RequestError } from "../../errors.js";
import { InOrder } from "../../util/async/in-order.js";
import { codeOf, isMissing } from "../../util/error-code.js";
import { replaceFile } from "../../util/files/replace-file.js";
import { reasonOf, systemSentence } from "../../util/files/system-fault.js";
import { readJson } from "../document/json-walk.js";
import { type ConfigEdit, type Edit, inTurn, isReadOnly, readRaw } from "../edit.js";
import { faultSentence, type Unusable } from "../faults/fault.js";
import type { LiveConfig } from "../live/live-config.js";
import { configOf, type LoadedConfig, loadConfig, secretNames } from "../load.js";
import { readBytes } from "../read-text.js";
import { configSchema } from "../schema.js";
import { findingIn } from "../settle.js";
import { isObject, type JsonObject } from "../substitute.js";
import { applied, assertSettable, editsFor } from "./edits.js";
import { assertMayChange } from "./guarded.js";
import { hasHidden, inside, withoutSecrets, withSecrets } from "./hide.js";
import { faultOf, spelledAsIn } from "./one-setting.js";
import { type UnknownSetting, unknownIn, viewsOf, writtenAt } from "./overview.js";
import { assertSecretsStay } from "./secrets-stay.js";
import type { SettingView } from "./setting-view.js";

export interface SettingsFileOptions {
  readonly home: string;
  /** The file of the gateway that runs; undefined where there was none. */
  readonly path: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the gateway does with the file; looked at again, so that what was just written counts. */
  readonly live: Pick<LiveConfig, "running" | "look" | "takes" | "problems">;
  /** Called with the names of what was written. */
  readonly onChanged?: (names: readonly string[]) => void;
}

/** One change of the file; without a value and a text the key is taken away. */
export interface SettingChange {
  readonly path: readonly string[];
  readonly value?: unknown;
  /** The value as people write it in the file: JSON5. */
  readonly text?: string | undefined;
}

/** Everything that the config can hold, with what the file says about it. */
export interface AllSettings {
  readonly file: {
    readonly path: string;
    readonly exists: boolean;
    readonly isReadOnly: boolean;
    /** Why it cannot be read. Then there is nothing to change. */
    readonly fault?: Unusable | undefined;
  };
  /** Changes with the file; absent while it cannot be read. */
  readonly revision?: string | undefined;
  readonly hasToken: boolean;
  readonly settings: readonly SettingView[];
  readonly unknown: readonly UnknownSetting[];
  readonly restart: readonly string[];
  readonly problems: readonly string[];
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

const maxValue = 100_000;

interface Looked {
  readonly shown: ShownSettings;
  /** The file alone, without its secrets. */
  readonly written: JsonObject;
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
    const loaded = await this.#loaded();
    if (loaded.unparsable === undefined) return loaded;
    const todo = loaded.unparsable.advice ?? "Correct it first.";
    throw refused(`${faultSentence(this.path, loaded.unparsable)}. ${todo}`, 409, "wrong_state");
  }

  /** A file of the home may be gone, as it may never have been there; another one was asked for by name. */
  async #loaded(): Promise<LoadedConfig> {
    const { home, path, env } = this.#options;
    const isGone = path !== undefined && dirname(path) === home && !(await this.#exists());
    try {
      return await loadConfig({ home, configPath: isGone ? undefined : path, env });
    } catch (error) {
      throw error instanceof ConfigError ? refused(error.message, 409, "wrong_state") : error;
    }
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
    return this.#inTurn((edit) => this.#change(sent, revision, edit));
  }

  /** Every key, with what the file says about it. A file that cannot be read is told, and is not an error. */
  async all(): Promise<AllSettings> {
    const { home, env, live } = this.#options;
    const { unparsable } = await this.#loaded();
    const hasToken = live.running.gateway.token !== undefined;
    const file = { path: this.path, exists: await this.#exists(), isReadOnly: await isReadOnly(this.path) };
    if (unparsable !== undefined) {
      const { line, column, message } = unparsable;
      const { restart } = await live.look();
      return {
        file: { ...file, fault: { line, column, message } },
        ...{ hasToken, restart, settings: [], unknown: [], problems: live.problems() },
      };
    }
    const { shown, written } = await this.#look();
    const takes = (key: readonly string[]): boolean => live.takes(key);
    return {
      file,
      revision: shown.revision,
      hasToken,
      settings: viewsOf({ shown: written, env, secretNames: await secretNames(home), hasToken, takes }),
      unknown: unknownIn(written),
      restart: shown.restart,
      problems: shown.problems,
    };
  }

  /**
   * Writes single keys, all of them or none. Stars stand for the secret that is there.
   *
   * @throws {RequestError} as {@link change}
   */
  set(changes: readonly SettingChange[], revision: string | undefined): Promise<AllSettings> {
    return this.#inTurn(async (edit) => {
      const looked = await this.#look();
      assertSame(looked, revision);
      await this.#write(looked.raw, toEdits(changes, looked), edit);
      return await this.all();
    });
  }

  /** No other process changes the file between the look at it and the change. */
  #inTurn<T>(work: (edit: Edit) => Promise<T>): Promise<T> {
    return this.#inOrder.run(async () => {
      try {
        return await inTurn(this.path, work);
      } catch (error) {
        throw unwritten(error);
      }
    });
  }

  async #change(sent: JsonObject, revision: string | undefined, edit: Edit): Promise<ChangedSettings> {
    const looked = await this.#look();
    const { shown, raw } = looked;
    assertSame(looked, revision);
    const edits = editsFor(shown.config, raw, sent);
    if (edits.length === 0) return shown;
    const backup = await this.#write(raw, edits, edit);
    return { ...(await this.read()), backup };
  }

  /** Resolves with where the file is as it was before. */
  async #write(raw: JsonObject, edits: readonly ConfigEdit[], edit: Edit): Promise<string | undefined> {
    if (edits.length === 0) return undefined;
    await this.#check(raw, edits);
    const backup = await this.#keepCopy();
    await edit(edits);
    // Anyone who sees the event reads what is in force.
    await this.#options.live.look();
    this.#options.onChanged?.(edits.map(({ path }) => path.join(".")));
    return backup;
  }

  async #exists(): Promise<boolean> {
    return await stat(this.path).then(
      () => true,
      () => false,
    );
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
    const [shown, written] = [withoutSecrets(whole, secrets), withoutSecrets(raw, secrets)];
    const { restart } = await this.#options.live.look();
    const revision = createHash("sha256").update(JSON.stringify(raw)).digest("hex").slice(0, 32);
    return {
      ...{ raw, whole, written: isObject(written) ? written : {} },
      shown: { config: isObject(shown) ? shown : {}, revision, restart, problems },
    };
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

/** @throws {RequestError} 412 */
function assertSame({ shown }: Looked, revision: string | undefined): void {
  if (revision === undefined || revision === shown.revision) return;
  const message = "The settings have changed since you read them. Read them again.";
  throw refused(message, 412, "changed");
}

/** @throws {RequestError} 400 for a key that no config has, and for a value that the key does not take */
function toEdits(changes: readonly SettingChange[], { raw, shown, written }: Looked): readonly ConfigEdit[] {
  return changes.flatMap(({ path, text, value: plainValue }): readonly ConfigEdit[] => {
    assertSettable(path);
    const value = text === undefined ? plainValue : valueIn(text, path);
    const spelled = asAsked(() => spelledAsIn(raw, path));
    const kept = writtenAt(raw, spelled);
    if (value === undefined) return kept === undefined ? [] : [{ path: spelled }];
    const before = writtenAt(written, spelled) ?? writtenAt(shown.config, spelled);
    const next = withSecrets(value, before, kept);
    if (hasHidden(next))
      throw refused(
        `${path.join(".")}: no secret is stored here that the stars could mean. Send the secret itself.`,
        400,
        "bad_request",
      );
    if (JSON.stringify(next).length > maxValue)
      throw refused(`${path.join(".")} is too long: a value may have ${maxValue / 1000} kB.`, 413, "too_large");
    const fault = faultOf(path, next);
    if (fault !== undefined) throw refused(`Nothing was changed. ${fault}.`, 400, "bad_request");
    return [{ path: spelled, value: next }];
  });
}

function valueIn(text: string, path: readonly string[]): unknown {
  const tree = readJson(text);
  if (!("fault" in tree)) return tree.root.value;
  const { line, column, message } = tree.fault;
  throw refused(
    `Nothing was changed. ${path.join(".")}, line ${line}, column ${column}: ${message}.`,
    400,
    "bad_request",
  );
}

function asAsked<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ConfigError ? refused(error.message, 400, "bad_request") : error;
  }
}

/** What has kept the file from being written, for who wanted it. */
function unwritten(error: unknown): unknown {
  if (error instanceof RequestError) return error;
  if (error instanceof ConfigError) return refused(error.message, 409, "wrong_state");
  const sentence = systemSentence(error);
  if (sentence === undefined) return error;
  const isFull = codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT";
  return isFull ? refused(sentence, 507, "disk_full") : refused(sentence, 409, "wrong_state");
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
