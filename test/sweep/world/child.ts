import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isOver, parseTask } from "../../../src/agent/tasks/record.js";
import { loadConfig } from "../../../src/config/load.js";
import type { Engine } from "../../../src/engine/engine.js";
import type { GatewayEvent, StoredEvent } from "../../../src/events/event.js";
import { type Gateway, openGateway } from "../../../src/gateway.js";
import type { LogFields, Logger } from "../../../src/log.js";
import { databaseVariable } from "../database.js";
import type { EngineUnderTest } from "../embedded.js";
import type { Kill, Look, LookAtChat, Opening, Order, Said, WorkLeft } from "../protocol.js";
import { createRelayChannel } from "./relay-channel.js";
import { countingTools } from "./tools.js";

// A process that runs a whole gateway as its parent says, and ends itself with SIGKILL at the point that it is told.
const passings = new Map<string, number>();
const armed: { kill: Kill | undefined; all: number } = { kill: undefined, all: 0 };
const published = new Map<string, number>();
const outOfOrder: string[] = [];
const own: { engine?: Engine; gateway?: Gateway; keys: readonly string[]; goOn: () => void } = {
  keys: [],
  goOn: () => {},
};

function passed(point: string): void {
  const times = (passings.get(point) ?? 0) + 1;
  passings.set(point, times);
  armed.all += 1;
  const { kill } = armed;
  if (kill === undefined) return;
  if (kill.point === undefined ? armed.all === kill.nth : kill.point === point && times === kill.nth)
    process.kill(process.pid, kill.signal ?? "SIGKILL");
}

function arm(kill: Kill | undefined): void {
  passings.clear();
  armed.all = 0;
  armed.kill = kill;
}

function say(said: Said): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(said, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

/** The point that an event makes, once it is written and before anybody hears about it. */
function pointOf(event: GatewayEvent): string {
  if (event.type !== "outbound_delivery_changed") return `event ${event.type}`;
  return `event ${event.type}: ${event.payload.status}`;
}

async function open(opening: Opening): Promise<{ readonly address: string }> {
  const { home, relayUrl, runsPath, life, sendRetryMs } = opening;
  arm(opening.kill);
  own.keys = opening.keys;
  if (opening.database !== undefined) process.env[databaseVariable] = opening.database;
  if (opening.skewMs !== undefined) skewClock(opening.skewMs);
  const { openEngine }: EngineUnderTest = await import(opening.engine);
  const gateway = await openGateway({
    home,
    config: await loadConfig({ home, env: { HOME: home } }),
    log: fileLog(opening.logPath ?? join(home, "child.log"), life),
    version: "0.0.0-sweep",
    http: { port: 0 },
    pauses: { sendRetryMs },
    added: {
      tools: runsPath === undefined ? [] : countingTools(runsPath, life, passed),
      platforms: (context) => (relayUrl === undefined ? [] : [createRelayChannel(relayUrl, context)]),
    },
    onBoundary: (name, queue) => passed(queue === undefined ? name : `${name} ${queue}`),
    async openEngine(options) {
      const publish = (event: GatewayEvent): void => {
        // What another node has stored is told here as well, and is no point of this process.
        const isOwn = event.metadata.instance_id === options.instanceId;
        if (isOwn && own.keys.includes(event.session_key)) passed(pointOf(event));
        noteOrder(event);
        options.publish(event);
      };
      const engine = await openEngine({ ...options, publish });
      own.engine = engine;
      const may = new Promise<void>((resolve) => {
        own.goOn = resolve;
      });
      await say({ said: "found", look: await look(engine), instanceId: options.instanceId });
      await may;
      return engine;
    },
  });
  own.gateway = gateway;
  return { address: gateway.address };
}

async function look(of: Engine): Promise<Look> {
  const chats: LookAtChat[] = [];
  for (const key of own.keys) {
    const events: StoredEvent[] = [];
    for (let hasMore = true; hasMore; ) {
      const page = await of.events(key, { afterSeq: events.at(-1)?.seq ?? 0, limit: 500 });
      events.push(...page.events);
      ({ hasMore } = page);
    }
    chats.push({
      key,
      events,
      lastSequence: await of.lastSequence(key),
      inbound: (await of.waiting("inbound", key)).map(({ id }) => id),
      outbound: (await of.waiting("outbound", key)).map(({ id }) => id),
    });
  }
  const dead = (await of.dead.list()).map(({ work }) => work.id);
  return { chats, dead, parked: await parkedIn(of), published: Object.fromEntries(published), outOfOrder };
}

/** Each stored event is to be published once, and behind the one before it. */
function noteOrder({ session_key: key, seq, type }: GatewayEvent): void {
  if (seq === null || !own.keys.includes(key)) return;
  const last = published.get(key);
  if (last !== undefined && seq !== last + 1) outOfOrder.push(`${key}: ${type} ${seq} was published behind ${last}`);
  published.set(key, seq);
}

/** This machine's clock is wrong, for all that asks it. */
function skewClock(ms: number): void {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given: readonly unknown[]) {
      // The constructor of dates takes what it is given as it is.
      super(...((given.length === 0 ? [Real.now() + ms] : given) as [number]));
    }
    static override now(): number {
      return Real.now() + ms;
    }
  } as DateConstructor;
}

