import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { logsIn } from "../../../src/sessions/file-names.js";
import { testEngineContract } from "../../contracts/engine.js";
import { openIn } from "../../support/engine/engine-kit.js";

const root = mkdtempSync(join(tmpdir(), "maxclaw-contract-"));
after(() => rmSync(root, { recursive: true, force: true }));

testEngineContract("embedded engine", (storage, options = {}) => {
  const home = join(root, storage);
  const sessions = join(home, "sessions");
  const sessionLogs = (): readonly string[] => (existsSync(sessions) ? logsIn(sessions) : []);
  return openIn(home, { ...options, logs: { all: sessionLogs } });
});
