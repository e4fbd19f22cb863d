import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { platformOf } from "../../../src/channels/platforms.js";
import { expandTilde, findHome } from "../../../src/config/home.js";
import { loadConfig } from "../../../src/config/load.js";
import { configKeys, meaningOf } from "../../../src/config/shape.js";
import { suggest } from "../../../src/util/text/suggest.js";
import { projectFile } from "../../support/project.js";

describe("the example config", () => {
  it("holds every key of the schema and none that the schema does not know", async () => {
    const example: unknown = JSON.parse(await readFile(projectFile("config.example.json"), "utf8"));
    const matchers = configKeys().map((key) => ({ key, pattern: patternOf(key) }));
    // A further account has the keys of its platform.
    const found = leavesOf(example, "").map((path) =>
      path.replace(/^channels\.([a-z0-9-]+)/, (_, name: string) => `channels.${platformOf(name) ?? name}`),
    );
    const unknown = found.filter((path) => !matchers.some(({ pattern }) => pattern.test(path)));
    assert.deepEqual(unknown, [], "keys of the example that the schema does not know");
    const missing = matchers.filter(({ pattern }) => !found.some((path) => pattern.test(path)));
    assert.deepEqual(
      missing.map(({ key }) => key),
      [],
      "keys of the schema that the example does not show",
    );
  });

  it("loads once its variables are set, and names only what does not exist yet", async () => {
    const tokens = { TELEGRAM_BOT_TOKEN: "1:a", DISCORD_BOT_TOKEN: "d", MCP_TOKEN: "mcp" };
    const env = { OPENROUTER_API_KEY: "key-for-openrouter", ...tokens };
    const configPath = projectFile("config.example.json");
    const { problems, config } = await loadConfig({ home: "/nonexistent", configPath, env });
    assert.deepEqual(problems, []);
    assert.equal(config.providers.openrouter?.apiKey, "key-for-openrouter");
  });

  it("stays below a hundred keys, those of a channel, a provider, a server and the like aside", () => {
    const own = configKeys().filter((key) => !/^channels\.|\.\*\.|\[\]\./.test(key));
    assert.ok(own.length < 100, `${own.length} keys`);
  });

  it("says of each key in a whole sentence what it means", () => {
    const silent = configKeys().filter((key) => !/^[A-Z`].*[.`]$/.test(meaningOf(key) ?? ""));
    assert.deepEqual(silent, []);
  });

  it("is explained key by key in docs/config.md, in the words of the schema", async () => {
    const docs = await readFile(projectFile("docs/config.md"), "utf8");
    const rows = new Map(
      [...docs.matchAll(/^\| `([^`]+)` \| (.*?) \| (.*?) \|$/gm)].map(([, key, , meaning]) => [key, meaning] as const),
    );
    const wrong = configKeys().filter((key) => {
      const row = rows.get(key.replaceAll(".*", ".<name>"));
      const meaning = meaningOf(key) ?? "";
      const rest = row?.startsWith(meaning) ? row.slice(meaning.length) : undefined;
      // A page has more about it.
      return rest === undefined || !/^(?: See (?:\[[^\]]+\]\([^)]+\)(?: and )?)+\.)?$/.test(rest);
    });
    assert.deepEqual(wrong, []);
  });
});

describe("the home folder", () => {
  it("is what the environment names, else the first that exists, else ~/.maxclaw", async () => {
    const user = await mkdtemp(join(tmpdir(), "maxclaw-home-"));
    try {
      const at = (env: Record<string, string>) => findHome(env, user);
      assert.equal(at({}), join(user, ".maxclaw"));
      await mkdir(join(user, ".nanobot"));
      assert.equal(at({}), join(user, ".nanobot"));
      await mkdir(join(user, ".maxclaw"));
      assert.equal(at({}), join(user, ".maxclaw"));
      assert.equal(at({ NANOBOT_HOME: "/srv/nano" }), "/srv/nano");
      assert.equal(at({ MAXCLAW_HOME: "/srv/max", NANOBOT_HOME: "/srv/nano" }), "/srv/max");
      assert.equal(at({ MAXCLAW_HOME: "~/max" }), join(user, "max"));
      assert.equal(at({ MAXCLAW_HOME: " ", NANOBOT_HOME: "" }), join(user, ".maxclaw"));
    } finally {
      await rm(user, { recursive: true });
    }
  });

  it("is written as ~ only at the beginning of a path", () => {
    assert.equal(expandTilde("~", "/home/ada"), "/home/ada");
    assert.equal(expandTilde("~/a~b", "/home/ada"), "/home/ada/a~b");
    assert.equal(expandTilde("~bob/x", "/home/ada"), "~bob/x");
    assert.equal(expandTilde("/a/~/b", "/home/ada"), "/a/~/b");
  });
});

describe("a suggestion", () => {
  it("finds the nearest word, also over swaps, case and separators", () => {
    const known = ["apiKey", "apiBase", "maxTokens", "port"];
    assert.equal(suggest("apiKye", known), "apiKey");
    assert.equal(suggest("api_bse", known), "apiBase");
    assert.equal(suggest("MaxTokenz", known), "maxTokens");
    assert.equal(suggest("prot", known), "port");
  });

  it("is not made when nothing is near", () => {
    assert.equal(suggest("colour", ["apiKey", "port"]), undefined);
    assert.equal(suggest("", ["port"]), undefined);
    assert.equal(suggest("x", []), undefined);
  });
});

function patternOf(key: string): RegExp {
  const parts = key.split(/(\.\*|\[\])/).map((part) => {
    if (part === ".*") return String.raw`\.<[^>]*>`;
    return part === "[]" ? String.raw`\[\]` : part.replaceAll(".", String.raw`\.`);
  });
  return new RegExp(`^${parts.join("")}$`);
}

/** Paths of a JSON value in the form of `configKeys`, with each free name in angle brackets. */
function leavesOf(value: unknown, path: string): readonly string[] {
  const freeNames = ["providers", "tools.mcpServers", "prices"].includes(path);
  const lists = ["providers.<…>.models", "policy.rules", "extensions"].includes(path.replaceAll(/<[^>]*>/g, "<…>"));
  if (Array.isArray(value)) return lists ? value.flatMap((entry) => leavesOf(entry, `${path}[]`)) : [path];
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return [path];
  // Values of free shape: what is in them is not a key of ours.
  if (/\.(env|headers|budget)$|\[\]\.options$/.test(path)) return [path];
  return Object.entries(value).flatMap(([key, entry]) =>
    leavesOf(entry, path === "" ? key : `${path}.${freeNames ? `<${key}>` : key}`),
  );
}
