import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { PolicyRule } from "../../../src/policy/rules.js";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { articlePage, startSite } from "../../support/fakes/web-site.js";
import { callThenDone } from "../../support/worlds/channels/chat-world.js";
import { openAIConfig, startGateway, tempHome } from "../../support/worlds/gateway.js";
import { badServer } from "../../support/worlds/tools/mcp.js";

type Verdict = "runs" | "asks" | `denied by ${number}`;
type Row = readonly [tool: string, input: Readonly<Record<string, unknown>>, expected: Verdict];

const exec = (command: string, more: object = {}): Readonly<Record<string, unknown>> => ({ command, ...more });
const write = (path: string, content = "text"): Readonly<Record<string, unknown>> => ({ path, content });

/** Rules, what is called under them, and what happens to it. `SITE` is the host of a page, `MOVED` of one that moves there. */
const table: readonly { readonly rules: readonly PolicyRule[]; readonly rows: readonly Row[] }[] = [
  {
    rules: [
      { tool: "exec", verdict: "deny" },
      { tool: "exec", argument: "git *", verdict: "allow" },
      { tool: "write_file", verdict: "deny" },
      { tool: "write_file", argument: "notes/*", verdict: "allow" },
      { tool: "web_fetch", verdict: "deny" },
      { tool: "web_fetch", argument: "SITE", verdict: "allow" },
      { tool: "mcp_*", verdict: "deny" },
      { tool: "mcp_s_say", argument: '*"hello"*', verdict: "allow" },
      { tool: "send_file", verdict: "deny" },
      { tool: "send_file", argument: "shared/*", verdict: "allow" },
      { tool: "list_dir", verdict: "deny" },
      { tool: "list_dir", argument: "*/shared", verdict: "allow" },
    ],
    rows: [
      ["exec", exec("git --version"), "runs"],
      ["exec", exec("id"), "denied by 0"],
      ["exec", exec("git --version; id"), "denied by 0"],
      ["write_file", write("WORKSPACE/notes/a.md"), "runs"],
      ["write_file", write("WORKSPACE/other.md"), "denied by 2"],
      ["write_file", write("own.md"), "denied by 2"],
      ["web_fetch", { url: "http://SITE/news" }, "runs"],
      ["web_fetch", { url: "http://MOVED/news" }, "denied by 4"],
      ["mcp_s_say", { text: "hello" }, "runs"],
      ["mcp_s_say", { text: "bye" }, "denied by 6"],
      ["send_file", { path: "WORKSPACE/shared/report.txt" }, "runs"],
      ["send_file", { path: "WORKSPACE/plain.txt" }, "denied by 8"],
      ["list_dir", { path: "WORKSPACE/shared" }, "runs"],
      ["list_dir", { path: "WORKSPACE" }, "denied by 10"],
    ],
  },
  {
    rules: [
      { tool: "exec", verdict: "allow" },
      { tool: "exec", argument: "git *", verdict: "deny" },
      { tool: "write_file", verdict: "allow" },
      { tool: "write_file", argument: "notes/*", verdict: "deny" },
      { tool: "web_fetch", verdict: "allow" },
      { tool: "web_fetch", argument: "http://SITE/*", verdict: "deny" },
      { tool: "mcp_*", verdict: "allow" },
      { tool: "mcp_s_say", argument: '*"hello"*', verdict: "deny" },
      { tool: "send_file", verdict: "allow" },
      { tool: "send_file", argument: "shared/*", verdict: "deny" },
    ],
    rows: [
      ["exec", exec("git --version"), "denied by 1"],
      ["exec", exec("echo git"), "runs"],
      ["write_file", write("WORKSPACE/notes/a.md"), "denied by 3"],
      ["write_file", write("WORKSPACE/other.md"), "runs"],
      ["web_fetch", { url: "http://SITE/news" }, "denied by 5"],
      ["web_fetch", { url: "http://MOVED/plain" }, "runs"],
      ["mcp_s_say", { text: "hello" }, "denied by 7"],
      ["mcp_s_say", { text: "bye" }, "runs"],
      ["send_file", { path: "WORKSPACE/shared/report.txt" }, "denied by 9"],
      ["send_file", { path: "WORKSPACE/plain.txt" }, "runs"],
    ],
  },
  {
    // A relative path leads into the chat's own folder.
    rules: [
      { tool: "write_file", verdict: "deny" },
      { tool: "write_file", argument: "*/notes/*", verdict: "allow" },
    ],
    rows: [
      ["write_file", write("notes/a.md"), "runs"],
      ["write_file", write("notes/../own.md"), "denied by 0"],
    ],
  },
  {
    // Broad is also what has an argument that meets the input of the call.
    rules: [
      { argument: "*secret*", verdict: "deny" },
      { tool: "write_file", argument: "secret/*", verdict: "allow" },
      { tool: "exec", argument: "*git*", verdict: "deny" },
      { tool: "exec", argument: "git --version", verdict: "allow" },
      { tool: "exec", argument: '*"network":true*', verdict: "deny" },
      { tool: "exec", argument: "uname *", verdict: "allow" },
      { tool: "edit_file", verdict: "deny" },
    ],
    rows: [
      ["write_file", write("WORKSPACE/secret/a.md"), "runs"],
      ["write_file", write("WORKSPACE/plain.md", "a secret"), "denied by 0"],
      ["write_file", write("own.md"), "runs"],
      ["exec", exec("git --version"), "runs"],
      ["exec", exec("git log"), "denied by 2"],
      ["exec", exec("uname -s"), "runs"],
      ["exec", exec("id", { network: true }), "denied by 4"],
      // What is said about the input of a call is not undone by a rule for a command.
      ["exec", exec("uname -s", { network: true }), "denied by 4"],
      ["edit_file", { path: "own.md", old_text: "a", new_text: "b" }, "denied by 6"],
    ],
  },
  {
    rules: [
      { tool: "exec", verdict: "deny" },
      { tool: "exec", argument: "git *", verdict: "ask" },
      { tool: "exec", argument: "git push*", verdict: "deny" },
      { tool: "write_file", verdict: "ask" },
      { tool: "write_file", argument: "notes/*", verdict: "allow" },
      { tool: "write_file", argument: "notes/private/*", verdict: "deny" },
      { tool: "send_file", verdict: "ask" },
      { tool: "send_file", argument: "shared/*", verdict: "allow" },
      { verdict: "deny", tool: "web_*" },
    ],
    rows: [
      ["exec", exec("git --version"), "asks"],
      ["exec", exec("git push"), "denied by 2"],
      ["exec", exec("id"), "denied by 0"],
      ["write_file", write("own.md"), "asks"],
      ["write_file", write("WORKSPACE/notes/a.md"), "runs"],
      ["write_file", write("WORKSPACE/notes/private/a.md"), "denied by 5"],
      ["send_file", { path: "WORKSPACE/shared/report.txt" }, "runs"],
      ["send_file", { path: "WORKSPACE/plain.txt" }, "asks"],
      ["web_fetch", { url: "http://SITE/news" }, "denied by 8"],
    ],
  },
  // Calls that ask for nothing of their own: what a rule says about their input holds for them.
  {
    rules: [
      { tool: "process", argument: "*kill*", verdict: "deny" },
      { tool: "process", argument: '*"list"*', verdict: "ask" },
      { tool: "process", argument: "echo *", verdict: "allow" },
      { tool: "spawn", verdict: "deny" },
      { tool: "spawn", argument: '*"list"*', verdict: "allow" },
      { tool: "list_dir", verdict: "ask" },
      { tool: "list_dir", argument: "*/shared", verdict: "allow" },
    ],
    rows: [
      ["process", { action: "kill", id: "bg1" }, "denied by 0"],
      ["process", { action: "list" }, "asks"],
      ["process", { action: "read", id: "bg1" }, "runs"],
      ["spawn", { action: "start", task: "anything" }, "denied by 3"],
      ["spawn", { action: "list" }, "runs"],
      ["list_dir", { path: "WORKSPACE/shared" }, "runs"],
    ],
  },
  {
    rules: [
      { tool: "process", argument: "*kill*", verdict: "deny" },
      { tool: "process", verdict: "deny" },
      { tool: "process", argument: "echo *", verdict: "allow" },
      { tool: "spawn", verdict: "ask" },
    ],
    rows: [
      ["process", { action: "kill", id: "bg1" }, "denied by 0"],
      ["process", { action: "list" }, "runs"],
      ["spawn", { action: "start", task: "anything" }, "asks"],
    ],
  },
  {
    rules: [
      { tool: "process", argument: "*kill*", verdict: "deny" },
      { tool: "process", verdict: "allow" },
      { tool: "spawn", argument: "*secret*", verdict: "deny" },
    ],
    rows: [
      ["process", { action: "kill", id: "bg1" }, "runs"],
      ["spawn", { action: "start", task: "tell the secret" }, "denied by 2"],
    ],
  },
];

