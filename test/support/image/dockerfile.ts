/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly name: string;
  /** As written, lines joined. */
  readonly text: string;
}

/** A stage: what follows on a FROM. */
export interface Stage {
  readonly from: string;
  readonly name: string | undefined;
  readonly steps: readonly Instruction[];
}

/** What a builder reads of a Dockerfile: comments left out, continued lines joined. */
export function readDockerfile(text: string): readonly Stage[] {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join("\n")
    .replaceAll(/\\\n/g, "\n")
    .split(/\n(?=[A-Z]+ )/);
  const stages: { from: string; name: string | undefined; steps: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^([A-Z]+)\s+([\s\S]*)$/.exec(line) ?? [];
    const [, from = "", , as] = /^(\S+)(\s+AS\s+(\S+))?$/.exec(rest.trim()) ?? [];
    if (name === "FROM") stages.push({ from, name: as, steps: [] });
    else stages.at(-1)?.steps.push({ name, text: rest.trim() });
  }
  return stages;
}

/** The arguments of a CMD in its JSON form, also of one behind options (HEALTHCHECK). */
export function commandIn({ text }: Instruction): readonly string[] {
  const parsed: unknown = JSON.parse(text.slice(text.indexOf("[")));
  if (!Array.isArray(parsed)) throw new Error(`${text} is not a list`);
  return parsed.map(String);
}

/** The variables of an ENV. */
export function variablesIn({ text }: Instruction): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(/\s+/).map((part) => [part.split("=", 1)[0] ?? "", part.slice(part.indexOf("=") + 1)]),
  );
}
