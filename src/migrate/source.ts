import type { JsonObject } from "./openclaw/json5.js";

/** Whose home it is. */
export type SourceKind = "maxclaw" | "nanobot" | "openclaw";

/** A file of the old workspace whose text goes to the end of one of ours. */
export interface FoundNote {
  readonly from: string;
  /** Path in our workspace. */
  readonly to: string;
  /** For a file that is not text for people. */
  readonly toText?: (content: string) => string;
}

export interface FoundSession {
  readonly from: string;
  readonly key: string;
  /** The document as the next start of the gateway takes it over. */
  readonly document: object;
  readonly messages: number;
  /** The session's own folder; may not exist. */
  readonly folder?: string;
  /** What of it does not come along. */
  readonly remark?: string;
}

/** One section of our config that the old one has something for. */
export interface FoundSetting {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly remark?: string;
}

/** Something that is not taken over, and why. */
export interface Problem {
  readonly what: string;
  readonly why: string;
}

/** All that an old home holds for us. Reading it changes nothing in it. */
export interface Source {
  readonly kind: SourceKind;
  readonly folder: string;
  readonly workspace: string;
  readonly notes: readonly FoundNote[];
  /** Folders whose entries are skills. */
  readonly skillFolders: readonly string[];
  /** Folders that come along file by file, by their path in our workspace. */
  readonly trees: readonly { readonly from: string; readonly to: string }[];
  readonly sessions: readonly FoundSession[];
  /** Scheduled jobs as the Go maxclaw wrote them, by id. */
  readonly jobs: JsonObject;
  readonly settings: readonly FoundSetting[];
  readonly problems: readonly Problem[];
}
