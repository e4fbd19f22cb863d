import assert from "node:assert/strict";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { ToolAnswer, ToolContext, ToolQuestion } from "../../../src/tools/tool.js";
import { until } from "../../support/engine/engine-kit.js";
import { compiledFile } from "../../support/project.js";
import { type OpenedServers, openTestServers, referenceServer, settingsOf } from "../../support/worlds/tools/mcp.js";
import { createToolPlace, type ToolPlace } from "../../support/worlds/tools/tool-context.js";

let home = "";
let trace = "";
let place: ToolPlace;
before(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "maxclaw-mcp-")));
  trace = join(home, "trace");
  place = createToolPlace();
});
after(async () => {
  place[Symbol.dispose]();
  await rm(home, { recursive: true, force: true });
});

/** Answers one question after the other, and keeps what was asked. */
function person(...answers: string[]) {
  const questions: ToolQuestion[] = [];
  const ask: ToolContext["ask"] = async (question): Promise<ToolAnswer> => {
    questions.push(question);
    const text = answers.shift();
    return text === undefined ? { outcome: "nobody", text: "" } : { outcome: "answered", text };
  };
  return { questions, ask };
}

async function open(callMs = 5000): Promise<OpenedServers> {
  const command = {
    command: process.execPath,
    args: [compiledFile("test/support/fakes/mcp/mcp-new-server.js"), "stdio"],
  };
  const opened = await openTestServers([settingsOf("new", { ...command, env: { TRACE: trace }, callMs })], home);
  await opened.waitFor("new", "connected");
  return opened;
}

async function call(
  { servers }: OpenedServers,
  name: string,
  input: unknown,
  options: { readonly ask?: ToolContext["ask"]; readonly signal?: AbortSignal },
): Promise<string> {
  const tool = servers.find(`mcp_new_${name}`);
  assert.ok(tool, `${name} is offered`);
  return (await place.run(tool, input, options)).text;
}

const form = (properties: object, required: readonly string[] = Object.keys(properties)) =>
  JSON.stringify({ type: "object", properties, required });

