import assert from "node:assert/strict";
import { until } from "../support/engine/engine-kit.js";
import type { ChannelHarness, SendFault } from "../support/worlds/channels/channel-harness.js";
import {
  type HarnessWorld,
  type HarnessWorldOptions,
  openHarnessWorld,
} from "../support/worlds/channels/harness-world.js";

/** What one way to fail has cost on one channel. */
export interface FaultRow {
  readonly channel: string;
  readonly fault: string;
  readonly messages: number;
  /** Messages whose answer nobody sees. */
  readonly lost: number;
  /** Answers that people see more than once, counted without their first time. */
  readonly repeated: number;
  /** Those of them that the log marks as perhaps repeated. */
  readonly marked: number;
}

const sends: readonly (readonly [SendFault, string])[] = [
  ["429", "429 with a wait"],
  ["401", "the token is refused for a while (401)"],
  ["404", "the bot is unknown for a while (404)"],
  ["5xx", "5xx"],
  ["cut-before", "cut before the platform has it"],
  ["cut-after", "cut after it was shown"],
  ["timeout", "shown, but no answer comes"],
];

/** Three messages in a row; something goes wrong at the answer to the second. */
const words = ["first", "second", "third"] as const;

/**
 * Runs each way to fail once on this channel, in a gateway of its own. Checks on the way what no fault may do: answers
 * out of order, repeats on a platform that knows them, repeats that are not marked.
 */
export async function measureFaults(openHarness: () => Promise<ChannelHarness>): Promise<readonly FaultRow[]> {
  const rows: FaultRow[] = [];
  const { faults } = await look(openHarness);
  for (const [fault, name] of sends.filter(([each]) => faults.includes(each)))
    rows.push(
      await measure(openHarness, name, async (world, say) => {
        world.harness.failNextSend(fault);
        await say("second");
      }),
    );
  rows.push(
    await measure(
      openHarness,
      "restart while a send is under way",
      async (world, say) => {
        world.harness.failNextSend("timeout");
        await say("second", false);
        const [ann] = world.harness.people;
        await until("it is shown", () => countOf(world, ann.chatId, "second") >= 1, 10_000);
        await world.restart();
      },
      { sendTimeoutMs: 20_000 },
    ),
    await measure(openHarness, "connection lost while a message comes in", async (world, say) => {
      world.harness.loseConnection();
      await say("second", world.harness.forgetsUnheard !== true);
    }),
  );
  return rows;
}

async function look(openHarness: () => Promise<ChannelHarness>): Promise<Pick<ChannelHarness, "faults">> {
  await using harness = await openHarness();
  return { faults: harness.faults };
}

type Say = (word: string, waits?: boolean) => Promise<void>;

async function measure(
  openHarness: () => Promise<ChannelHarness>,
  fault: string,
  fail: (world: HarnessWorld, say: Say) => Promise<void>,
  options: HarnessWorldOptions = {},
): Promise<FaultRow> {
  // Growing answers have tests of their own: here each answer is one send.
  await using world = await openHarnessWorld(openHarness, { config: { reactors: { live: false } }, ...options });
  const { harness } = world;
  const [ann] = harness.people;
  const say: Say = async (text, waits = true) => {
    await harness.write({ from: ann, text });
    if (waits) await world.seen(ann.chatId, `You said: ${text}`);
  };
  await say("first");
  await world.quiet();
  await fail(world, say);
  await say("third");
  await world.quiet();

  const counts = words.map((word) => countOf(world, ann.chatId, word));
  const repeated = counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
  const marked = await countMarked(world);
  const said = harness.shown(ann.chatId).map(({ text }) => text);
  const places = words.map((word) => said.findIndex((text) => text.includes(word))).filter((place) => place !== -1);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
    `${harness.channel}, ${fault}: in order`,
  );
  if (harness.knowsRepeats) assert.equal(repeated, 0, `${harness.channel}, ${fault}: the platform knows repeats`);
  assert.ok(repeated <= marked, `${harness.channel}, ${fault}: ${repeated} repeated, ${marked} marked`);
  const lost = counts.filter((count) => count === 0).length;
  assert.ok(lost === 0 || harness.forgetsUnheard === true, `${harness.channel}, ${fault}: ${lost} lost`);
  const ends = (await world.gateway.gateway.api.ledger()).map(({ end }) => end);
  assert.deepEqual(ends, Array(words.length - lost).fill("answered"), `${harness.channel}, ${fault}`);
  return {
    channel: harness.label ?? harness.channel,
    fault,
    messages: words.length,
    lost,
    repeated,
    marked: Math.min(marked, repeated),
  };
}

function countOf({ harness }: HarnessWorld, chatId: string, word: string): number {
  return harness.showings(chatId).filter((text) => text.includes(`You said: ${word}`)).length;
}

async function countMarked(world: HarnessWorld): Promise<number> {
  const [ann] = world.harness.people;
  const events = await world.gateway.events(world.keyOf(ann));
  const marked = events.flatMap(({ type, payload }) =>
    type === "outbound_delivery_changed" && payload.maybe_duplicate === true ? [payload.outbound_id] : [],
  );
  return new Set(marked).size;
}
