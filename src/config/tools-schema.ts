import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { z } from "zod";
import { expandTilde } from "./home.js";
import { flag, number, optionalAddress, optionalText, whole } from "./values.js";

/** Other programs spell it in many ways. */
function toTransport(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const name = value.trim().toLowerCase();
  if (name === "") return undefined;
  return /^(streamable)?[-_]?http$/.test(name) ? "http" : name;
}

/** A server that offers tools: `command` starts it here, `url` reaches it elsewhere. */
export const mcpServer = z.strictObject({
  command: optionalText,
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  /** Where it begins. Default: an empty folder of its own. */
  cwd: optionalText
    .transform((folder) => (folder === undefined ? undefined : expandTilde(folder, homedir())))
    .refine((folder) => folder === undefined || isAbsolute(folder), "a whole path, such as /srv/notes"),
  url: optionalAddress,
  headers: z.record(z.string(), z.string()).default({}),
  /** How `url` is spoken to. Default: streamable HTTP, and SSE where the server does not know that. */
  type: z.preprocess(toTransport, z.enum(["stdio", "http", "sse"]).optional()),
  enabled: flag(true),
  /** What the server says about its own tools, e.g. that one only reads, is believed. */
  trusted: flag(false),
  /** Of its tools, by the names that it gives them: those that the assistant does not get. */
  disabledTools: z.array(z.string()).default([]),
  /** Seconds that one call may take. */
  timeout: number(z.number().min(1).max(3600)).default(60),
  /** A client that was registered at the server's login by hand; without one it registers itself. */
  oauth: z.strictObject({ clientId: optionalText, clientSecret: optionalText, scope: optionalText }).prefault({}),
});

export const tools = z.strictObject({
  web: z
    .strictObject({
      search: z
        .strictObject({
          /** Default: brave with a key, searxng with an address, else duckduckgo, which needs neither. */
          provider: z.enum(["brave", "searxng", "duckduckgo", "off"]).optional(),
          apiKey: optionalText,
          /** Address of the service, if it is not the provider's own. */
          apiBase: optionalAddress,
          maxResults: whole(1, 20, 5),
        })
        .prefault({}),
      fetch: z
        .strictObject({
          /** `auto`: with a browser where there is nothing to read without one. */
          mode: z.enum(["auto", "http", "chrome", "off"]).default("auto"),
          /** In seconds. */
          timeout: whole(1, 300, 30),
          userAgent: optionalText,
          /** Addresses of this machine and of private networks that web_fetch and browser may reach all the same. */
          allow: z.array(z.string().trim().min(1, "a host, an address or a network")).default([]),
        })
        .prefault({}),
    })
    .prefault({}),
  browser: z
    .strictObject({
      enabled: flag(true),
      /** Default: the system's Chromium or Chrome. */
      executablePath: optionalText,
      /** More arguments for it, e.g. `--no-sandbox` in a container that has no sandbox to give. */
      args: z.array(z.string()).default([]),
      /** After so many seconds without use it is closed. */
      idleSeconds: whole(1, 86_400, 300),
    })
    .prefault({}),
  /** `timeout` in seconds. */
  exec: z
    .strictObject({
      timeout: whole(1, 300, 60),
      /** `auto`: commands run in a sandbox where this system has one, else each of them asks. `required`: there or not at all. */
      sandbox: z.enum(["auto", "off", "required"]).default("auto"),
      /** Whether a command can have the network in the sandbox: after a yes (`ask`), or never (`off`). */
      network: z.enum(["ask", "off"]).default("ask"),
      /** What a chat's folder and its temporary files may hold together. */
      maxFolderMegabytes: whole(1, 1_000_000, 1024),
      maxFolderFiles: whole(100, 10_000_000, 50_000),
    })
    .prefault({}),
  /** Tools may not touch anything outside of the workspace. */
  restrictToWorkspace: flag(true),
  mcpServers: z.record(z.string(), mcpServer).default({}),
  mcp: z
    .strictObject({
      /** The tools of all servers are in each request while they take at most so many bytes; else they are searched. */
      declareBytes: whole(0, 1_000_000, 4000),
      /** A server that was not used for so long is stopped until it is needed; 0: never. */
      idleMinutes: number(z.number().min(0).max(100_000)).default(30),
    })
    .prefault({}),
});