async function workLeft(of: Engine): Promise<WorkLeft> {
  // In the order in which it goes on: what moves on while it is counted is counted at one of its places at least.
  const parked = (await parkedIn(of)).length;
  // A sub-agent that has ended waits in no queue until its result is accepted.
  const tasks = (await of.records.open("task")).list().map(({ value }) => parseTask(value));
  const running = tasks.filter((task) => task !== undefined && !isOver(task)).length;
  const { inboundWaiting: inbound, outboundWaiting: outbound } = of.status();
  return { parked, tasks: running, inbound, outbound };
}

const parkedUpdate = z.object({ update: z.object({ message: z.object({ text: z.string() }) }) });

async function parkedIn(of: Engine): Promise<readonly string[]> {
  const kept = (await of.records.open("channel_telegram")).list();
  return kept.flatMap(({ id, value }) =>
    id.startsWith("parked:") ? parkedUpdate.parse(value).update.message.text : [],
  );
}

async function obey(order: Exclude<Order, { order: "goOn" }>): Promise<unknown> {
  if (order.order === "open") return await open(order.opening);
  const { engine, gateway } = own;
  if (engine === undefined || gateway === undefined) throw new Error("nothing is open");
  switch (order.order) {
    case "kill":
      return arm(order.kill);
    case "look":
      return await look(engine);
    case "work":
      return await workLeft(engine);
    case "passings":
      return Object.fromEntries(passings);
    case "ledger":
      return await gateway.api.ledger();
    case "list":
      return (await gateway.api.listSessions({ limit: 100, offset: 0 })).sessions.map(({ key }) => key);
    case "stop":
      await gateway.drain(order.graceMs);
      return await gateway[Symbol.asyncDispose]();
  }
}

function fileLog(path: string, life: number): Logger {
  const add =
    (level: string) =>
    (message: string, { error, ...fields }: LogFields = {}): void => {
      const why = error instanceof Error ? ` ${error.stack}` : "";
      appendFileSync(path, `life ${life} ${level}: ${message} ${JSON.stringify(fields)}${why}\n`);
    };
  return { debug() {}, info() {}, warn: add("warn"), error: add("error") };
}

process.on("message", (order: Order) => {
  if (order.order === "goOn") return own.goOn();
  obey(order).then(
    (answer) => say({ said: "answer", id: order.id, answer: answer ?? null }),
    (error: unknown) => say({ said: "failed", id: order.id, why: error instanceof Error ? `${error.stack}` : "?" }),
  );
});
// A parent that is gone needs no child.
process.on("disconnect", () => process.exit(0));
await say({ said: "loaded" });
