import { damage } from "./damage.js";
import { fullDisk } from "./full-disk.js";
import { hugeAnswers } from "./huge-answers.js";
import { randomKills } from "./random-kills.js";
import { refusals } from "./refusals.js";
import type { Scenario } from "./scenario.js";
import { openQuestion, unreadableLog } from "./stuck-chats.js";
import { subAgents } from "./sub-agents.js";
import { twoGateways } from "./two-gateways.js";

/** The scenarios in the order of their table. */
export const scenarios: readonly Scenario[] = [
  twoGateways,
  subAgents,
  randomKills,
  damage,
  refusals,
  hugeAnswers,
  fullDisk,
  openQuestion,
  unreadableLog,
];
