import { isRecord } from "../../../client/frames.js";
import { type JsonObject, textIn } from "../../gateway/api.js";
import { saidIn } from "../../words/words.js";
import { hasStars } from "../settings/fields/field-kind.js";

const kinds = ["text", "secret", "server", "consent", "choice", "ids"] as const;

/** One thing that is asked about a channel, as the gateway says it. */
export interface ChannelField {
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  readonly kind: (typeof kinds)[number];
  /** Where people get what is asked. */
  readonly link: string | undefined;
  /** Asked only of who wants more. */
  readonly isMore: boolean;
  readonly choices: readonly string[];
  /** The keys of the config that get it. */
  readonly sets: readonly string[];
  /** Of a server: where its port goes, and whether TLS begins with the first byte. */
  readonly port: { readonly key: string; readonly tlsKey: string | undefined } | undefined;
}

export function toField(field: JsonObject): ChannelField {
  const key = textIn(field.key);
  const sets = textsIn(field.sets);
  const port = isRecord(field.port) ? field.port : undefined;
  return {
    key,
    label: saidIn(field.label),
    hint: saidIn(field.hint),
    kind: kinds.find((kind) => kind === field.kind) ?? "text",
    link: textIn(field.link) || undefined,
    isMore: field.isMore === true,
    choices: textsIn(field.choices),
    sets: sets.length === 0 ? [key] : sets,
    port: port === undefined ? undefined : { key: textIn(port.key), tlsKey: textIn(port.tlsKey) || undefined },
  };
}

type Texts = Readonly<Record<string, string>>;

/** What a section of the config has for these fields, as it would be typed. Nothing of secrets, which the page does not know. */
export function textsOf(fields: readonly ChannelField[], section: JsonObject): Texts {
  return Object.fromEntries(fields.map((field) => [field.key, textOf(field, section)]));
}

function textOf({ kind, sets: [key = ""], port }: ChannelField, section: JsonObject): string {
  const value = section[key];
  if (kind === "secret" || hasStars(value)) return "";
  if (kind === "consent") return value === true ? "yes" : "";
  if (kind === "ids") return textsIn(value).join(", ");
  const at = port === undefined ? undefined : section[port.key];
  return typeof at === "number" && textIn(value) !== "" ? `${textIn(value)}:${at}` : textIn(value);
}

/**
 * What was typed as the change of a section in which `before` was. What was not changed, or is a secret and empty, stays as it is there;
 * anything else that is empty goes.
 */
export function sectionOf(fields: readonly ChannelField[], typed: Texts, before: Texts): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const known = before[field.key] ?? "";
      const value = (typed[field.key] ?? known).trim();
      if (value === known) return [];
      const isPortGone = known.includes(":") && !value.includes(":");
      const without = isPortGone ? portKeysOf(field).map((key): Entry => [key, null]) : [];
      if (value !== "" || field.kind === "consent") return [...settingsFor(field, value), ...without];
      return [...field.sets.map((key): Entry => [key, null]), ...without];
    }),
  );
}

type Entry = readonly [string, unknown];

function portKeysOf({ port }: ChannelField): readonly string[] {
  return [port?.key, port?.tlsKey].filter((key) => key !== undefined);
}

function settingsFor({ kind, sets, port }: ChannelField, value: string): readonly Entry[] {
  const all = (setting: unknown): readonly Entry[] => sets.map((key) => [key, setting]);
  if (kind === "consent") return all(value === "yes");
  if (kind === "ids") return all(value.split(/[\s,;]+/).filter((id) => id !== ""));
  if (kind !== "server") return all(value);
  const [host = "", at] = value.split(":");
  if (at === undefined || port === undefined) return all(host);
  const tls: readonly Entry[] = port.tlsKey === undefined ? [] : [[port.tlsKey, at === "465"]];
  return [...all(host), [port.key, Number(at)], ...tls];
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
