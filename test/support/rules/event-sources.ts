import { catalogue, type EventType } from "../../../src/events/catalogue.js";
import { readSources } from "./source-code.js";

/** How an event is made in our code: as a draft, or as an output of a machine. */
const makings = [/\bdraft\(\s*"([a-z_]+)"/g, /\btype: "([a-z_]+)",\s*payload\b/g];

/** The types that some line of the program produces. */
export function madeTypes(): ReadonlySet<EventType> {
  const made = new Set<EventType>();
  for (const { path, code } of readSources("src")) {
    // A copy of a session closes what is open in it, no matter who opened it.
    if (/^(events\/(catalogue|open-ends|fork-log)|web\/|client\/)/.test(path)) continue;
    for (const making of makings)
      for (const [, type = ""] of code.matchAll(making))
        if (Object.hasOwn(catalogue, type)) made.add(type as EventType);
  }
  return made;
}
