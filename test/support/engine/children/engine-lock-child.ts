import { writeSync } from "node:fs";
import { acquireLock } from "../../../../src/engine/embedded/locking/lock.js";
import { messageOf } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";

// Waits for a line, tries to take the lock, says how it went and holds what it has until its input ends.
const [path = ""] = process.argv.slice(2);
process.stdin.once("data", async () => {
  try {
    await acquireLock(path, silentLog);
    writeSync(1, "held\n");
  } catch (error) {
    writeSync(1, `${messageOf(error)}\n`);
  }
});
process.stdin.once("end", () => process.exit(0));
writeSync(1, "waiting\n");
