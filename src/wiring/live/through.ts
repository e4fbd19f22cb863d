import type { Budgets } from "../../budgets/budgets.js";
import type { Policy } from "../../policy/policy.js";
import type { Models } from "../../providers/catalogue/models.js";
import type { SkillSource } from "../../skills/source.js";

// Who holds one of these asks the part that is in force at each call: after a change of the config it is another one.

export function modelsThrough(now: () => Models): Models {
  return {
    choose: (...asked) => now().choose(...asked),
    chain: (...asked) => now().chain(...asked),
    prefer: (model) => now().prefer(model),
    labels: () => now().labels(),
    readThinking: (text) => now().readThinking(text),
    describe: () => now().describe(),
    providerReason: () => now().providerReason(),
    problems: () => now().problems(),
  };
}

export function policyThrough(now: () => Policy): Policy {
  return {
    maySpeak: (...asked) => now().maySpeak(...asked),
    mayUseTool: (use) => now().mayUseTool(use),
    mayCommand: (use) => now().mayCommand(use),
    outsideOf: (...asked) => now().outsideOf(...asked),
    get problems() {
      return now().problems;
    },
  };
}

export function budgetsThrough(now: () => Budgets): Budgets {
  return {
    get limits() {
      return now().limits;
    },
    get calendar() {
      return now().calendar;
    },
    open: (account) => now().open(account),
    background: {
      mayAsk: () => now().background.mayAsk(),
      countsOf: (use) => now().background.countsOf(use),
    },
    today: (sender) => now().today(sender),
    report: (days) => now().report(days),
    measure: (...asked) => now().measure(...asked),
  };
}

export function skillsThrough(now: () => SkillSource): SkillSource {
  return {
    list: () => now().list(),
    text: (name) => now().text(name),
    read: (name) => now().read(name),
    select: (...asked) => now().select(...asked),
    switchTo: (...asked) => now().switchTo(...asked),
    problems: () => now().problems(),
    leftOut: () => now().leftOut(),
    lookAgain: () => now().lookAgain(),
  };
}