describe("a question of a server", () => {
  it("is answered field by field, a wrong answer is asked again, and all of it is of the kinds that the schema says", async () => {
    await using opened = await open();
    const schema = form(
      {
        name: { type: "string", minLength: 2 },
        age: { type: "integer", minimum: 0, maximum: 150 },
        height: { type: "number" },
        isHungry: { type: "boolean" },
        size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "Medium"] },
        toppings: { type: "array", items: { type: "string", enum: ["ham", "cheese", "1"] }, minItems: 1, maxItems: 2 },
        note: { type: "string" },
      },
      ["name", "age", "height", "isHungry", "size", "toppings"],
    );
    const who = person("A", "Ada", "old", "-1", "36", "1.7", "Yes", "Medium", "ham, beef", "2, ham", "skip");
    const said = await call(opened, "ask", { message: "Your order?", schema }, { ask: who.ask });
    const content = { name: "Ada", age: 36, height: 1.7, isHungry: true, size: "m", toppings: ["cheese", "ham"] };
    assert.equal(said, `accept ${JSON.stringify(content)}`);
    const texts = who.questions.map(({ question }) => question);
    assert.match(texts[1] ?? "", /^That is too short: at least 2 characters\. Please try again\./);
    assert.match(texts[3] ?? "", /^That is not a number\./);
    assert.match(texts[4] ?? "", /^That is too small/);
    assert.match(texts[9] ?? "", /^Not all of that is among the choices\./);
    assert.deepEqual(
      who.questions[7]?.options.map(({ label }) => label),
      ["Small", "Medium", "Decline"],
    );
    // What is typed is read here, so that “1” is a number and no button.
    assert.deepEqual(who.questions[2]?.options, []);
  });

  it("shows its words as the server's, whatever they are", async () => {
    await using opened = await open();
    const message = "```\n**The gateway** needs your yes\u202e\n[click](https://evil.example)";
    const schema = form({ sure: { type: "boolean", title: "# May I use exec?\u200b" } });
    const who = person("Decline");
    assert.equal(await call(opened, "ask", { message, schema }, { ask: who.ask }), "decline null");
    const [{ question = "" } = {}] = who.questions;
    assert.match(question, /^The MCP server `new` asks you something while `mcp_new_ask` runs\./);
    assert.match(question, /Never write a password/);
    assert.doesNotMatch(question, /\u202e|\u200b/);
    const box = /\n````\n([\s\S]*)\n````\n/.exec(question)?.[1] ?? "";
    assert.match(box, /needs your yes\\u\{202e\}\n\[click\]/);
    assert.match(box, /# May I use exec\?\\u\{200b\} \(sure\)/);
    assert.doesNotMatch(question.replace(box, ""), /gateway|click|exec/);
  });

  it("can be sent as it is where all of it has a default", async () => {
    await using opened = await open();
    const schema = form({ city: { type: "string", default: "Zürich" }, days: { type: "integer", default: 3 } });
    const who = person("Send it");
    const said = await call(opened, "ask", { message: "Where?", schema }, { ask: who.ask });
    assert.equal(said, 'accept {"city":"Zürich","days":3}');
    const changed = person("Fill it in", "Bern", "default");
    assert.equal(
      await call(opened, "ask", { message: "Where?", schema }, { ask: changed.ask }),
      'accept {"city":"Bern","days":3}',
    );
  });

  it("never asks for a secret by form", async () => {
    await using opened = await open();
    for (const properties of [{ apiKey: { type: "string" } }, { value: { type: "string", title: "Your password" } }]) {
      const who = person("hunter2");
      const said = await call(opened, "ask", { message: "Log in", schema: form(properties) }, { ask: who.ask });
      assert.deepEqual(who.questions, []);
      assert.match(said, /That was declined: its field “(apiKey|value)” looks like a password.*\n\ndecline null$/s);
    }
  });

  it("is not asked in a form that the protocol does not know", async () => {
    await using opened = await open();
    const who = person("hunter2");
    const schema = form({ value: { type: "string", format: "password" } });
    const said = await call(opened, "ask", { message: "Log in", schema }, { ask: who.ask });
    assert.equal(
      said,
      "mcp_new_ask failed: it wanted to ask a person something in a form that the protocol does not know",
    );
    assert.deepEqual(who.questions, []);
  });

  it("is declined where nobody is there to be asked, and the model is told", async () => {
    await using opened = await open();
    const said = await call(
      opened,
      "ask",
      { message: "?", schema: form({ a: { type: "string" } }) },
      { ask: person().ask },
    );
    assert.match(said, /That was declined: there is nobody to ask in this turn\.\]\n\ndecline null$/);
  });

  it("is given up after five wrong answers", async () => {
    await using opened = await open();
    const who = person(..."abcdef");
    const said = await call(opened, "ask", { message: "?", schema: form({ n: { type: "number" } }) }, { ask: who.ask });
    assert.equal(said, "cancel null");
    assert.equal(who.questions.length, 5);
  });

  it("does not count as the call's time", async () => {
    await using opened = await open(500);
    const ask: ToolContext["ask"] = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      return { outcome: "answered", text: "late" };
    };
    const said = await call(opened, "ask", { message: "?", schema: form({ a: { type: "string" } }) }, { ask });
    assert.equal(said, 'accept {"a":"late"}');
  });

  it("is declined while another call runs on the same server", async () => {
    await rm(trace, { force: true });
    await using opened = await open();
    const other = new AbortController();
    const slow = call(opened, "slow", {}, { signal: other.signal });
    slow.catch(() => undefined);
    await until("the other one runs", async () => /slow/.test(await readFile(trace, "utf8").catch(() => "")));
    const who = person("x");
    const said = await call(opened, "ask", { message: "?", schema: form({ a: { type: "string" } }) }, { ask: who.ask });
    assert.match(said, /That was declined: other calls were running on the same server.*\n\ndecline null$/s);
    assert.deepEqual(who.questions, []);
    other.abort();
    await assert.rejects(slow);
  });

  it("is withdrawn when the call is stopped", async () => {
    await using opened = await open();
    const stop = new AbortController();
    const seen: string[] = [];
    const ask: ToolContext["ask"] = (_, signal) =>
      new Promise((_resolve, reject) => {
        seen.push("asked");
        signal?.addEventListener("abort", () => {
          seen.push("withdrawn");
          reject(new Error("withdrawn"));
        });
      });
    const schema = form({ a: { type: "string" } });
    const calling = call(opened, "ask", { message: "?", schema }, { ask, signal: stop.signal });
    calling.catch(() => undefined);
    await until("it asks", () => seen.includes("asked"));
    stop.abort();
    await assert.rejects(calling);
    await until("the question is withdrawn", () => seen.includes("withdrawn"));
  });
});

describe("a page that a server wants a person to open", () => {
  it("is shown whole, with its host, and only opened by the person", async () => {
    await using opened = await open();
    const url = "https://xn--80ak6aa92e.com/login?next=https://bank.example#x";
    const who = person("I agree");
    assert.equal(await call(opened, "send", { message: "Please log in", url }, { ask: who.ask }), "accept null");
    const [{ question = "" } = {}] = who.questions;
    assert.match(question, /The MCP server `new` asks you to open a page/);
    assert.match(question, /The page is at the host `xn--80ak6aa92e\.com`/);
    assert.ok(question.includes(`\`\`\`\n${url}\n\`\`\``), question);
    assert.equal(await call(opened, "send", { message: "?", url }, { ask: person("Decline").ask }), "decline null");
  });

  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "https://bank.example@evil.example/"])
    it(`is not shown when it is ${url}`, async () => {
      await using opened = await open();
      const who = person("I agree");
      assert.match(
        await call(opened, "send", { message: "?", url }, { ask: who.ask }),
        /That was declined: its address/,
      );
      assert.deepEqual(who.questions, []);
    });
});

it("a server of an older revision asks the same way", async () => {
  await using opened = await openTestServers([settingsOf("old", referenceServer("everything"))], home);
  await opened.waitFor("old", "connected");
  const tool = opened.servers.find("mcp_old_trigger_elicitation_request");
  assert.ok(
    tool,
    opened.servers
      .declared()
      .map(({ name }) => name)
      .join(" "),
  );
  const who = person("Ada", ...Array.from({ length: 20 }, () => "skip"));
  const { text } = await place.run(tool, {}, { ask: who.ask });
  assert.match(who.questions[0]?.question ?? "", /^The MCP server `old` asks you something/);
  assert.match(text, /"action": "accept",\s+"content": \{\s+"name": "Ada"\s+\}/);
});
