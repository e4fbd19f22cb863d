import { ChannelError, messageOf } from "../../errors.js";
import { FirstContact } from "../../onboarding/first-contact.js";
import { offeredWith, titleIn } from "../../onboarding/set-up.js";
import { CommandError } from "../exit.js";
import { askFields, isTokenAlone, setFields } from "./fields-step.js";
import { askMailbox, isMailbox, lacksOfMailbox, setMailbox } from "./mailbox.js";
import { findOwner } from "./owner-step.js";
import type { Choice } from "./prompts.js";
import { report, type Setup } from "./setup.js";

/** Where people write, with a login that was tried, and who its owner is. Resolves with what was set up; undefined: nothing. */
export async function setUpChannel(setup: Setup): Promise<string | undefined> {
  const name = setup.flags.channel ?? (await chosenChannel(setup));
  if (name === undefined || name === "none") return undefined;
  setup.draft.set(["channels", name, "enabled"], true);
  if (!(await setLogin(setup, name))) return await setUpAnother(setup, name);
  const account = setup.flags.offline === true ? undefined : await triedLogin(setup, name);
  if (account === "left out") return undefined;
  if (account === "back") return await setUpAnother(setup, name);
  const owner = await findOwner(setup, name, account?.name);
  const found = account?.name === undefined ? titleIn(name) : `${titleIn(name)} (${account.name})`;
  return owner === undefined ? found : `${found} with ${name}:${owner} as an owner`;
}

/** Somebody has typed nothing where the channel needs something. What flags say is about that channel alone. */
async function setUpAnother(setup: Setup, name: string): Promise<string | undefined> {
  setup.draft.forget();
  report(
    setup,
    `Nothing was typed, so nothing of ${titleIn(name)} is changed. Choose again, or go on without it.`,
    "warn",
  );
  const { key } = setup.given;
  const { offline } = setup.flags;
  return await setUpChannel({ ...setup, flags: offline === true ? { offline } : {}, given: { key, token: undefined } });
}

async function chosenChannel(setup: Setup): Promise<string | undefined> {
  const { prompts, draft } = setup;
  if (prompts === undefined) return undefined;
  const isOn = (name: string): boolean => draft.get(["channels", name, "enabled"]) === true;
  const names = offeredWith(draft.get(["channels"]));
  const on = names.filter(isOn).map((name) => titleIn(name));
  const none: Choice<string> = {
    value: "none",
    label: on.length === 0 ? "None: the page and the terminal are enough" : `As it is: ${on.join(", ")}`,
  };
  const offered = names.map((value): Choice<string> => {
    const hint = isOn(value) ? { hint: "is on" } : {};
    return { value, label: titleIn(value), ...hint };
  });
  const choices = on.length === 0 ? [...offered, none] : [none, ...offered];
  return await prompts.choose("Where do you want to write to it?", choices);
}

/** What is there stays, unless somebody types another one. False: somebody wants to go back. */
async function setLogin(setup: Setup, name: string): Promise<boolean> {
  return await (isMailbox(name) ? setMailbox : setFields)(setup, name);
}

/** Logs in at once, and asks again until it works. @throws {CommandError} nobody can be asked */
async function triedLogin(
  setup: Setup,
  name: string,
): Promise<{ readonly name: string | undefined } | undefined | "left out" | "back"> {
  const { draft, prompts, signal } = setup;
  for (;;) {
    prompts?.say(`Logging in at ${titleIn(name)} …`);
    try {
      const lacks = isMailbox(name) ? lacksOfMailbox(setup, name) : undefined;
      if (lacks !== undefined) throw new Error(lacks);
      const account = await new FirstContact(name, await draft.preview(), draft.home).logIn(signal);
      report(setup, `${titleIn(name)} lets us in${account === undefined ? "" : ` as ${account}`}.`, "success");
      return { name: account };
    } catch (error) {
      signal.throwIfAborted();
      const said = `${messageOf(error).replace(/\.$/, "")}.`;
      const sentence = error instanceof ChannelError ? said : `${titleIn(name)} does not let us in: ${said}`;
      if (prompts === undefined)
        throw new CommandError(`${sentence} The channel was not written. --offline writes it without a test.`);
      report(setup, sentence, "warn");
      const next = await prompts.choose("What now?", [
        { value: "login", label: isTokenAlone(name) ? "Type another token" : "Type the login again" },
        { value: "again", label: "Try again" },
        { value: "on", label: "Go on without a test" },
        { value: "out", label: "Leave the channel out" },
      ]);
      if (next === "on") return undefined;
      if (next === "out") {
        draft.forget();
        return "left out";
      }
      if (next === "login" && !(await (isMailbox(name) ? askMailbox : askFields)(setup, name))) return "back";
    }
  }
}
