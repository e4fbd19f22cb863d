import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { again, saysOpenAI, writeFlood } from "../../support/fakes/flood.js";
import { Crowd } from "./crowd.js";
import { costOf, failIfBroken, pick, type Scenario, upTo } from "./scenario.js";

const chatty = 1;
const block = "x".repeat(64 * 1024);
const mostMegabytes = 700;
const mostMessages = 40;
const patienceMs = 20_000;

/** What a model without end says: text, thinking, one line, one event of many lines. */
const floods = [
  () => again(saysOpenAI("word ".repeat(10_000))),
  () => again(saysOpenAI(block).replace('"content"', '"reasoning_content"')),
  () => again(block, 'data: {"choices":[{"delta":{"content":"'),
  () => again(`data: ${block}\n`),
] as const;

/** One chat's model never ends its answer; nobody else notices. */
export const hugeAnswers: Scenario = {
  name: "huge answers",
  what: "answers of 100 MB in one chat (text, thinking, one line), while others talk",
  promise: `the others are answered, memory stays below ${mostMegabytes} MB, and the person is told and goes on`,
  rounds: { test: 2, sweep: 8 },
  async run({ rounds, random, nursery }) {
    await using model = await startFloodingModel(() => pick(floods, random)());
    const apiBase = (scripted: string): string => model.inFrontOf(scripted);
    await using crowd = await Crowd.open(nursery, { chats: 4, apiBase });
    await crowd.start();
    let [slowest, messages] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      const before = crowd.shownIn(chatty).length;
      const asked = model.floods();
      model.floodAt(crowd.say(chatty, "huge"));
      await crowd.until("the flood comes", () => model.floods() > asked);
      for (let texts = upTo(4, random); texts > 0; texts -= 1) slowest = Math.max(slowest, await othersGoOn(crowd));
      await crowd.quiet();
      model.floodAt(undefined);
      const shown = crowd.shownIn(chatty).slice(before);
      messages = Math.max(messages, shown.length);
      if (shown.length === 0 || shown.length > mostMessages) throw new Error(`${shown.length} messages for one answer`);
      if (!shown.some((text) => tells.test(text)))
        throw new Error(`nobody was told: ${shown.map((text) => text.slice(-200)).join(" | ")}`);
      await crowd.answered(crowd.say(chatty, "plain"));
    }
    await crowd.quiet();
    const megabytes = peakOf(crowd.child.pid);
    const evidence = await crowd.evidence();
    const broken = [...(await crowd.findBroken(chatty))];
    if (megabytes > mostMegabytes) broken.push(`${megabytes} MB of memory`);
    await crowd.stop(2000);
    failIfBroken([...broken, ...(await crowd.verify())], crowd.log());
    const note = `${megabytes} MB at most, others waited ${slowest} ms at most, ${messages} messages for one answer at most`;
    return { ...costOf(evidence, { stops: 1, note }), givenUp: 0 };
  },
};

const tells = /answer did not end|more than \d+ MB|could not read the answer|kept thinking/;

async function othersGoOn(crowd: Crowd): Promise<number> {
  const texts = crowd.chats.filter((chat) => chat !== chatty).map((chat) => crowd.say(chat, "plain"));
  const slowest = Math.max(...(await Promise.all(texts.map((text) => crowd.answered(text)))));
  if (slowest > patienceMs) throw new Error(`others waited ${slowest} ms`);
  return slowest;
}

/** The most memory that a process has had, in MB. */
function peakOf(pid: number): number {
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(found) / 1024);
}

/** Stands before the scripted model: what is asked for something huge gets a flood. */
async function startFloodingModel(next: () => Iterable<string>) {
  const state: { scripted: string; floods: number; text: string | undefined } = {
    scripted: "",
    floods: 0,
    text: undefined,
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    if (state.text !== undefined && lastUserText(body).includes(state.text)) {
      state.floods += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      return await writeFlood(response, next());
    }
    const headers = { "content-type": "application/json", authorization: request.headers.authorization ?? "" };
    const answer = await fetch(`${state.scripted}${request.url?.replace(/^\/v1/, "")}`, {
      method: "POST",
      headers,
      body,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    inFrontOf(scripted: string): string {
      state.scripted = scripted;
      return `http://127.0.0.1:${port}/v1`;
    },
    floods: () => state.floods,
    /** What has this text as its newest message is asked for something without end. */
    floodAt(text: string | undefined): void {
      state.text = text;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function lastUserText(body: string): string {
  const { messages = [] }: { readonly messages?: readonly { readonly role: string; readonly content?: unknown }[] } =
    JSON.parse(body);
  return JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "");
}
