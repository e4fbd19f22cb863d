import path from "node:path";
import { domainToASCII, domainToUnicode } from "node:url";
import { type Glob, globOf, matchesGlob } from "../util/files/glob.js";
import { trimEndWhere, withoutSlashes } from "../util/text/trim-where.js";
import { argumentOf, type ToolAccess } from "./access.js";
import { parseWords } from "./commands/shell-words.js";

/** How rules name a location: what a path below the workspace is called, and where it truly is. */
export interface LocationNames {
  readonly nameOf: (path: string) => string;
  readonly toReal: (path: string) => string;
}

/** What a rule that allows is compared with: the thing by the names that it goes by, letter by letter. */
export function exactNames(access: ToolAccess, { nameOf }: LocationNames): readonly string[] {
  const argument = argumentOf(access);
  if (access.kind === "read" || access.kind === "write") return [argument, nameOf(argument)];
  if (access.kind === "network" && URL.canParse(argument)) {
    const { hostname, host } = new URL(argument);
    return [argument, hostname, host];
  }
  return [argument];
}

/** Whether a rule that denies or asks means this, in whatever way either of them is written. */
export function matchesWidely(argument: string, access: ToolAccess, locations: LocationNames): boolean {
  const names = wideNames(access, locations);
  const folded = [...new Set(names.map(fold))];
  return widePatterns(argument, locations).some(
    ({ exact, wide }) =>
      names.some((name) => matchesGlob(exact, name)) || folded.some((name) => matchesGlob(wide, name)),
  );
}

interface WidePattern {
  readonly exact: Glob;
  readonly wide: Glob;
}

function widePatterns(argument: string, { toReal }: LocationNames): readonly WidePattern[] {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(argument);
  const asPath = isAddress ? argument : path.normalize(argument);
  const texts = [
    argument,
    asPath,
    withoutSlashes(asPath) || asPath.slice(0, 1),
    argument.replace(/\s+/g, " "),
    ...hostPatterns(argument),
  ];
  if (path.isAbsolute(asPath)) texts.push(toReal(asPath));
  return [...new Set(texts)].map((text) => ({ exact: globOf(text), wide: globOf(fold(text)) }));
}

function wideNames(access: ToolAccess, locations: LocationNames): readonly string[] {
  const exact = exactNames(access, locations);
  switch (access.kind) {
    case "network":
      return [...exact, ...addressNames(access.url)];
    case "command":
      return [...exact, ...commandNames(access.command)];
    case "call":
      return [...exact, unescaped(argumentOf(access))];
    default:
      return exact;
  }
}

/** Case, width and composition of letters: what file systems and people take for the same. */
function fold(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFC");
}

/** The command as it is, without quotes and backslashes, and by its words, also with the plain name of the program. */
function commandNames(command: string): readonly string[] {
  const bare = command
    .replace(/\\\n/g, "")
    .replace(/["'\\]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const words = parseWords(command);
  if (words === undefined) return [bare];
  const [program = "", ...rest] = words;
  return [bare, words.join(" "), [path.basename(program), ...rest].join(" ")];
}

/** `\u0061` in JSON is an `a`. */
function unescaped(json: string): string {
  return json.replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** An address with every name of its host, and each of those names by itself. */
function addressNames(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  const port = url.port === "" ? (defaultPorts[url.protocol] ?? "") : url.port;
  const rest = `${url.pathname}${url.search}${url.hash}`;
  return hostNames(url.hostname).flatMap((host) => {
    const hostAndPort = url.port === "" ? host : `${host}:${url.port}`;
    const starts = [`${url.protocol}//${hostAndPort}`, `${url.protocol}//${host}:${port}`];
    return [host, `${host}:${port}`, ...starts.flatMap((start) => [`${start}${rest}`, `${start}${decoded(rest)}`])];
  });
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443", "ws:": "80", "wss:": "443" };

/** `host` as URLs have it: in small letters, without percent signs, IPv4 in four numbers. */
function hostNames(host: string): readonly string[] {
  const plain = withoutDots(host);
  const bare = plain.replace(/^\[|\]$/g, "");
  const [, high = "", low = ""] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(bare) ?? [];
  const mapped = high === "" ? [] : [[high, low].flatMap(twoNumbers).join(".")];
  return [...new Set([plain, bare, domainToUnicode(plain) || plain, ...mapped])];
}

function twoNumbers(group: string): readonly number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}

/** A pattern of an address or a host as addresses are written, with and without the port that goes without saying. */
function hostPatterns(pattern: string): readonly string[] {
  const [, start = "", authority = "", rest = ""] = /^([a-z][a-z0-9+.-]*:\/\/)?([^/#\s]*)(.*)$/is.exec(pattern) ?? [];
  const scheme = start.toLowerCase();
  const hostAndPort = decoded(authority.slice(authority.lastIndexOf("@") + 1));
  const isBareIPv6 = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(hostAndPort);
  const [, named = hostAndPort, port = ""] = isBareIPv6 ? [] : (/^(.*?):(\d+|\*)$/.exec(hostAndPort) ?? []);
  const host = hostPattern(isBareIPv6 ? `[${hostAndPort}]` : named);
  if (host === "") return [];
  const isDefault = port !== "" && defaultPorts[scheme.slice(0, -2)] === port;
  const ends = decoded(rest) === rest ? [rest] : [rest, decoded(rest)];
  return ends.flatMap((end) => [
    `${scheme}${host}${port === "" ? "" : `:${port}`}${end}`,
    ...(isDefault ? [`${scheme}${host}${end}`] : []),
    // An address of a host alone means its first page.
    ...(scheme !== "" && end === "" ? [`${scheme}${host}${port === "" || isDefault ? "" : `:${port}`}/`] : []),
  ]);
}

function withoutDots(host: string): string {
  return trimEndWhere(host, (unit) => unit === ".");
}

function hostPattern(host: string): string {
  const plain = withoutDots(host.replace(/[。．｡]/g, "."));
  if (plain === "" || /\s/.test(plain)) return plain === "" ? "" : plain.toLowerCase();
  if (!/[*?]/.test(plain)) {
    const address = `http://${plain}/`;
    return URL.canParse(address) ? withoutDots(new URL(address).hostname) : plain.toLowerCase();
  }
  const labels = plain.split(".").map((label) => (/[*?]/.test(label) ? label : domainToASCII(label) || label));
  return labels.join(".").toLowerCase();
}

/** Percent signs away, as far as they mean something. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}
