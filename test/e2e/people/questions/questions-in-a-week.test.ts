import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { startSite } from "../../../support/fakes/web-site.js";
import { askedIn, type ChatWorld, resultsIn, startWorld } from "../../../support/worlds/channels/chat-world.js";
import type { RecordedRequest, ScriptedAnswer, ScriptedToolCall } from "../../../support/worlds/model-script.js";

/** What the owner says, the calls that the model makes for it, one after the other, and how often that may ask. */
type Moment = readonly [said: string, asks: number, ...calls: readonly ScriptedToolCall[]];

const call = (name: string, input: unknown): ScriptedToolCall => ({ name, input });
const own = (name: string, content: string) => call("write_file", { path: name, content });
const sh = (command: string, more: object = {}) => call("exec", { command, ...more });

/** Seven days of an owner's direct chat in which nobody else has a say. */
const quietWeek = (workspace: string): readonly Moment[] => [
  ["Note that I like tea", 0, call("memory_write", { text: "Likes tea." }), own("list.md", "- milk\n- tea\n")],
  ["What is on my list?", 0, call("read_file", { path: "list.md" }), sh("wc -l list.md")],
  ["Add bread", 0, call("edit_file", { path: "list.md", old_text: "- tea", new_text: "- tea\n- bread" })],
  ["Put the trip into the workspace", 1, own(join(workspace, "trip.md"), "Berlin")],
  ["And again", 1, own(join(workspace, "trip.md"), "Hamburg")],
  [
    "What do I know about trips?",
    0,
    call("grep", { pattern: "Ham", path: workspace }),
    call("glob", { pattern: "*.md" }),
  ],
  ["Sum up the numbers", 0, sh("seq 1 10 > n.txt; awk '{s+=$1} END {print s}' n.txt"), sh("cd /tmp; export A=1")],
  ["Work in the background", 0, sh("sleep 0.1; echo done", { background: true }), call("process", { action: "list" })],
  ["Remind me tomorrow", 0, call("cron", { action: "add", message: "tea?", at: "2040-01-01T09:00" })],
  ["Plan the garden", 0, call("plan", { action: "create", goal: "Garden", steps: ["dig", "plant"] })],
  ["/new", 0],
  ["What did I like?", 0, call("memory_search", { query: "tea" }), call("read_file", { path: "list.md" })],
  ["Run it again", 0, sh("cat list.md; ls"), call("list_dir", {})],
  ["Send me the list", 0, call("send_file", { path: "list.md" }), call("message", { text: "there it is" })],
  ["Be more formal", 1, call("write_file", { path: join(workspace, "SOUL.md"), content: "Formal." })],
  ["Make a skill of it", 1, own(join(workspace, "skills/tea/SKILL.md"), "---\nname: tea\ndescription: tea\n---\nTea.")],
  ["Tell Bob", 1, call("message", { text: "tea at five", channel: "telegram", chat: "7" })],
  ["Let somebody look at the list", 0, call("spawn", { action: "start", task: "count the lines of list.md" })],
  ["What does the readme say?", 0, call("read_file", { path: join(workspace, "README.md") })],
  ["/status", 0],
  ["Remind me of that", 0, call("cron", { action: "add", message: "that", every: "1d" })],
  ["Download the tool", 1, sh("true", { network: true })],
  ["Thanks", 0],
];

/** The same owner with pages that others wrote: what leaves the chat asks, reading on does not. */
const webWeek = (site: string, workspace: string): readonly Moment[] => [
  [`Read ${site}/a`, 0, call("web_fetch", { url: `${site}/a` })],
  ["And what it links to", 0, call("web_fetch", { url: `${site}/b?from=a` })],
  ["Keep it", 0, own("page.md", "what the page said"), sh("wc page.md")],
  ["Remember it", 1, call("memory_write", { text: "Pages are fine." })],
  ["Into the workspace", 1, own(join(workspace, "page.md"), "a page")],
  ["/new", 0],
  ["Hello again", 0, call("list_dir", {}), own("clean.md", "mine")],
];

/** Lives through the moments and gives the number of questions that each one asked; every one gets a yes. */
async function live(w: ChatWorld, moments: readonly Moment[]): Promise<readonly number[]> {
  const { api } = w.gateway.gateway;
  const counts: number[] = [];
  const asked = async () => askedIn(await w.gateway.events("telegram:1").catch(() => [])).length;
  for (const [index, [said]] of moments.entries()) {
    const before = await asked();
    const shown = w.telegram.sent.length;
    w.say(1, said.startsWith("/") ? said : `${said} #${index};`);
    const answers = () =>
      w.telegram.sent.slice(shown).some(({ text }) => said.startsWith("/") || text === `ok ${index}`);
    await until(
      `${said} is answered`,
      async () => {
        for (const { sessionKey, requestId } of api.listQuestions())
          await api.answerQuestion({ sessionKey, requestId, answer: "allow_once" }).catch(() => undefined);
        return answers();
      },
      20_000,
    );
    counts.push((await asked()) - before);
  }
  return counts;
}

function play(moments: readonly Moment[]): (request: RecordedRequest) => ScriptedAnswer {
  return (request) => {
    const index = Number(/#(\d+);/.exec(request.userText)?.[1] ?? Number.NaN);
    const [, , ...calls] = moments[index] ?? ["", 0];
    const next = calls[resultsIn(request)];
    return next === undefined ? { text: `ok ${index}` } : { toolCalls: [{ id: `call_${request.index}`, ...next }] };
  };
}

async function startOwner(config: Record<string, unknown> = {}) {
  const script: { moments: readonly Moment[] } = { moments: [] };
  const w = await startWorld((request) => play(script.moments)(request), { config });
  mkdirSync(w.gateway.workspace, { recursive: true });
  writeFileSync(join(w.gateway.workspace, "README.md"), "read me");
  return { w, script };
}

test("an owner's week without text of others asks for what is risky, and for nothing else", async () => {
  const { w, script } = await startOwner();
  await using _ = w;
  // Bob has written once, so that he can be written to.
  w.say(7, "hello");
  await w.shown("ok NaN");
  const week = quietWeek(w.gateway.workspace);
  script.moments = week;
  const counts = await live(w, week);
  assert.deepEqual(
    week.map(([said], index) => `${said}: ${counts[index]}`),
    week.map(([said, asks]) => `${said}: ${asks}`),
  );
});

test("an owner who reads the web is asked for what leaves the chat, not for reading on", async () => {
  await using site = await startSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<p>A page about tea. ${request.url === "/a" ? '<a href="/b?from=a">more</a>' : "The end."}</p>`);
  });
  const { w, script } = await startOwner({ tools: { web: { fetch: { allow: ["127.0.0.1"], mode: "http" } } } });
  await using _ = w;
  const week = webWeek(site.url, w.gateway.workspace);
  script.moments = week;
  const counts = await live(w, week);
  assert.deepEqual(
    week.map(([said], index) => `${said}: ${counts[index]}`),
    week.map(([said, asks]) => `${said}: ${asks}`),
  );
  assert.deepEqual(
    site.requests.map(({ path }) => path),
    ["/a", "/b?from=a"],
  );
});
