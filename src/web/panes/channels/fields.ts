import type { JsonObject } from "../../gateway/api.js";
import type { Offered } from "./channels.js";
import { channelsWords } from "./words.js";

/** One thing that is asked about a channel. */
export interface ChannelField {
  readonly key: string;
  readonly label: () => string;
  readonly hint: () => string;
  readonly kind: "text" | "secret" | "consent";
  /** Where people get what is asked. */
  readonly link?: string;
  /** Asked only of who wants more. */
  readonly isMore?: boolean;
}

type Typed = Readonly<Record<string, string>>;

const { t } = channelsWords;

const whoMayTalk: ChannelField = {
  key: "allowFrom",
  label: () => t("allowFrom"),
  hint: () => t("allowFromHint"),
  kind: "text",
  isMore: true,
};

export const channelFields: Readonly<Record<Offered, readonly ChannelField[]>> = {
  telegram: [
    {
      key: "token",
      label: () => t("token"),
      hint: () => t("telegramToken"),
      kind: "secret",
      link: "https://t.me/BotFather",
    },
    whoMayTalk,
    { key: "apiRoot", label: () => t("apiRoot"), hint: () => t("apiRootHint"), kind: "text", isMore: true },
  ],
  discord: [
    {
      key: "token",
      label: () => t("token"),
      hint: () => t("discordToken"),
      kind: "secret",
      link: "https://discord.com/developers/applications",
    },
    whoMayTalk,
    { key: "apiRoot", label: () => t("apiRoot"), hint: () => t("apiRootHint"), kind: "text", isMore: true },
  ],
  email: [
    { key: "address", label: () => t("address"), hint: () => t("addressHint"), kind: "text" },
    { key: "password", label: () => t("password"), hint: () => t("passwordHint"), kind: "secret" },
    { key: "imapHost", label: () => t("imap"), hint: () => t("imapHint"), kind: "text" },
    { key: "smtpHost", label: () => t("smtp"), hint: () => t("smtpHint"), kind: "text" },
    { key: "consentGranted", label: () => t("consent"), hint: () => t("consentHint"), kind: "consent" },
    whoMayTalk,
  ],
};

/** What was typed as the section of the config. What is empty stays as it is there. */
export function sectionOf(typed: Typed): JsonObject {
  return Object.fromEntries(
    Object.entries(typed)
      .map(([key, value]) => [key, value.trim()] as const)
      .filter(([, value]) => value !== "")
      .flatMap(([key, value]) => settingsFor(key, value)),
  );
}

function settingsFor(key: string, value: string): readonly (readonly [string, unknown])[] {
  if (key === "address") return ["imapUsername", "smtpUsername", "fromAddress"].map((name) => [name, value] as const);
  if (key === "password") return ["imapPassword", "smtpPassword"].map((name) => [name, value] as const);
  if (key === "consentGranted") return [[key, value === "yes"]];
  if (key === "allowFrom") return [[key, value.split(/[\s,;]+/).filter((id) => id !== "")]];
  if (key === "imapHost" || key === "smtpHost") return serverOf(key === "imapHost" ? "imap" : "smtp", value);
  return [[key, value]];
}

/** `host` or `host:port`. */
function serverOf(kind: "imap" | "smtp", server: string): readonly (readonly [string, unknown])[] {
  const [host = "", port] = server.split(":");
  if (port === undefined) return [[`${kind}Host`, host]];
  // On port 465, TLS begins with the first byte.
  const tls: readonly (readonly [string, unknown])[] = kind === "smtp" ? [["smtpUseSSL", port === "465"]] : [];
  return [[`${kind}Host`, host], [`${kind}Port`, Number(port)], ...tls];
}
