import type { FakeShown } from "../platform/fake-chats.js";

type Json = Readonly<Record<string, unknown>>;

/** What people see of a payload; throws with why WhatsApp would refuse it. */
export function shownOf(
  json: Json,
  fileOf: (id: string) => FakeShown["files"][number] | undefined,
): Omit<FakeShown, "id" | "thread"> {
  const chatId = textIn(json, "to", 20);
  check(/^\d+$/.test(chatId), "to is not a number");
  const empty = { chatId, text: "", files: [], buttons: [] };
  switch (json.type) {
    case "text":
      return { ...empty, text: textIn(objectIn(json, "text"), "body", 4096) };
    case "interactive":
      return { ...empty, ...interactiveOf(objectIn(json, "interactive")) };
    case "template":
      return { ...empty, text: templateTextOf(objectIn(json, "template")) };
    case "image":
    case "video":
    case "audio":
    case "document": {
      const file = fileOf(textIn(objectIn(json, json.type), "id", 100));
      check(file !== undefined, "there is no such file");
      return { ...empty, files: file === undefined ? [] : [file] };
    }
    default:
      throw new Error(`${String(json.type)} is not a type`);
  }
}

function interactiveOf(interactive: Json): Pick<FakeShown, "text" | "buttons"> {
  const action = objectIn(interactive, "action");
  const isList = interactive.type === "list";
  const text = textIn(objectIn(interactive, "body"), "text", isList ? 4096 : 1024);
  if (!isList) {
    const buttons = listIn(action, "buttons").map((one) => objectIn(one, "reply"));
    check(buttons.length >= 1 && buttons.length <= 3, "one to three buttons");
    const labels = buttons.map((one) => textIn(one, "title", 20));
    check(new Set(labels).size === labels.length, "titles differ");
    return { text, buttons: buttons.map((one, at) => ({ label: labels[at] ?? "", value: textIn(one, "id", 256) })) };
  }
  textIn(action, "button", 20);
  const rows = listIn(action, "sections").flatMap((section) => listIn(section, "rows"));
  check(rows.length >= 1 && rows.length <= 10, "one to ten rows");
  const buttons = rows.map((row) => ({
    label: row.description === undefined ? textIn(row, "title", 24) : textIn(row, "description", 72),
    value: textIn(row, "id", 200),
  }));
  for (const row of rows) textIn(row, "title", 24);
  check(new Set(buttons.map(({ value }) => value)).size === rows.length, "ids differ");
  return { text, buttons };
}

function templateTextOf(template: Json): string {
  textIn(template, "name", 512);
  textIn(objectIn(template, "language"), "code", 20);
  const [body = {}] = listIn(template, "components");
  const [parameter = {}] = listIn(body, "parameters");
  const text = textIn(parameter, "text", 1024);
  check(!/[\n\t]| {5}/.test(text), "a parameter has no lines and no rows of spaces");
  return text;
}

function textIn(json: Json, key: string, most: number): string {
  const value = json[key];
  check(typeof value === "string" && value.trim() !== "" && value.length <= most, `${key}: ${most} characters at most`);
  return String(value);
}

function objectIn(json: Json, key: string): Json {
  const value = json[key];
  check(typeof value === "object" && value !== null, `${key} is missing`);
  return { ...(value as object) };
}

function listIn(json: Json, key: string): readonly Json[] {
  const value = json[key];
  check(Array.isArray(value), `${key} is missing`);
  return Array.isArray(value) ? value.map((one: unknown) => ({ ...Object(one) })) : [];
}

function check(isTrue: boolean, why: string): void {
  if (!isTrue) throw new Error(why);
}
