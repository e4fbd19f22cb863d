/** What a program under Seatbelt is about to do; `subject` is a real path, or the name of what it asks for. */
export interface SeatbeltUse {
  readonly operation: string;
  readonly subject: string;
}

type Expression = string | { readonly text: string } | readonly Expression[];

interface Rule {
  readonly isAllowed: boolean;
  readonly operations: readonly string[];
  readonly filters: readonly (readonly Expression[])[];
}

export interface SeatbeltRules {
  readonly imports: readonly string[];
  /** Every path that is named, in order. */
  readonly places: readonly string[];
  /** The last rule that fits decides; what none is about is forbidden. */
  allows(use: SeatbeltUse): boolean;
}

/**
 * Reads a profile as macOS does, so far as we use its language: what is not understood is an error here as it is there.
 *
 * @throws {Error} for what is not a profile
 */
export function readSeatbelt(profile: string): SeatbeltRules {
  const expressions = parse(profile);
  const rules: Rule[] = [];
  const imports: string[] = [];
  for (const [index, expression] of expressions.entries()) {
    if (typeof expression === "string" || !isList(expression))
      throw new Error(`no rule: ${JSON.stringify(expression)}`);
    const [head, ...rest] = expression;
    if (head === "version" && index === 0) continue;
    if (head === "import") imports.push(textOf(rest[0]));
    else if (head === "allow" || head === "deny") {
      const operations = rest.filter((one) => typeof one === "string");
      const filters = rest.filter((one) => typeof one !== "string").map((one) => listOf(one));
      if (operations.length === 0 || operations.length + filters.length !== rest.length) throw new Error("a bad rule");
      rules.push({ isAllowed: head === "allow", operations, filters });
    } else throw new Error(`unknown: ${String(head)}`);
  }
  const places = rules.flatMap(({ filters }) =>
    filters.filter(([kind]) => kind === "subpath" || kind === "literal").map(([, place]) => textOf(place)),
  );
  return {
    imports,
    places,
    allows: (use) =>
      rules.findLast(
        ({ operations, filters }) =>
          operations.some((name) => coversOperation(name, use.operation)) &&
          (filters.length === 0 || filters.some((filter) => fits(filter, use.subject))),
      )?.isAllowed === true,
  };
}

function coversOperation(name: string, operation: string): boolean {
  return name === "default" || name === operation || (name.endsWith("*") && operation.startsWith(name.slice(0, -1)));
}

function fits([kind, ...rest]: readonly Expression[], subject: string): boolean {
  switch (kind) {
    case "subpath":
      return subject === textOf(rest[0]) || subject.startsWith(`${textOf(rest[0])}/`);
    case "literal":
    case "path-literal":
    case "global-name":
      return subject === textOf(rest[0]);
    case "regex":
      return new RegExp(textOf(rest[0])).test(subject);
    case "sysctl-name-prefix":
      return subject.startsWith(textOf(rest[0]));
    case "target":
      return subject === rest[0];
    case "local":
    case "remote":
      if (rest[0] === "unix-socket") return fits(listOf(rest[1]), subject);
      return rest[0] === "ip" && textOf(rest[1]) === "*:*" && /^[\d.]+:\d+$/.test(subject);
    default:
      throw new Error(`unknown filter: ${String(kind)}`);
  }
}

function parse(text: string): readonly Expression[] {
  const tokens = [...text.matchAll(/\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))\s*/gsuy)];
  if (tokens.map(([whole]) => whole).join("") !== text) throw new Error("cannot be read to its end");
  const open: Expression[][] = [[]];
  for (const [, bracket, string, word] of tokens) {
    if (bracket === "(") open.push([]);
    else if (bracket === ")") {
      const closed = open.pop();
      if (closed === undefined || open.length === 0) throw new Error("closes too much");
      open.at(-1)?.push(closed);
    } else open.at(-1)?.push(string === undefined ? (word ?? "") : { text: string.replace(/\\(.)/gsu, "$1") });
  }
  if (open.length !== 1) throw new Error("does not close");
  return open[0] ?? [];
}

function isList(expression: Expression): expression is readonly Expression[] {
  return Array.isArray(expression);
}

function listOf(expression: Expression | undefined): readonly Expression[] {
  if (expression === undefined || !isList(expression)) throw new Error("no list");
  return expression;
}

function textOf(expression: Expression | undefined): string {
  if (expression === undefined || typeof expression === "string" || isList(expression)) throw new Error("no string");
  return expression.text;
}
