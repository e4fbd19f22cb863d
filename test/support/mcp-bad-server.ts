// An MCP server by hand, without any SDK, that can misbehave in each way that its first argument names.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [how = "good", file = ""] = process.argv.slice(2);
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const schema = {
  type: "object",
  properties: { text: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["text"],
};
const names = how === "many" ? Array.from({ length: 100 }, (_, n) => `tool_${n}_for_things`) : ["say", "slow", "die"];
const extra: string[] = [];
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
  if (method === "initialize") {
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: how, version: "1" },
      },
    });
  } else if (method === "tools/list") send({ id, result: { tools: toolList() } });
  else if (method === "tools/call") call(id, params.name ?? "", params.arguments ?? {});
  else if (method === "ping") send({ id, result: {} });
  else send({ id, error: { code: -32601, message: "no such method" } });
}

function call(id: number, name: string, input: Record<string, unknown>): void {
  if (name === "die") process.exit(3);
  if (name === "slow") {
    if (file !== "") writeFileSync(file, `${JSON.stringify(input)}\n`, { flag: "a" });
    return;
  }
  if (input.text === "grow" && !extra.includes("grown")) {
    extra.push("grown");
    send({ method: "notifications/tools/list_changed" });
  }
  if (input.text === "flood") {
    const flood = (): void => {
      for (let n = 0; n < 1000; n++) send({ method: "notifications/message", params: { level: "info", data: "x" } });
      setImmediate(flood);
    };
    flood();
    return;
  }
  if (input.text === "huge") {
    const piece = "x".repeat(1024 * 1024);
    const pour = (): void => {
      if (process.stdout.write(piece)) setImmediate(pour);
      else process.stdout.once("drain", pour);
    };
    pour();
    return;
  }
  send({
    id,
    result: {
      content: [
        { type: "text", text: input.text === "environment" ? JSON.stringify(process.env) : String(input.text) },
      ],
    },
  });
}

if (how === "stubborn") {
  // Ignores everything short of SIGKILL, and has a child that does as well.
  process.on("SIGTERM", () => {});
  process.on("SIGHUP", () => {});
  setInterval(() => {}, 1000);
  const child = spawn("/bin/sh", ["-c", "trap '' TERM HUP INT; while :; do sleep 1; done"], { stdio: "ignore" });
  writeFileSync(file, `${process.pid} ${child.pid}\n`, { flag: "a" });
}
if (how === "garbage") {
  process.stdout.write('Welcome to the server!\n{not json}\n[]\n{"jsonrpc":"1.0"}\n\u0000\u0001\n');
  setInterval(() => process.stdout.write("still here\n"), 20);
}
if (how === "dead") {
  process.stderr.write("the database is on fire\n");
  process.exit(1);
}
createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line) as Call));
