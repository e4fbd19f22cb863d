import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import { startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { type Daemon, runMaxclaw, startDaemon } from "../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../support/worlds/gateway.js";

const key = "telegram:7";

/** A gateway that has answered a message on Telegram, with the help of a tool. */
async function openWorld() {
  const model = await startFakeOpenAI({
    answer: (request) =>
      request.index % 2 === 0
        ? { text: "Let me look.", toolCalls: [{ name: "list_dir", input: { path: "." } }] }
        : { text: "done" },
  });
  const telegram = await startFakeTelegram({ token: "4242:test" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels })));
  return {
    home,
    telegram,
    async ask(text: string): Promise<void> {
      const sent = telegram.sent.length;
      telegram.pushText({ chatId: 7, userId: 7, text });
      await telegram.waitForSent(sent + 1, 15_000);
    },
    async [Symbol.asyncDispose]() {
      await telegram.stop();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function eventsOf({ url }: Daemon): Promise<readonly StoredEvent[]> {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${url}/api/sessions/${encodeURIComponent(key)}/events`);
    const { events } = (await answer.json()) as { events: readonly StoredEvent[] };
    const isSent = events.some(
      (event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent",
    );
    if (isSent || tries > 200) return events;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("events verify and trace say the same of a gateway that runs, was killed, or was stopped", async () => {
  await using world = await openWorld();
  const daemon = await startDaemon({ home: world.home });
  await world.ask("what is here?");
  const events = await eventsOf(daemon);
  const idOf = (matches: (event: StoredEvent) => boolean): string => events.find(matches)?.event_id ?? "none";
  const sent = idOf((event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent");
  const queued = idOf((event) => event.type === "user_message_queued");

  const look = async (): Promise<void> => {
    const verify = await runMaxclaw(["events", "verify"], world.home);
    assert.equal(verify.code, 0, verify.stdout + verify.stderr);
    assert.match(verify.stdout, /^1 session, \d+ events: no problem\n$/);
    const alone = JSON.parse((await runMaxclaw(["events", "verify", key, "--json"], world.home)).stdout);
    assert.deepEqual([alone.ok, alone.sessions, alone.problems], [true, 1, []]);

    const reply = await runMaxclaw(["events", "trace", sent], world.home);
    assert.equal(reply.code, 0, reply.stderr);
    const lines = reply.stdout.split("\n");
    assert.match(lines[0] ?? "", new RegExp(`^${sent} {2}outbound_delivery_changed: sent$`));
    assert.match(reply.stdout, /^created +\S+Z by channel:telegram, gw_\w+/m);
    assert.match(
      reply.stdout,
      /^stored +as \d+ of \d+ in telegram:7\n +\S+(events\.jsonl, line|\.log, transaction) \d+/m,
    );
    assert.match(reply.stdout, /^published +to clients/m);
    assert.match(reply.stdout, new RegExp(`^ +1  ${queued} {2}user_message_queued: what is here\\?$`, "m"));
    assert.match(
      reply.stdout,
      /^delivered +turn_\w+#1 to telegram 7\n.*queued\n.*sending \(attempt 1\)\n.*sent \(attempt 1, receipt \d+\)/m,
    );

    const message = JSON.parse((await runMaxclaw(["events", "trace", queued, "--json"], world.home)).stdout);
    assert.deepEqual([message.event.event_id, message.causes, message.message], [queued, [], "done"]);
    assert.deepEqual(
      message.effects.map(({ type }: StoredEvent) => type),
      ["turn_execution_start"],
    );
    assert.equal(message.deliveries[0].changes.at(-1).payload.status, "sent");
    const nothing = await runMaxclaw(["events", "trace", "evt_00000000000000000000"], world.home);
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /^maxclaw: No event evt_0+ is stored/);
    const nobody = await runMaxclaw(["events", "verify", "telegram:nobody"], world.home);
    assert.deepEqual([nobody.code, nobody.stderr], [1, "maxclaw: There is no session telegram:nobody in the files.\n"]);
  };
  await look();
  await daemon.end("SIGKILL");
  await look();
  const next = await startDaemon({ home: world.home });
  await world.ask("and now?");
  await next.end("SIGTERM");
  await look();
});

test("events verify names the damage, and the exit code says that there is some", async () => {
  await using world = await openWorld();
  const daemon = await startDaemon({ home: world.home });
  await world.ask("hello");
  await eventsOf(daemon);
  await daemon.end("SIGTERM");
  const path = join(world.home, "workspace", ".sessions", "telegram_7.events.jsonl");
  const log = await readFile(path, "utf8");
  await writeFile(path, log.replace("Let me look.", "Let me lock."));
  const stopped = await runMaxclaw(["events", "verify"], world.home);
  assert.equal(stopped.code, 1);
  assert.match(
    stopped.stdout,
    /^telegram:7: line \d+ \(byte \d+\) is damaged: its checksum is wrong or it is cut off$/m,
  );
  assert.match(stopped.stdout, /In .*telegram_7\.events\.jsonl\n1 session, \d+ events: \d problems\n$/);
  const running = await startDaemon({ home: world.home });
  const asked = await runMaxclaw(["events", "verify", key], world.home);
  assert.deepEqual([asked.code, asked.stdout.includes("is damaged")], [1, true]);
  assert.equal(await running.end("SIGTERM"), 0);
});
