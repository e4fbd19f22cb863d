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
  command: optionalText.describe(
    "The program that is started here as a tool server. Without `args` it is split at blanks.",
  ),
  args: z.array(z.string()).default([]).describe("Its arguments."),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe("Variables that only it sees. The values count as secrets."),
  cwd: optionalText
    .transform((folder) => (folder === undefined ? undefined : expandTilde(folder, homedir())))
    .refine((folder) => folder === undefined || isAbsolute(folder), "a whole path, such as /srv/notes")
    .describe("The folder where the server begins. Without one: an empty folder of its own."),
  url: optionalAddress.describe("The address of a tool server elsewhere. Either this or `command`."),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .describe("Sent with each request. The values count as secrets."),
  type: z
    .preprocess(toTransport, z.enum(["stdio", "http", "sse"]).optional())
    .describe(
      "How the address is spoken to: `http` (streamable) or `sse`; `stdio` goes with `command`. Without it, both are tried.",
    ),
  enabled: flag(true).describe("Off: the server is not used."),
  disabledTools: z
    .array(z.string())
    .default([])
    .describe("Tools that the assistant does not get, by the names that the server gives them."),
  trusted: flag(false).describe("Believe what the server says about its own tools, for example that one only reads."),
  timeout: number(z.number().min(1).max(3600))
    .default(60)
    .meta({ description: "How long one call may take.", unit: "seconds" }),
  /** A client that was registered at the server's login by hand; without one it registers itself. */
  oauth: z
    .strictObject({
      clientId: optionalText.describe(
        "A client that was registered at the server's login by hand. Without one it registers itself.",
      ),
      clientSecret: optionalText.describe("The secret of that client."),
      scope: optionalText.describe("What the login is for. Without it, the server decides."),
    })
    .prefault({}),
});

export const tools = z.strictObject({
  web: z
    .strictObject({
      search: z
        .strictObject({
          provider: z
            .enum(["brave", "searxng", "duckduckgo", "off"])
            .optional()
            .describe(
              "Who searches the web: `brave`, `searxng`, `duckduckgo`, or `off`. Without it: Brave with a key, SearXNG with an address, else DuckDuckGo, which needs neither.",
            ),
          apiKey: optionalText.describe("Your key of Brave."),
          apiBase: optionalAddress.describe(
            "Address of the search service, if it is not the provider's own. SearXNG needs one.",
          ),
          maxResults: whole(1, 20, 5).describe("How many results a search gives."),
        })
        .prefault({}),
      fetch: z
        .strictObject({
          mode: z
            .enum(["auto", "http", "chrome", "off"])
            .default("auto")
            .describe(
              "How web pages are read. `http`: simply. `chrome`: with a browser. `auto`: with a browser where there is nothing to read without one. `off`: not at all.",
            ),
          timeout: whole(1, 300, 30).meta({ description: "How long reading a page may take.", unit: "seconds" }),
          userAgent: optionalText.describe("The name with which it asks web servers. Without it: maxclaw's."),
          allow: z
            .array(z.string().trim().min(1, "a host, an address or a network"))
            .default([])
            .describe(
              "Addresses of this machine and of your network that the assistant may open all the same: `nas.local`, `192.168.1.5:8080`, `10.0.0.0/24`.",
            ),
        })
        .prefault({}),
    })
    .prefault({}),
  browser: z
    .strictObject({
      enabled: flag(true).describe("Offer a browser to the assistant, where Chromium is installed."),
      executablePath: optionalText.describe("The browser's program. Without it: the system's Chromium or Chrome."),
      args: z
        .array(z.string())
        .default([])
        .describe("More arguments for it, for example `--no-sandbox` in a container that has no sandbox to give."),
      idleSeconds: whole(1, 86_400, 300).meta({
        description: "After so long without use it is closed.",
        unit: "seconds",
      }),
    })
    .prefault({}),
  exec: z
    .strictObject({
      timeout: whole(1, 300, 60).meta({ description: "How long a command may run.", unit: "seconds" }),
      sandbox: z
        .enum(["auto", "off", "required"])
        .default("auto")
        .describe(
          "Commands run in a sandbox, where they reach only the workspace. `auto`: if this system has one, else each command asks. `required`: no command runs without it. `off`: none.",
        ),
      network: z
        .enum(["ask", "off"])
        .default("ask")
        .describe("Whether a command can get the network in the sandbox: after a yes (`ask`), or never (`off`)."),
      maxFolderMegabytes: whole(1, 1_000_000, 1024).meta({
        description: "What a chat's folder and its temporary files may hold together.",
        unit: "MB",
      }),
      maxFolderFiles: whole(100, 10_000_000, 50_000).meta({
        description: "How many files and folders may be in them.",
        unit: "files",
      }),
    })
    .prefault({}),
  restrictToWorkspace: flag(true).describe("Tools touch nothing outside of the workspace."),
  mcpServers: z.record(z.string(), mcpServer).default({}).describe("Servers that offer more tools (MCP)."),
  mcp: z
    .strictObject({
      declareBytes: whole(0, 1_000_000, 4000).meta({
        description:
          "If the descriptions of all these tools are larger than this, the model searches them instead of getting all of them.",
        unit: "bytes",
      }),
      idleMinutes: number(z.number().min(0).max(100_000)).default(30).meta({
        description: "A server that is not used for so long is stopped until it is needed. 0: never.",
        unit: "minutes",
      }),
    })
    .prefault({}),
});
