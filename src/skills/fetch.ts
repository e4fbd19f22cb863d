import { execFile } from "node:child_process";
import { copyFile, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { messageOf, RequestError } from "../errors.js";
import { linked } from "../util/async/linked.js";
import { within } from "../util/async/within.js";
import { isMissing } from "../util/error-code.js";
import { makeFolder } from "../util/files/make-folder.js";
import { programEnvironment } from "../util/program-environment.js";
import { type TakeLimits, unzip } from "./unzip.js";

const limits: TakeLimits = { files: 1000, bytes: 20 * 1_048_576 };
const cloneMs = 120_000;
const run = promisify(execFile);

/** Nothing of a repository, and no other program than git's own, has a part in a clone. */
const settings: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.symlinks=false",
  "core.fsmonitor=false",
  "submodule.recurse=false",
  // What it leads to was not judged.
  "http.followRedirects=false",
  "filter.lfs.smudge=",
  "filter.lfs.process=",
  "filter.lfs.required=false",
  "protocol.allow=never",
  ...["https", "http", "ssh", "git", "file"].map((name) => `protocol.${name}.allow=always`),
];
/** Without a terminal git cannot ask for a password there, and fails instead. */
const alone = { detached: true };

/** The addresses of a host that may be reached. @throws with a sentence for the person who named the place */
export type Resolve = (host: string, port: number) => Promise<readonly { readonly address: string }[]>;

/** What takes part in a fetch from elsewhere. */
export interface FetchOptions {
  readonly resolve: Resolve;
  /** The name of a single file. */
  readonly called?: string | undefined;
}

/** Where skills come from, as somebody writes it. */
export type SkillOrigin =
  | { readonly kind: "folder" | "file" | "zip"; readonly path: string }
  | { readonly kind: "git"; readonly url: string; readonly ref?: string; readonly below?: string };

/**
 * Understands a path, an address that git knows, `owner/repo` of GitHub, and the address of a folder there as a browser shows it.
 *
 * @throws {RequestError} 400 when it is nothing of that
 */
export async function parseOrigin(text: string): Promise<SkillOrigin> {
  const source = text.trim();
  const page = /^https:\/\/github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/tree\/([^/\s]+)(?:\/(\S+?))?\/?$/.exec(source);
  if (page !== null) {
    const [, repository, ref = "", below] = page;
    return { kind: "git", url: `https://github.com/${repository}`, ref, ...(below === undefined ? {} : { below }) };
  }
  if (/^(?:https?|ssh|git|file):\/\/\S+$/.test(source) || /^[\w.-]+@[\w.-]+:\S+$/.test(source)) {
    const [url = "", ref] = source.split("#");
    return { kind: "git", url, ...(ref === undefined || ref === "" ? {} : { ref }) };
  }
  const found = await stat(source).catch(() => undefined);
  if (found?.isDirectory()) return { kind: "folder", path: path.resolve(source) };
  if (found?.isFile() && /\.md$/i.test(source)) return { kind: "file", path: path.resolve(source) };
  if (found?.isFile()) return { kind: "zip", path: path.resolve(source) };
  if (/^[\w-][\w.-]*\/[\w.-]+$/.test(source)) return { kind: "git", url: `https://github.com/${source}` };
  throw badRequest(`"${source.slice(0, 200)}" is not a folder, a zip, a .md file or a git address.`);
}

/**
 * Brings what is there into an empty folder of ours, plain files only.
 *
 * @throws {RequestError} 400 with a sentence for the person who named the place
 */
export async function fetchOrigin(
  origin: SkillOrigin,
  into: string,
  { resolve, called }: FetchOptions,
  signal: AbortSignal,
): Promise<void> {
  await makeFolder(into, 0o777);
  switch (origin.kind) {
    case "folder":
      return await copyTree(origin.path, into);
    case "file":
      return await copyFile(origin.path, path.join(into, path.basename(called ?? origin.path)));
    case "zip":
      return await unzip(origin.path, into, limits);
    case "git": {
      const clone = `${into}.git`;
      await cloneOnce(origin, clone, resolve, signal);
      const from = path.resolve(clone, origin.below ?? ".");
      const isInside = `${from}${path.sep}`.startsWith(`${clone}${path.sep}`);
      const isThere = isInside && (await stat(from).catch(() => undefined))?.isDirectory() === true;
      if (!isThere) throw badRequest(`${origin.url} has no folder ${origin.below ?? ""}.`);
      return await copyTree(from, into);
    }
    default:
      return origin satisfies never;
  }
}

