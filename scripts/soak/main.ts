import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startFakeModel } from "../bench/fake-model.js";
import { type Subject, type SubjectName, startSubject } from "../bench/subject.js";
import { type Load, peakMegabytes, processorMs, type Sample, slopePerMinute, soak } from "./load.js";
import { type Result, toStandingText, toText, writeDown } from "./report.js";
import { measureStanding } from "./standing.js";

/** `npm run soak`: the gateway and the bare bot under the same load for a while, and what their memory does meanwhile. */
const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "20" },
    minutes: { type: "string", default: "15" },
    chats: { type: "string", default: "340" },
    /** The same number of messages in a fifth of the time. */
    short: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    /** `bare`, `maxclaw` or `standing`: one part of it. */
    only: { type: "string" },
    /** Where to put a picture of the heap at the end. */
    snapshot: { type: "string" },
    /** For Node, e.g. `--node=--max-semi-space-size=4`. */
    node: { type: "string", multiple: true, default: [] },
  },
});
const pace = values.short ? 5 : 1;
const load: Load = {
  perSecond: Number(values.rate) * pace,
  messages: Number(values.rate) * Number(values.minutes) * 60,
  chats: Number(values.chats),
  sampleMs: 10_000 / pace,
};
const probe = ["--import", new URL("./probe.js", import.meta.url).href];

await using model = await startFakeModel();
const results: Result[] = [];
for (const name of ["bare", "maxclaw"] as const)
  if (values.only === undefined || values.only === name) results.push(await measure(name));
const standing = values.only === undefined || values.only === "standing" ? await measureStanding(model) : [];
const text = [
  ...(results.length === 0 ? [] : [toText(load, results)]),
  ...(standing.length === 0 ? [] : [toStandingText(standing)]),
].join("\n\n");
console.log(text);
if (values.write) {
  const page = new URL("../../../docs/reliability.md", import.meta.url);
  writeFileSync(page, writeDown(readFileSync(page, "utf8"), text));
}

async function measure(name: SubjectName): Promise<Result> {
  await using subject = await startSubject(name, model, undefined, {}, [...values.node, ...probe]);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const idleMb = await subject.rssMegabytes();
  const before = await processorMs(subject.pid);
  const samples = await soak(subject, load);
  const cpuMs = ((await processorMs(subject.pid)) - before) / load.messages;
  show(name, samples);
  const peakMb = await peakMegabytes(subject.pid);
  const { heapUsed, rss } = await collected(subject, name);
  return { name, idleMb, peakMb, slope: slopePerMinute(samples), heapMb: heapUsed / 1e6, restMb: rss / 1e6, cpuMs };
}

async function collected({ child }: Subject, name: SubjectName): Promise<NodeJS.MemoryUsage> {
  const answer = once(child, "message");
  child.send(name === "maxclaw" && values.snapshot !== undefined ? values.snapshot : "collect");
  const [usage] = (await answer) as [NodeJS.MemoryUsage];
  return usage;
}

function show(name: SubjectName, samples: readonly Sample[]): void {
  const line = samples.map(({ seconds, megabytes }) => `${seconds.toFixed(0)} s ${megabytes.toFixed(0)}`);
  console.log(`${name}, MB: ${line.join(", ")}`);
}
