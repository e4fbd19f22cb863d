// An MCP server by hand, without any SDK, that can misbehave in each way that its first argument names.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [how = "good", file = ""] = process.argv.slice(2);
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** What a careless server does with what it was given to keep. */
const blurt = (): void => {
  const { API_KEY: key = "", OTHER = "" } = process.env;
  process.stderr.write(`${"x".repeat(5000)}${key}${"y".repeat(3000)}\n`);
  process.stderr.write(`Error: \u009b2J\u001b[31m log in with ${key.slice(0, 7)}`);
  process.stderr.write(`${key.slice(7)} and ${encodeURIComponent(OTHER)} failed\n${key}${"z".repeat(1990)}`);
};
if (how === "blurts") {
  blurt();
  process.exit(4);
}

const schema = {
  type: "object",
  properties: { text: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["text"],
};
const names = how === "many" ? Array.from({ length: 100 }, (_, n) => `tool_${n}_for_things`) : ["say", "slow", "die"];
const extra: string[] = [];
let lists = 0;
let calls = 0;
let poured = 0;
/** Deeper than JSON can be written, wide, twice there, and of a kind that providers refuse at the top. */
const odd = [
  { name: "deep", inputSchema: { type: "object", properties: { a: "DEEP" } } },
  { name: "wide", inputSchema: { type: "object", description: "x".repeat(70_000) } },
  ...["one", "one"].map((name) => ({ name, inputSchema: { ...schema, anyOf: [{ required: ["text"] }] } })),
];
const toolList = (): object[] =>
  [...names, ...extra].map((name) => ({
    name,
    description: how === "many" ? `Does thing ${name} with a text, as often as it is told to; one of a hundred.` : name,
    inputSchema: schema,
    annotations: { readOnlyHint: name !== "die" },
  }));

interface Call {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Record<string, unknown>;
    readonly protocolVersion?: string;
  };
}

function answer({ id, method, params = {} }: Call): void {
  if (id === undefined || how === "mute") return;
  if (method === "server/discover" && (how === "strict" || how === "shy")) {
    writeFileSync(file, "asked\n", { flag: "a" });
    if (how === "strict") process.exit(1);
    return;
  }
  if (method === "initialize") {
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: how, version: "1" },
      },
    });
  } else if (method === "tools/list") list(id);
  else if (method === "tools/call") call(id, params.name ?? "", params.arguments ?? {});
  else if (method === "ping") send({ id, result: {} });
  else send({ id, error: { code: -32601, message: "no such method" } });
}

function list(id: number): void {
  lists += 1;
  // Says that there is more, and gives the same again, as some do.
  const result = how === "odd" ? { tools: odd, nextCursor: "more" } : { tools: toolList() };
  const deep = `${'{"a":'.repeat(50_000)}{}${"}".repeat(50_000)}`;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result }).replace('"DEEP"', deep)}\n`);
}

/** What a call says without end. */
const floods: Readonly<Record<string, string>> = {
  flood: `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } })}\n`,
  "flood of answers": `${JSON.stringify({ jsonrpc: "2.0", id: 999_999, result: {} })}\n`,
  "flood of nothing": "\n",
  huge: "x".repeat(1024),
};

function call(id: number, name: string, input: Record<string, unknown>): void {
  if (name === "die") process.exit(3);
  if (name === "slow") {
    if (file !== "") writeFileSync(file, `${JSON.stringify(input)}\n`, { flag: "a" });
    return;
  }
  const { text } = input;
  const endless = floods[String(text)];
  if (endless !== undefined) {
    pour(endless.repeat(1000));
    return;
  }
  const [, code] = /^refuse (-?\d+)$/.exec(String(text)) ?? [];
  if (code !== undefined) {
    calls += 1;
    return void send({ id, error: { code: Number(code), message: `refused ${calls}` } });
  }
  if (text === "grow" || text === "storm") {
    for (let n = 0; n < (text === "grow" ? 1 : 1500); n++) send({ method: "notifications/tools/list_changed" });
    if (!extra.includes("grown")) extra.push("grown");
  }
  if (text === "false image") {
    const data = Buffer.from("<html>not found</html>").toString("base64");
    return void send({ id, result: { content: [{ type: "image", data, mimeType: "image/png" }] } });
  }
  const special: Readonly<Record<string, string>> = {
    environment: JSON.stringify(process.env),
    lists: String(lists),
    poured: `${poured} in ${performance.now()}`,
  };
  send({ id, result: { content: [{ type: "text", text: special[String(text)] ?? String(text) }] } });
}

function pour(piece: string, out: NodeJS.WriteStream = process.stdout): void {
  poured += piece.length;
  if (out.write(piece)) setImmediate(pour, piece, out);
  else out.once("drain", () => pour(piece, out));
}

if (how === "stubborn") {
  // Ignores everything short of SIGKILL, and has a child that does as well.
  process.on("SIGTERM", () => {});
  process.on("SIGHUP", () => {});
  setInterval(() => {}, 1000);
  const child = spawn("/bin/sh", ["-c", "trap '' TERM HUP INT; while :; do sleep 1; done"], { stdio: "ignore" });
  writeFileSync(file, `${process.pid} ${child.pid}\n`, { flag: "a" });
}
if (how === "tidy") {
  process.on("SIGTERM", () => {
    writeFileSync(file, "tidied up\n", { flag: "a" });
    process.exit(0);
  });
  setInterval(() => {}, 1000);
  writeFileSync(file, "begun\n", { flag: "a" });
}
if (how === "garbage") {
  process.stdout.write('Welcome to the server!\n{not json}\n[]\n{"jsonrpc":"1.0"}\n\u0000\u0001\n');
  setInterval(() => process.stdout.write("still here\n"), 20);
}
if (how === "loud") pour("the database is smoking\n".repeat(1000), process.stderr);
if (how === "dead") {
  process.stderr.write("the database is on fire\n");
  process.exit(1);
}
createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line) as Call));
