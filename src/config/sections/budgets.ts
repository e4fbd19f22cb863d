import { z } from "zod";
import { number } from "../values.js";

const bound = number(z.number().min(0)).optional();

function tokensOf(what: string) {
  return bound.meta({ description: `How many tokens ${what} may use.`, unit: "tokens" });
}

function dollarsOf(what: string) {
  return bound.meta({ description: `How many US dollars ${what} may cost.`, unit: "usd" });
}

function messagesOf(whose: string) {
  return bound.meta({ description: `How many messages ${whose} may have answered.`, unit: "messages" });
}

/** What may be used; without a number there is no limit. */
function budget(what: string, whose: string) {
  return z.strictObject({ tokens: tokensOf(what), usd: dollarsOf(what), turns: messagesOf(whose) }).prefault({});
}

function turnBudget(what: string) {
  return z.strictObject({ tokens: tokensOf(what), usd: dollarsOf(what) }).prefault({});
}

/** Upper bounds: of one turn, of one turn of a sub-agent, of a session until `/new`, and per day of each sender, scheduled job and of everything. */
export const budgets = z
  .strictObject({
    turn: turnBudget("one message, with all that is done for it,"),
    spawn: turnBudget("one task of a helper (sub-agent)"),
    session: budget("one conversation until `/new`", "one conversation until `/new`"),
    sender: budget("each person in a day", "each person in a day"),
    job: budget("each scheduled job in a day", "each scheduled job in a day"),
    day: budget("everything together in a day", "everybody together in a day"),
  })
  .prefault({});
