import type { Words } from "../../channels/platform.js";
import type { JsonObject } from "../substitute.js";

/** A variable that a value is made of, or that goes before it. */
export interface UsedVariable {
  readonly name: string;
  readonly from: "environment" | "secrets.json" | "nowhere";
}

/** One key of the config: what it may be, what the file says, and what counts. */
export interface SettingView {
  readonly path: readonly string[];
  /** JSON schema of its value, with `description`, `default` and `unit` where there are any. */
  readonly schema: JsonObject;
  /** Its value is written, and never shown. */
  readonly isSecret: boolean;
  /** When a change counts. */
  readonly effect: "now" | "restart";
  /** It cannot be changed here: only in the file, or only where `gateway.token` is set. */
  readonly locked?: "file" | "token" | undefined;
  /** Where the value comes from that counts. */
  readonly source: "file" | "environment" | "default";
  /** As the file says it, with stars instead of secrets; absent where the file says nothing. */
  readonly value?: unknown;
  readonly variables: readonly UsedVariable[];
  /** Of a channel's section. */
  readonly channel?: ChannelWords | undefined;
}

export interface ChannelWords {
  readonly title: Words;
  /** What people call the key. */
  readonly label: Words;
  /** What the key means in Chinese; `schema` says it in English. */
  readonly meaning: string;
  /** The page can set it up by asking. */
  readonly isOffered: boolean;
}
