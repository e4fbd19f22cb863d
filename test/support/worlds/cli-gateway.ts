import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeOpenAI } from "../fakes/models/fake-openai.js";
import { type CliSandbox, finish, outputOf } from "./cli.js";
import { openAIConfig } from "./gateway.js";
import type { AnswerScript, FakeModelServer } from "./model-script.js";

/** A home whose model is scripted at the wire. */
export async function withModel(
  cli: CliSandbox,
  answer: AnswerScript,
  more: Record<string, unknown> = {},
): Promise<FakeModelServer> {
  const model = await startFakeOpenAI({ answer });
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  await writeFile(join(cli.home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, more)));
  return model;
}

/** The real program, once it has said that it is ready. */
export async function startCliGateway(cli: CliSandbox, args: readonly string[] = ["-p", "0"]) {
  const child = cli.start(["gateway", ...args]);
  // It lives as long as its test, and is killed with the sandbox.
  const result = finish(child, "", 240_000);
  const ready = await outputOf(child.stdout, /READY:127\.0\.0\.1:\d+\n/);
  const port = Number(/READY:127\.0\.0\.1:(\d+)\n/.exec(ready)?.[1]);
  return { child, result, port, url: `http://127.0.0.1:${port}` };
}
