import type { SetUpField, Words } from "../../channels/platform.js";
import type { SettingView } from "../../config/settings/setting-view.js";

/** A file that steers the assistant, or holds its memory. */
export interface WorkspaceFile {
  readonly name: string;
  readonly exists: boolean;
  readonly sizeBytes?: number;
  /** ISO 8601. */
  readonly changedAt?: string;
  /** Why it can neither be read nor written. */
  readonly problem?: string;
}

/** A setting's value, as JSON. */
type Json = { readonly [key: string]: unknown };

/** The config file over the defaults. Stars are used instead of secrets. */
export interface SettingsView {
  readonly config: Json;
  /** Changes with the file. */
  readonly revision: string;
  /** Names of settings that count from the next start on. */
  readonly restart: readonly string[];
  readonly problems: readonly string[];
  /** After a change: where the file is as it was before. */
  readonly backup?: string | undefined;
}

/** Everything that the config can hold, with what the file says about it. */
export interface AllSettingsView {
  readonly file: {
    readonly path: string;
    readonly exists: boolean;
    readonly isReadOnly: boolean;
    /** Why it cannot be read. Then there is nothing to change. */
    readonly fault?:
      | { readonly line?: number | undefined; readonly column?: number | undefined; readonly message: string }
      | undefined;
  };
  /** Changes with the file; absent while it cannot be read. */
  readonly revision?: string | undefined;
  readonly hasToken: boolean;
  readonly settings: readonly SettingView[];
  /** Keys of the file that nobody here knows. They stay. */
  readonly unknown: readonly { readonly path: readonly string[]; readonly value: unknown }[];
  readonly restart: readonly string[];
  readonly problems: readonly string[];
}

/** One change of the file; without a value and a text the key is taken away. */
export interface SettingChange {
  readonly path: readonly string[];
  readonly value?: unknown;
  /** The value as people write it in the file: JSON5. */
  readonly text?: string | undefined;
}

/** A provider of models, by the name it has in the config. */
export interface ProviderView {
  readonly name: string;
  readonly apiBase?: string | undefined;
  readonly apiFormat: "openai" | "anthropic";
  /** Runs on one's own machine and wants no key. */
  readonly isLocal: boolean;
  readonly isConfigured: boolean;
  readonly hasKey: boolean;
}

/** A provider as somebody is about to set it up. What is left out is taken from the config. */
export interface ProviderTry {
  readonly name: string;
  readonly apiKey?: string | undefined;
  readonly apiBase?: string | undefined;
  readonly apiFormat?: "openai" | "anthropic" | undefined;
}

export interface ModelView {
  readonly id: string;
  readonly name: string;
  /** USD for a million tokens; absent where nobody knows. */
  readonly price?: { readonly input: number; readonly output: number } | undefined;
  /** In tokens, as the config says; absent where it says nothing. */
  readonly contextWindow?: number | undefined;
}

export interface ChannelView {
  readonly name: string;
  /** False for those of the Go maxclaw that are not there yet. */
  readonly isAvailable: boolean;
  readonly enabled: boolean;
  readonly state: string;
  /** Since when it is in this state, ISO 8601. */
  readonly since?: string | undefined;
  /** The last proof that the connection works, ISO 8601. */
  readonly lastSeenAt?: string | undefined;
  readonly reason?: string | undefined;
  /** What its owner must do before it can work; `scan`: what a phone must scan, shown as a QR code. */
  readonly toDo?: { readonly text: Words; readonly scan?: string | undefined } | undefined;
  /** Where it is an account: `slack` of `slack-acme`, and of `slack` itself. Absent as `title` is. */
  readonly platform?: string | undefined;
  /** For people; absent for channels of extensions, and for those that are not there yet. */
  readonly title?: Words | undefined;
  /** What the page asks to set it up; absent: the config file does that. */
  readonly fields?: readonly SetUpField[] | undefined;
}

/** Somebody who has written on a channel. */
export interface SenderView {
  readonly channel: string;
  readonly sender: string;
  readonly chatId: string;
  /** ISO 8601. */
  readonly lastSeen: string;
  readonly messageCount: number;
  readonly latestMessage?: string | undefined;
}

/** Something that a person may want to see at once: a question that waits, a scheduled run that is over. */
export interface NotificationView {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly data: Json;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly delivered: boolean;
}

/** Every key of the config, one by one. */
export interface SettingKeysApi {
  /** A file that cannot be read is told in the answer. */
  all(): Promise<AllSettingsView>;
  /**
   * Writes single keys, all of them or none, and keeps comments. Stars stand for the secret that is there.
   *
   * @throws {RequestError} 400 for what would be a problem, 403, 409, 412, 413 and 507 as for `change`
   */
  set(changes: readonly SettingChange[], revision: string | undefined): Promise<AllSettingsView>;
}

/** Files that steer the assistant, and its memory. */
export interface WorkspaceFilesApi {
  list(): Promise<readonly WorkspaceFile[]>;
  /** @throws {RequestError} 403 for any other file, 409 for what is not a plain file, 413 */
  read(name: string): Promise<{ readonly text: string; readonly revision: string }>;
  /**
   * Resolves with the new revision. With a `revision`, only where that is still what is there.
   *
   * @throws {RequestError} 403 for any other file, 409, 412 for another revision, 413, 507
   */
  write(name: string, content: string, revision: string | undefined): Promise<string>;
}

/** What a page of settings shows and changes. Nothing here gives a secret away. */
export interface SettingsApi {
  readonly keys: SettingKeysApi;
  /** @throws {RequestError} 409 when the file cannot be read */
  read(): Promise<SettingsView>;
  /**
   * Writes what differs from what `read` shows, after a copy of the file. `null` takes a key away; of providers and MCP
   * servers those that are not sent go.
   *
   * @throws {RequestError} 400 for what would be a problem, 403 for extensions, 409 when the file cannot be read, 412 when
   *   `revision` is not that of the file any more
   */
  change(sent: Json, revision: string | undefined): Promise<SettingsView>;
  providers(): Promise<readonly ProviderView[]>;
  /** Asks the provider. A key of the config goes to no other address than that of the config. @throws {RequestError} 400 */
  models(wanted: ProviderTry, signal: AbortSignal): Promise<readonly ModelView[]>;
  channels(): Promise<readonly ChannelView[]>;
  /** Newest first. */
  senders(query: { readonly channel?: string | undefined; readonly limit: number }): Promise<readonly SenderView[]>;
  /**
   * Logs in once with these settings over those of the config. Resolves with how people find it there, e.g. `@max_bot`.
   *
   * @throws {RequestError} 400
   */
  testChannel(name: string, section: Json, signal: AbortSignal): Promise<string | undefined>;
  /** Not told as delivered yet, of this run of the gateway. */
  notifications(): Promise<readonly NotificationView[]>;
  markDelivered(id: string): void;
  readonly files: WorkspaceFilesApi;
}
