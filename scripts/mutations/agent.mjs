// Small wrong turns of the agent.
const doom = "src/agent/calls/doom-loop.ts";
const toolCalls = "src/agent/calls/tool-calls.ts";
const sentences = "src/agent/model/sentences.ts";
const quiet = "src/agent/questions/quiet-time.ts";
const phrases = "src/agent/questions/interrupt-phrases.ts";
const plan = "src/agent/plan/changes.ts";
const mailbox = "src/agent/turn/mailbox.ts";
const doomTest = "unit/agent/doom-loop";
const sentenceTest = "unit/agent/sentences";
const quietTest = "unit/agent/quiet-time";
const planTest = "unit/sessions/plan";

export const mutations = [
  // Calls that are made again and again, or once more after a crash.
  [doom, `const tooOften = 3;`, `const tooOften = 4;`, doomTest],
  [doom, `const mostPolls = 40;`, `const mostPolls = 41;`, doomTest],
  [doom, `(call.isServers || this.#human.isUnattended)`, `call.isServers`, doomTest],
  [doom, `(call.isRead && (`, `(true && (`, doomTest],
  [doom, `return isWaiting ? waiting : createHash`, `return createHash`, doomTest],
  [
    toolCalls,
    `return tool?.effect === "read" || tool?.effect === "idempotent";`,
    `return tool !== undefined;`,
    "e2e/turn/turn-resume",
  ],
  // What people read.
  [sentences, `return isSame ? shown :`, `return !isSame ? shown :`, sentenceTest],
  [sentences, `if (!isOwner) return sentence;`, `if (isOwner) return sentence;`, sentenceTest],
  // What belongs to a turn, and what ends it.
  [quiet, `first.receivedAt + mostQuietTimes * quiet.ms`, `last.receivedAt + quiet.ms`, quietTest],
  [quiet, `next.receivedAt - last.receivedAt <= quiet.ms`, `next.receivedAt - last.receivedAt >= quiet.ms`, quietTest],
  [phrases, `    .normalize("NFKC")\n`, ``, "unit/agent/interrupt-phrases"],
  [mailbox, `        !this.#isOfSender(body) ||\n`, ``, "e2e/turn/turn-group"],
  // Plans.
  [plan, `?? 0))) + 1;`, `?? 0)));`, planTest],
  [plan, `plan.steps.every(isOver) ? [`, `plan.steps.some(isOver) ? [`, planTest],
  [plan, `status: isEntered ? "pending" : "running"`, `status: "running"`, planTest],
];