/** The newest state only. Nothing of the repository runs: no hooks, no submodules, no links, no other ways to fetch. */
async function cloneOnce(
  { url, ref }: Extract<SkillOrigin, { readonly kind: "git" }>,
  into: string,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<void> {
  if (ref?.startsWith("-")) throw badRequest(`"${ref}" is not a branch.`);
  const { href, pinned } = await within(reachable(url, resolve), { signal });
  const args = [
    ...[...settings, ...pinned].flatMap((setting) => ["-c", setting]),
    ...["clone", "--quiet", "--depth", "1", "--no-tags", "--single-branch", "--template="],
    ...(ref === undefined ? [] : ["--branch", ref]),
    ...["--", href, into],
  ];
  using limit = linked(signal, cloneMs);
  try {
    const env = programEnvironment();
    await run("git", args, { ...alone, cwd: "/", env, signal: limit.signal, maxBuffer: 1_048_576 });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isMissing(error))
      throw badRequest("git is not installed on this machine. Download the skill as a zip instead.");
    const why = limit.signal.aborted ? `no end after ${cloneMs / 1000} s` : whyOf(lastLine(error));
    throw badRequest(withoutPassword(`${url} cannot be cloned: ${why}`));
  }
}

const ports: Readonly<Record<string, number>> = { "https:": 443, "http:": 80, "ssh:": 22, "git:": 9418 };

/**
 * The address as git is to have it, and what binds git to the place that was judged: over HTTP it connects to just the addresses that were looked
 * up, whatever a second look-up gives. A folder of this machine is not an address, and may always be read.
 *
 * @throws {RequestError} 400 where it may not be reached
 */
async function reachable(
  url: string,
  resolve: Resolve,
): Promise<{ readonly href: string; readonly pinned: readonly string[] }> {
  const short = /^[\w.-]+@([\w.-]+):/.exec(url)?.[1];
  if (short !== undefined) {
    await judged(resolve, short, 22);
    return { href: url, pinned: [] };
  }
  if (!URL.canParse(url)) throw badRequest(`${withoutPassword(url).slice(0, 200)} is not an address.`);
  const { protocol, hostname, port, href } = new URL(url);
  if (protocol === "file:") return { href: url, pinned: [] };
  const number = port === "" ? (ports[protocol] ?? 0) : Number(port);
  const found = await judged(resolve, hostname, number);
  if (protocol !== "https:" && protocol !== "http:") return { href: url, pinned: [] };
  const addresses = found.map(({ address }) => (address.includes(":") ? `[${address}]` : address)).join(",");
  const isName = !hostname.startsWith("[") && !/^[\d.]+$/.test(hostname);
  // As it was judged: the parsers of others read some forms in another way.
  return { href, pinned: isName ? [`http.curloptResolve=${hostname}:${number}:${addresses}`] : [] };
}

async function judged(resolve: Resolve, host: string, port: number): ReturnType<Resolve> {
  try {
    return await resolve(host, port);
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

function whyOf(said: string): string {
  return /returned error: 30\d/.test(said) ? `${said}. It leads to another address: give that one` : said;
}

function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//");
}

function lastLine(error: unknown): string {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : messageOf(error);
  return stderr.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}

/** @throws {RequestError} 400 for links, for what is not a file, and beyond the limits */
async function copyTree(from: string, into: string): Promise<void> {
  let files = 0;
  let bytes = 0;
  const visit = async (folder: string, target: string, depth: number): Promise<void> => {
    if (depth > 10) throw badRequest(`${folder} is more than 10 folders deep.`);
    await makeFolder(target, 0o777);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const full = path.join(folder, entry.name);
      if (entry.name === ".git" || entry.name === "node_modules") continue;
      if (entry.isDirectory()) {
        await visit(full, path.join(target, entry.name), depth + 1);
        continue;
      }
      if (!entry.isFile()) throw badRequest(`${full} is a link or no file: only plain files are taken.`);
      files += 1;
      bytes += (await stat(full)).size;
      if (files > limits.files) throw badRequest(`${from} holds more than ${limits.files} files.`);
      if (bytes > limits.bytes) throw badRequest(`${from} holds more than ${limits.bytes / 1_048_576} MB.`);
      await copyFile(full, path.join(target, entry.name));
    }
  };
  await visit(from, into, 0);
}

function badRequest(sentence: string): RequestError {
  return new RequestError(sentence, { status: 400, code: "bad_request" });
}
