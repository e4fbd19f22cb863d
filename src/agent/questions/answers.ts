import type { Payload } from "../../events/catalogue.js";
import { trimEndWhere } from "../../util/text/trim-where.js";

type Asked = Payload<"human_input_asked">;
type Option = Asked["options"][number];

/** What a reply comes to. */
export type Choice = { readonly optionId: string; readonly text: string } | { readonly text: string };

/** What people type instead of an option of a permission question, as the whole message. */
const yesWords: ReadonlySet<string> = new Set([
  "yes",
  "y",
  "ok",
  "okay",
  "allow",
  "是",
  "好",
  "好的",
  "可以",
  "同意",
  "允许",
]);
const noWords: ReadonlySet<string> = new Set(["no", "n", "deny", "don't", "否", "不", "不行", "不要", "拒绝"]);
const alwaysWords: ReadonlySet<string> = new Set(["always", "always allow", "总是", "总是允许"]);

/**
 * The option that a reply names: by its id, its number, its label, or, for a permission, a plain yes or no. Any other
 * text counts only where the question allows one's own words.
 */
export function choiceOf(asked: Asked, reply: string): Choice | undefined {
  const option = optionOf(asked, reply);
  if (option !== undefined) return { optionId: option.id, text: option.label };
  const text = reply.trim();
  return asked.allow_custom && text !== "" ? { text } : undefined;
}

/** The option that a reply names; never one's own words. */
export function optionOf({ kind, options }: Asked, reply: string): Option | undefined {
  const text = plain(reply);
  const byName = options.find(({ id, label }) => id === reply.trim() || plain(label) === text);
  if (byName !== undefined) return byName;
  const number = /^(\d{1,2})[.):]?$/.exec(text)?.[1];
  if (number !== undefined) return options[Number(number) - 1];
  return kind === "permission" ? permissionOption(options, text) : undefined;
}

function permissionOption(options: readonly Option[], text: string): Option | undefined {
  const id = yesWords.has(text)
    ? "allow_once"
    : noWords.has(text)
      ? "deny"
      : alwaysWords.has(text)
        ? "allow_always"
        : undefined;
  return options.find((option) => option.id === id);
}

/** How a chat is told that the yes of who asked is not enough. */
export const ownersReason = "An owner of this assistant must allow this.";

/** True where only an owner may say yes: also where nothing says who may. */
export function isForOwner({ kind, approver }: Asked): boolean {
  return kind === "permission" && approver !== "asker";
}

/** A no opens nothing. */
export function isYes(choice: Choice): boolean {
  return !("optionId" in choice) || choice.optionId !== "deny";
}

/** What is taken when nobody answers: permission is denied; else the default, the recommended or the first option. */
export function takenAtTimeout(asked: Asked): Choice {
  const { kind, options } = asked;
  if (kind === "permission") return { optionId: "deny", text: labelOf(options, "deny") ?? "Deny" };
  if (kind === "env_var") return { text: "" };
  const fallback = asked.default;
  if (fallback !== undefined && fallback !== "")
    return choiceOf({ ...asked, allow_custom: true }, fallback) ?? { text: fallback };
  const option = options.find(({ recommended }) => recommended === true) ?? options[0];
  return option === undefined ? { text: "" } : { optionId: option.id, text: option.label };
}

/** How a refusal says what could have been answered. */
export function expectedAnswers({ options, allow_custom }: Asked): string {
  const numbers = options.map(({ label }, index) => `${index + 1} (${label})`).join(", ");
  return allow_custom ? `${numbers}, or your own words` : numbers;
}

function labelOf(options: readonly Option[], id: string): string | undefined {
  return options.find((option) => option.id === id)?.label;
}

function plain(text: string): string {
  const lower = text.normalize("NFKC").trim().toLowerCase();
  return trimEndWhere(lower, (unit) => /[\s.!?。！？]/.test(unit));
}
