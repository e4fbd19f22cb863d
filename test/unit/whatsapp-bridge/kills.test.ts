import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createWhatsAppChannel } from "../../../src/channels/whatsapp/whatsapp.js";
import { silentLog } from "../../../src/log.js";
import { tempFolder, until } from "../../support/engine/engine-kit.js";
import { childFile } from "../../support/project.js";
import { FarWhatsApp } from "../../support/whatsapp-bridge/far-whatsapp.js";
import { openBridge } from "../../support/whatsapp-bridge/open-bridge.js";
import { never, recordPublish, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

const ann = "15551230001";
const limitMs = 60_000;

/** A process that kills itself at its n-th step, and then one that does it one step later, up to the last place. */
class Dying {
  readonly #start: (place: number) => ChildProcess;
  readonly #lastPlace: number;
  #child: ChildProcess | undefined;
  kills = 0;

  constructor(t: TestContext, lastPlace: number, start: (place: number) => ChildProcess) {
    this.#start = start;
    this.#lastPlace = lastPlace;
    t.after(() => this.#child?.removeAllListeners("exit").kill("SIGKILL"));
    this.#next(1);
  }

  get isDone(): boolean {
    return this.kills >= this.#lastPlace;
  }

  #next(place: number): void {
    this.#child = this.#start(place > this.#lastPlace ? 0 : place);
    this.#child.once("exit", (_code, signal) => {
      if (signal !== "SIGKILL") throw new Error("It ended by itself");
      this.kills += 1;
      this.#next(place + 1);
    });
  }
}

function startChild(name: string, args: readonly (string | number)[]): ChildProcess {
  const file = childFile(`support/whatsapp-bridge/${name}.js`);
  return spawn(process.execPath, [file, ...args.map(String)], { stdio: "inherit" });
}

test("the bridge is killed at each of its steps: nothing is lost, and nothing is shown twice", async (t) => {
  const home = tempFolder(t);
  await using far = await FarWhatsApp.start();
  const port = await freePort(t, far);
  const dying = new Dying(t, 20, (place) => startChild("bridge-child", [home, far.url, port, place]));
  const seen = new Set<string>();
  const gateway = recordPublish(({ content }) => {
    const isKnown = seen.has(content);
    seen.add(content);
    return { status: isKnown ? "duplicate" : "accepted" };
  });
  const options = { bridgeUrl: `ws://127.0.0.1:${port}`, ownChats: new Set<string>(), log: silentLog };
  const channel = createWhatsAppChannel({ ...options, reconnectMs: limitMs, lostMs: limitMs }, testContext());
  await using _running = startChannel(channel, gateway.publish);
  let written = 0;
  while (!dying.isDone) {
    written += 1;
    const answer = reply(ann, `answer ${written}`, { id: `out_${written}#1` });
    far.write(ann, `message ${written}`);
    // As the gateway's outbound queue does: until it is known to be there.
    const isSent = async () =>
      (await channel.find?.(answer, 0, never).catch(() => undefined)) !== undefined ||
      (await channel.send(answer, never).catch(() => undefined)) !== undefined;
    await until(`answer ${written} is sent`, isSent, limitMs);
    await until(`message ${written} has come`, () => seen.size === written, limitMs);
  }
  const shown = far.chats.showings(ann);
  const again = far.relays.length - new Set(far.relays).size;
  t.diagnostic(
    `${dying.kills} kills, ${written} messages and answers: 0 lost, 0 shown twice; ${gateway.messages.length - seen.size} messages came again and were recognised, ${again} answers left again under their id`,
  );
  assert.equal(new Set(shown).size, written, "no answer is lost");
  assert.equal(shown.length, written, "no answer is shown twice");
  assert.ok(again > 0, "at least one had left before its kill");
});

test("the gateway is killed at each step of taking a message: each is taken, and once", async (t) => {
  const home = tempFolder(t);
  const file = join(tempFolder(t), "taken");
  writeFileSync(file, "");
  await using far = await FarWhatsApp.start();
  await using bridge = await openBridge({ home, farUrl: far.url });
  const dying = new Dying(t, 8, (place) => startChild("channel-child", [bridge.url, file, place]));
  const lines = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
  const firstTimes = () => lines().flatMap((line) => (line.startsWith("again\t") ? [] : [line.split("\t")[1]]));
  const words: string[] = [];
  while (!dying.isDone) {
    words.push(`word ${words.length + 1}`);
    far.write(ann, `word ${words.length}`);
    await until(`${words.at(-1)} is taken`, () => firstTimes().length === words.length, limitMs);
  }
  assert.deepEqual(firstTimes(), words);
  const again = lines().length - words.length;
  t.diagnostic(`${dying.kills} kills, ${words.length} messages: ${again} came again and were recognised`);
  assert.ok(again > 0, "a kill before the confirmation brings the message again");
});

/** A port that was free a moment ago. */
async function freePort(t: TestContext, far: FarWhatsApp): Promise<string> {
  await using bridge = await openBridge({ home: tempFolder(t), farUrl: far.url });
  return new URL(bridge.url).port;
}
