import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { chat } from "../../src/cli/agent-chat.js";
import { createApiClient } from "../../src/cli/api-client.js";
import { frames, openFakeGateway, type Reply } from "../support/fake-gateway.js";

const ctrlC = "\u0003";
const ctrlD = "\u0004";

async function openChat(replies: readonly Reply[]) {
  const fake = await openFakeGateway(replies);
  const client = createApiClient(fake.address, undefined);
  const input = new PassThrough();
  const output = new PassThrough();
  let screen = "";
  output.on("data", (chunk: Buffer) => {
    screen += chunk.toString("utf8");
  });
  const over = chat("cli:default", { client, reconnect: async () => client }, { input, output });
  return {
    fake,
    input,
    over,
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
});
