import { type Api, recordsIn, textIn } from "../gateway/api.js";
import { languageOfPage } from "../words/words.js";
import { commandsWords } from "./words.js";

/** One line of the menu that a slash opens. */
export interface CommandChoice {
  readonly kind: "command" | "skill";
  readonly name: string;
  readonly description: string;
  /** What can follow the name; empty where nothing can. */
  readonly argument: string;
}

/** The commands and skills of the gateway as it is now. Skills that are off are left out. */
export async function loadChoices(api: Pick<Api, "get">): Promise<readonly CommandChoice[]> {
  const [{ commands }, { skills }] = await Promise.all([api.get("api/commands"), api.get("api/skills")]);
  return [
    ...recordsIn(commands).map(({ name, description, argument }): CommandChoice => {
      const word = textIn(name);
      return { kind: "command", name: word, description: sayOf(word, textIn(description)), argument: textIn(argument) };
    }),
    ...recordsIn(skills)
      .filter(({ enabled }) => enabled !== false)
      .map(({ name, description }): CommandChoice => {
        const line = textIn(description).replace(/\s+/g, " ").trim();
        return { kind: "skill", name: textIn(name), description: line, argument: "" };
      }),
  ];
}

/** The gateway speaks English; a command that this page does not know keeps the gateway's words. */
function sayOf(name: string, description: string): string {
  const key = `say_${name}`;
  return languageOfPage() !== "en" && isKnown(key) ? commandsWords.t(key) : description;
}

function isKnown(key: string): key is keyof typeof commandsWords.en {
  return Object.hasOwn(commandsWords.en, key);
}

/** What is meant by the text of the field so far: names that begin with it, then names and descriptions that hold it. */
export function matching(choices: readonly CommandChoice[], typed: string): readonly CommandChoice[] {
  const wanted = typed.toLowerCase();
  const rank = ({ name, description }: CommandChoice): number => {
    const lower = name.toLowerCase();
    if (lower.startsWith(wanted)) return 0;
    if (lower.includes(wanted)) return 1;
    return description.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return choices
    .map((choice) => ({ choice, rank: rank(choice) }))
    .filter((each) => each.rank < 3)
    .sort((a, b) => kindOrder(a.choice) - kindOrder(b.choice) || a.rank - b.rank)
    .map(({ choice }) => choice);
}

function kindOrder({ kind }: CommandChoice): number {
  return kind === "command" ? 0 : 1;
}

/** What the field holds once this is chosen. */
export function textOf({ kind, name, argument }: CommandChoice): string {
  if (kind === "skill") return `@skill:${name} `;
  return argument === "" ? `/${name}` : `/${name} `;
}
