import { messageOf } from "../../errors.js";
import { FirstContact, newCode, type Person } from "../../onboarding/first-contact.js";
import { personOf } from "../../onboarding/set-up.js";
import { linked } from "../../util/async/linked.js";
import { problemOfOwner } from "./flags.js";
import type { Choice } from "./prompts.js";
import { report, type Setup } from "./setup.js";

type Way = "write" | "id" | "later";

/**
 * Whose assistant it is on this channel: they may command everything, and get a test message. `account` is how people find
 * it there. Resolves with their id; undefined: nobody yet.
 */
export async function findOwner(setup: Setup, name: string, account: string | undefined): Promise<string | undefined> {
  const { flags, prompts } = setup;
  if (flags.owner !== undefined) {
    await greet(setup, name, flags.owner);
    return addOwner(setup, name, flags.owner);
  }
  const known = ownersOf(setup, name);
  const [first] = known;
  if (first !== undefined) {
    const isWanted = flags.offline !== true && (await prompts?.confirm(`Send a test message to ${name}:${first}?`));
    if (isWanted === true) await greet(setup, name, first);
    return first;
  }
  if (prompts === undefined) {
    report(setup, `Nobody is an owner on ${name} yet: give your id with --owner.`, "warn");
    return undefined;
  }
  return await askOwner(setup, name, account);
}

async function askOwner(setup: Setup, name: string, account: string | undefined): Promise<string | undefined> {
  const { prompts, draft, flags } = setup;
  const contact = new FirstContact(name, await draft.preview(), draft.home);
  // Only one program at a time gets what people write.
  const isTaken = setup.runningChannels.includes(name);
  const canListen = contact.canListen && !isTaken && flags.offline !== true;
  if (isTaken)
    report(setup, `The gateway that runs is connected to ${name}, so this command cannot listen there.`, "warn");
  const ways: readonly Choice<Way>[] = [
    ...(canListen ? [{ value: "write", label: "I write to it now", hint: "the surest way" } as const] : []),
    { value: "id", label: personOf(name)?.choice ?? "I type my id" },
    { value: "later", label: "Later", hint: "anyone who writes gets a code, for: maxclaw pair approve" },
  ];
  for (;;) {
    const way = await prompts?.choose(`Who are you on ${name}? You may command everything from there.`, ways);
    if (way === "later" || way === undefined) return undefined;
    const id = way === "write" ? (await listened(setup, name, contact, account))?.id : await typedId(setup, name);
    if (id !== undefined) return addOwner(setup, name, id);
  }
}

async function typedId(setup: Setup, name: string): Promise<string | undefined> {
  const { label = "Your id there", isLowerCase = false } = personOf(name) ?? {};
  const problem = (typed: string): string | undefined => problemOfOwner(name, typed);
  const typed = await setup.prompts?.line(label, { problem });
  const id = isLowerCase ? typed?.toLowerCase() : typed;
  if (id !== undefined) await greet(setup, name, id);
  return id;
}

/** Waits until somebody sends a code that only this terminal shows. Undefined: it is to be done in another way. */
async function listened(
  setup: Setup,
  name: string,
  contact: FirstContact,
  account: string | undefined,
): Promise<Person | undefined> {
  const code = newCode();
  using waiting = linked(setup.signal);
  using over = linked(setup.signal);
  let found: Person | undefined;
  let failure: string | undefined;
  setup.prompts?.say(`Connecting to ${name} …`);
  let wait = Promise.resolve();
  // What is sent before it is connected may not arrive.
  await new Promise<void>((onListening) => {
    wait = contact
      .waitForPerson(code, onListening, waiting.signal)
      .then(
        (person) => {
          found = person;
        },
        (error: unknown) => {
          failure = waiting.signal.aborted ? undefined : messageOf(error);
        },
      )
      .finally(() => {
        over.abort();
        onListening();
      });
  });
  setup.signal.throwIfAborted();
  const where = account === undefined ? `on ${name}` : `to ${account} on ${name}`;
  try {
    await setup.prompts?.chooseUntil(
      `Send this ${where}, as a direct message: ${code}`,
      [{ value: "stop", label: "Waiting for it … (Enter: in another way)" }],
      over.signal,
    );
  } finally {
    waiting.abort();
    await wait;
  }
  if (failure !== undefined) report(setup, `That did not work: ${failure}.`, "warn");
  if (found === undefined) return undefined;
  const shown = found.name === undefined ? found.id : `${found.name} (${found.id})`;
  report(setup, `It was ${shown}, who now has a test message.`, "success");
  return found;
}

async function greet(setup: Setup, name: string, id: string): Promise<void> {
  if (setup.flags.offline === true) return;
  const contact = new FirstContact(name, await setup.draft.preview(), setup.draft.home);
  try {
    await contact.greet(id, setup.signal);
    report(setup, `A test message was sent to ${name}:${id}.`, "success");
  } catch (error) {
    setup.signal.throwIfAborted();
    const hint = personOf(name)?.mayBegin === true ? "" : " Write to it there first: it must not begin by itself.";
    report(
      setup,
      `The test message did not reach ${name}:${id}: ${messageOf(error).replace(/\.$/, "")}.${hint}`,
      "warn",
    );
  }
}

function ownersOf({ draft }: Setup, name: string): readonly string[] {
  const owners = draft.get(["owners"]);
  if (!Array.isArray(owners)) return [];
  const prefix = `${name}:`;
  return owners.flatMap((one) => (String(one).startsWith(prefix) ? [String(one).slice(prefix.length)] : []));
}

function addOwner({ draft }: Setup, name: string, id: string): string {
  const owners = draft.get(["owners"]);
  const known = Array.isArray(owners) ? owners : [];
  const owner = `${name}:${id}`;
  if (!known.includes(owner)) draft.set(["owners"], [...known, owner]);
  return id;
}
