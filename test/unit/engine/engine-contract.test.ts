import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { testEngineContract } from "../../contracts/engine.js";
import { openIn } from "../../support/engine/engine-kit.js";

const root = mkdtempSync(join(tmpdir(), "maxclaw-contract-"));
after(() => rmSync(root, { recursive: true, force: true }));

testEngineContract("embedded engine", (storage, options = {}) => openIn(join(root, storage), options));
