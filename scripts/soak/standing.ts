import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { madeKey, makeHistory } from "../../test/support/engine/histories/made-history.js";
import { startFakeDiscord } from "../../test/support/fakes/fake-discord.js";
import { withoutMailServer } from "../../test/support/fakes/mail/mail-server.js";
import { createEmailHarnesses } from "../../test/support/worlds/channels/email-harness.js";
import type { FakeModel } from "../bench/fake-model.js";
import { median } from "../bench/measure.js";
import { startSubject } from "../bench/subject.js";

/** One thing that is measured without a load: what it is, the figure, its budget. */
export interface Standing {
  readonly what: string;
  readonly value: number;
  readonly unit: "MB" | "ms";
  readonly budget: number;
}

const rounds = 3;
const manySessions = 100_000;
const restMs = 4000;
const warmUps = 5;

/** What a gateway takes that nobody talks to, the first list of very many sessions, and a very long one. */
export async function measureStanding(model: FakeModel): Promise<readonly Standing[]> {
  const telegram = await idle(model, {});
  const rows: Standing[] = [{ what: "idle, Telegram", value: telegram, unit: "MB", budget: 80 }];
  if (withoutMailServer() === false) {
    await using discord = await startFakeDiscord({ token: "standing" });
    await using mail = createEmailHarnesses();
    await using mailbox = await mail.open();
    const more = {
      discord: { enabled: true, token: discord.token, apiRoot: discord.url, allowFrom: ["*"] },
      email: { enabled: true, allowFrom: ["*"], ...mailbox.config },
    };
    rows.push({ what: "idle, Telegram, Discord and email", value: await idle(model, more), unit: "MB", budget: 100 });
  }
  return [...rows, ...(await manyOf(model, telegram)), ...(await longOne(model))];
}

async function idle(model: FakeModel, channels: Readonly<Record<string, object>>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await using subject = await startSubject("maxclaw", model, undefined, { channels });
    await rest();
    found.push(await subject.rssMegabytes());
  }
  return median(found);
}

/** A list is asked for as the page does, over HTTP. */
async function manyOf(model: FakeModel, idleMb: number): Promise<readonly Standing[]> {
  await using home = await madeHome(model, (dir) => {
    makeHistory(dir, { sessions: manySessions, turnsPerSession: 1, answerBytes: 200 });
  });
  await using subject = await startSubject("maxclaw", model, home.path);
  await rest();
  const atRest = await subject.rssMegabytes();
  const list = async (offset: number): Promise<number> => {
    const before = processorMs(subject.pid);
    const response = await fetch(`${subject.url}/api/sessions?limit=50&offset=${offset}`);
    await response.text();
    if (response.status !== 200) throw new Error(`The list answered with ${response.status}`);
    return processorMs(subject.pid) - before;
  };
  const first = await list(0);
  const grown = (await subject.rssMegabytes()) - atRest;
  const pages: number[] = [];
  for (let page = 1; page <= 9; page += 1) pages.push(await list(50 * page));
  const named = `${manySessions.toLocaleString("en-US")} sessions`;
  return [
    { what: `${named}, idle beyond none`, value: atRest - idleMb, unit: "MB", budget: 10 },
    { what: `${named}, first list`, value: first, unit: "ms", budget: 300 },
    { what: `${named}, memory after it`, value: grown, unit: "MB", budget: 40 },
    { what: `${named}, another page`, value: median(pages), unit: "ms", budget: 20 },
  ];
}

/** A message in a conversation of 100,000 events, beside one in a new conversation: opening it is the difference. */
async function longOne(model: FakeModel): Promise<readonly Standing[]> {
  await using home = await madeHome(model, (dir) => {
    makeHistory(dir, { sessions: 1, turnsPerSession: 20_000, answerBytes: 200, isSummarised: true });
  });
  const chat = Number(madeKey(0).split(":")[1]);
  const opened: { ms: number; mb: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await using subject = await startSubject("maxclaw", model, home.path);
    const ask = async (chatId: number): Promise<{ ms: number; mb: number }> => {
      const [ms, mb, sent] = [processorMs(subject.pid), await subject.rssMegabytes(), subject.telegram.sent.length];
      subject.telegram.pushText({ chatId, userId: chatId, text: "one more" });
      await subject.telegram.waitForSent(sent + 1, 60_000);
      return { ms: processorMs(subject.pid) - ms, mb: (await subject.rssMegabytes()) - mb };
    };
    // The platform of each round counts its updates anew, and the gateway knows those of earlier rounds: it passes these over.
    for (let n = 0; n < round * (warmUps + 2); n += 1)
      subject.telegram.pushText({ chatId: 1, userId: 1, text: "known" });
    for (let n = 0; n < warmUps; n += 1) await ask(1);
    const fresh = await ask(2);
    const long = await ask(chat);
    // The first start reads the log, and leaves the folds behind.
    if (round > 0) opened.push({ ms: long.ms - fresh.ms, mb: long.mb - fresh.mb });
  }
  const named = "a session of 100,000 events";
  return [
    { what: `${named}, opening it`, value: median(opened.map(({ ms }) => ms)), unit: "ms", budget: 100 },
    { what: `${named}, memory`, value: median(opened.map(({ mb }) => mb)), unit: "MB", budget: 20 },
  ];
}

/** A home whose conversations are there; a history without a journal would be refused. */
async function madeHome(
  model: FakeModel,
  make: (sessions: string) => void,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "maxclaw-soak-"));
  const start = async (): Promise<void> => {
    await (await startSubject("maxclaw", model, path))[Symbol.asyncDispose]();
  };
  await start();
  make(join(path, "workspace", ".sessions"));
  await start();
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The processor time of all threads since the program began, to the microsecond. */
function processorMs(pid: number | undefined): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

async function rest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, restMs));
}
