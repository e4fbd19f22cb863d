import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { chat } from "../../../src/cli/chat/agent-chat.js";
import { createApiClient } from "../../../src/cli/gateway/api-client.js";
import { frames, openFakeGateway, type Reply } from "../../support/fakes/fake-gateway.js";

const ctrlC = "\u0003";
const ctrlD = "\u0004";

async function openChat(replies: readonly Reply[]) {
  const fake = await openFakeGateway(replies);
  const client = createApiClient(fake.address, undefined);
  const input = new PassThrough();
  const output = new PassThrough();
  let screen = "";
  let all = "";
  output.on("data", (chunk: Buffer) => {
    screen += chunk.toString("utf8");
    all += chunk.toString("utf8");
  });
  const over = chat("cli:default", { client, reconnect: async () => client }, { input, output });
  return {
    fake,
    input,
    over,
    /** Everything that was ever shown. */
    screen: () => all,
    /** Resolves once the pattern is on the screen behind what was seen before. */
    async see(pattern: RegExp): Promise<void> {
      for (const end = Date.now() + 5000; !pattern.test(screen); await new Promise((resolve) => setTimeout(resolve, 5)))
        if (Date.now() > end) assert.fail(`No ${pattern} in ${JSON.stringify(screen)}`);
      screen = screen.replace(pattern, "");
    },
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
}

describe("a conversation in the terminal", () => {
  it("streams each answer, shows what tools did, and lets nothing steer the terminal", async () => {
    await using talk = await openChat([
      (_body, response) => {
        response.write(
          frames(
            { type: "content_delta", delta: "Let me \u001b[31mlook. " },
            { type: "tool_result", toolId: "1", summary: "read a.txt" },
          ),
        );
        response.end(frames({ type: "content_delta", delta: "It is " }, { type: "final", response: "It is seven." }));
      },
      (_body, response) => void response.end(frames({ type: "error", error: "The model is away.", done: true })),
      (_body, response) => void response.end(frames({ type: "final", response: "/help – all there is" })),
    ]);
    await talk.see(/> /);
    talk.input.write("how many?\r");
    await talk.see(/Let me \[31mlook\. \n· read a\.txt\nIt is \nIt is seven\.\n/);
    await talk.see(/> /);
    talk.input.write("and now?\r\r");
    await talk.see(/The model is away\.\n/);
    talk.input.write("/help\r");
    await talk.see(/\/help – all there is\n/);
    talk.input.write("/exit\r");
    await talk.over;
    assert.deepEqual(
      talk.fake.bodies.map(({ content }) => content),
      ["how many?", "and now?", "/help"],
    );
  });

  it("stops the answer on Ctrl+C and goes on", async () => {
    let end = (): void => {};
    await using talk = await openChat([
      (_body, response) => {
        response.write(frames({ type: "content_delta", delta: "a long story" }));
        end = () => void response.end(frames({ type: "final", response: "a long story" }));
      },
      (_body, response) => {
        response.end('{"stopped":true}');
        end();
      },
      (_body, response) => void response.end(frames({ type: "final", response: "still here" })),
    ]);
    await talk.see(/> /);
    talk.input.write("tell\r");
    await talk.see(/a long story/);
    talk.input.write(ctrlC);
    await talk.see(/\n.*> /s);
    assert.equal(talk.fake.requests[1]?.url, "/api/sessions/cli%3Adefault/stop");
    talk.input.write("hello?\r");
    await talk.see(/still here/);
    talk.input.write(ctrlD);
    await talk.over;
  });

  it("is left by Ctrl+C twice, at the prompt and during an answer", async () => {
    await using idle = await openChat([]);
    await idle.see(/> /);
    idle.input.write(ctrlC);
    await idle.see(/> /);
    idle.input.write(ctrlC);
    await idle.over;

    await using busy = await openChat([
      (_body, response) => void response.write(frames({ type: "content_delta", delta: "endless" })),
      (_body, response) => void response.end('{"stopped":true}'),
    ]);
    await busy.see(/> /);
    busy.input.write("go\r");
    await busy.see(/endless/);
    busy.input.write(ctrlC + ctrlC);
    await busy.over;
  });

  const asking = { type: "status", message: "Which tea?" };
  const humanInput = {
    requestId: "ask_1",
    kind: "decision",
    options: [
      { id: "1", label: "Green", description: "fresh" },
      { id: "2", label: "Black" },
    ],
    fields: [],
    allowCustom: true,
  };

  it("asks what the assistant asks, takes no line that was typed before, and asks again when the answer is none", async () => {
    let end = (): void => {};
    await using talk = await openChat([
      (_body, response) => {
        response.write(frames({ type: "status", message: "Working" }));
        end = () => {
          response.write(frames({ type: "status", humanInputClosed: "ask_1" }));
          response.end(frames({ type: "final", response: "Here it is." }));
        };
        // The line that was typed ahead has come with the one that is answered here.
        response.write(frames({ ...asking, humanInput }));
      },
      (_body, response) => void response.writeHead(400).end(JSON.stringify({ error: "Please answer with 1 or 2." })),
      (_body, response) => {
        response.end(JSON.stringify({ answer: "Green" }));
        end();
      },
      (_body, response) => void response.end(frames({ type: "final", response: "typed ahead" })),
    ]);
    await talk.see(/> /);
    talk.input.write("tea please\rahead\r");
    await talk.see(/\? Which tea\?\n {2}1\. Green – fresh\n {2}2\. Black\nOr write your own answer\.\n/);
    await talk.see(/answer> /);
    talk.input.write("7\r");
    await talk.see(/Please answer with 1 or 2\./);
    await talk.see(/answer> /);
    talk.input.write("1\r");
    await talk.see(/Here it is\./);
    await talk.see(/typed ahead/);
    talk.input.write("/exit\r");
    await talk.over;
    assert.equal(talk.fake.requests[1]?.url, "/api/sessions/cli%3Adefault/answer");
    assert.deepEqual(
      talk.fake.bodies.map(({ content, answer, requestId }) => content ?? [requestId, answer]),
      ["tea please", ["ask_1", "7"], ["ask_1", "1"], "ahead"],
    );
  });

  it("shows nothing of a secret that is typed, and an empty line goes on without it", async () => {
    const secret = {
      requestId: "ask_2",
      kind: "env_var",
      options: [{ id: "skip", label: "Go on without" }],
      fields: ["A_KEY"],
      allowCustom: false,
    };
    const ends: (() => void)[] = [];
    const ask: Reply = (_body, response) => {
      response.write(frames({ type: "status", message: "The key?", humanInput: secret }));
      ends.push(() => void response.end(frames({ type: "final", response: "thanks" })));
    };
    const taken: Reply = (_body, response) => {
      response.end('{"answer":"saved"}');
      ends.at(-1)?.();
    };
    await using talk = await openChat([ask, taken, ask, taken]);
    await talk.see(/> /);
    talk.input.write("go\r");
    await talk.see(/A_KEY: /);
    talk.input.write("hush-hush-123\r");
    await talk.see(/thanks/);
    await talk.see(/> /);
    assert.ok(!talk.screen().includes("hush"), talk.screen());
    talk.input.write("again\r");
    await talk.see(/A_KEY: /);
    talk.input.write("\r");
    await talk.see(/thanks/);
    talk.input.write("/exit\r");
    await talk.over;
    assert.deepEqual(talk.fake.bodies[1], { requestId: "ask_2", values: { A_KEY: "hush-hush-123" } });
    assert.deepEqual(talk.fake.bodies[3], { requestId: "ask_2", answer: "skip" });
  });

  it("stops asking when the question is answered elsewhere", async () => {
    let answerElsewhere = (): void => {};
    await using talk = await openChat([
      (_body, response) => {
        response.write(frames({ ...asking, humanInput }));
        answerElsewhere = () => {
          response.write(frames({ type: "status", message: "Answered: Black", humanInputClosed: "ask_1" }));
          response.end(frames({ type: "final", response: "Black tea." }));
        };
      },
      (_body, response) => void response.end(frames({ type: "final", response: "next" })),
    ]);
    await talk.see(/> /);
    talk.input.write("tea\r");
    await talk.see(/answer> /);
    answerElsewhere();
    await talk.see(/Black tea\./);
    await talk.see(/> /);
    talk.input.write("1\r");
    await talk.see(/next/);
    talk.input.write("/exit\r");
    await talk.over;
    assert.deepEqual(
      talk.fake.bodies.map(({ content }) => content),
      ["tea", "1"],
    );
  });
});
