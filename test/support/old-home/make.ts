// Makes the home that test/e2e/faults/damage/upgraded-home.test.ts opens: a conversation with a tool call, a job, and a message that was accepted and
// not answered when the gateway was killed. Run it with a program of the version that the file is to be of, once:
//   node dist/test/support/old-home/make.js test/fixtures/home-0.1.json
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeOpenAI } from "../fakes/models/fake-openai.js";
import { runMaxclaw, spawnMaxclaw, startDaemon } from "../worlds/daemon.js";
import { openAIConfig, tempHome } from "../worlds/gateway.js";
import { packHome } from "./fixture.js";

const [, , file] = process.argv;
if (file === undefined) throw new Error("Name the file to write");
const home = await tempHome();
await using model = await startFakeOpenAI({
  answer: ({ userText }) =>
    userText.includes("never answered")
      ? { text: "too late", delayMs: 60_000 }
      : { text: `the answer to ${userText.slice(-60)}` },
});
await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase)));
const first = await startDaemon({ home });
for (const text of ["remember the blue bicycle", "and the red one"]) {
  const done = await runMaxclaw(["agent", "-m", text], home);
  if (done.code !== 0) throw new Error(done.stderr);
}
// Logs and documents of conversations are written out; what comes later is in the journal alone.
await first.end("SIGTERM");
const daemon = await startDaemon({ home });
const asked = model.requests.length;
await using waiting = spawnMaxclaw(["agent", "-s", "cli:other", "-m", "this is never answered"], home);
for (const end = Date.now() + 20_000; model.requests.length === asked; await new Promise(setImmediate))
  if (Date.now() > end) throw new Error(`The model was not asked: ${waiting.stderr()}`);
await daemon.end("SIGKILL");
await packHome(home, file);
await rm(home, { recursive: true, force: true });