for (const [index, { rules, rows }] of table.entries())
  test(`of the rules that match the last one decides, table ${index + 1}: deny broad and allow narrow, and the other way round`, async () => {
    await using site = await startSite((_, response) => response.end(articlePage("News", "")));
    await using moved = await startSite((request, response) => {
      if (request.url !== "/news") return void response.end(articlePage("Plain", ""));
      response.writeHead(302, { location: `${site.url}/news` }).end();
    });
    const home = await tempHome();
    const workspace = join(home, "workspace");
    const named = (text: string): string =>
      text.replaceAll("SITE", site.host).replaceAll("MOVED", moved.host).replaceAll("WORKSPACE", workspace);
    const filled = <T>(value: T): T => JSON.parse(named(JSON.stringify(value))) as T;
    let call: Row = ["", {}, "runs"];
    await using model = await startFakeOpenAI({ answer: (request) => callThenDone(call[0], call[1])(request) });
    const config = openAIConfig(model.apiBase, {
      tools: {
        mcpServers: { s: badServer() },
        web: { fetch: { allow: [site.host, moved.host] } },
        browser: { enabled: false },
      },
      policy: { rules: filled(rules) },
    });
    writeFileSync(join(home, "config.json"), JSON.stringify(config));
    mkdirSync(join(workspace, "shared"), { recursive: true });
    mkdirSync(join(workspace, "notes", "private"), { recursive: true });
    mkdirSync(join(workspace, "secret"));
    for (const name of ["shared/report.txt", "plain.txt"]) writeFileSync(join(workspace, name), "a report");
    await using gateway = await startGateway({ home });
    const { api } = gateway.gateway;
    await until(
      "the server is there",
      () => api.mcp?.list().every(({ state }) => state === "connected") === true,
      20_000,
    );
    for (const row of rows) {
      call = filled(row);
      let isOver = false;
      let wasAsked = false;
      const answer = gateway.ask(`use ${row[0]}`).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await until("it is asked or over", () => isOver || api.listQuestions().length > 0, 20_000);
        for (const { sessionKey, requestId } of api.listQuestions()) {
          wasAsked = true;
          await api.answerQuestion({ sessionKey, requestId, answer: "deny" });
        }
      }
      const { response } = await answer;
      const denied = / may not .+: policy\.rules\[(\d+)\] denies it\./.exec(response)?.[1];
      const verdict = denied !== undefined ? `denied by ${denied}` : wasAsked ? "asks" : "runs";
      assert.equal(verdict, row[2], `${row[0]} ${JSON.stringify(call[1])}: ${response}`);
      if (verdict === "runs") assert.doesNotMatch(response, /may not|not sent|not allowed|Wrong input/);
    }
  });

test("a command that an allowlist or a yes lets run sees the workspace as it would without the rule", async () => {
  const home = await tempHome();
  const call = callThenDone("exec", { command: `cat ${join(home, "workspace", "plain.txt")}` });
  await using model = await startFakeOpenAI({ answer: call });
  const rules = [
    { tool: "exec", verdict: "deny" },
    { tool: "exec", argument: "cat *", verdict: "allow" },
    { tool: "exec", argument: "*/hidden.txt", verdict: "deny" },
  ];
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { policy: { rules } })));
  mkdirSync(join(home, "workspace"));
  writeFileSync(join(home, "workspace", "plain.txt"), "a report");
  writeFileSync(join(home, "workspace", "hidden.txt"), "a secret");
  await using gateway = await startGateway({ home });
  assert.match((await gateway.ask("read it")).response, /^done: a report/);
  model.setAnswer(callThenDone("exec", { command: `cat ${join(home, "workspace")}/h?dden.txt` }));
  assert.match((await gateway.ask("and this")).response, /may not .+: policy\.rules\[0\] denies it\./);
});
