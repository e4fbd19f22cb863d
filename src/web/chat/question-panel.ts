import { permissionText, sentenceOf } from "../failures/said.js";
import { h, setText } from "../parts/dom.js";
import type { QuestionReply } from "../session/session.js";
import type { OpenQuestion } from "../session/view-state.js";
import { localeOfPage } from "../words/language.js";
import { chatWords } from "./words.js";

interface QuestionActions {
  /** Rejects with the reason when the answer does not count. */
  answer(requestId: string, reply: QuestionReply): Promise<void>;
  /** Read out by screen readers. */
  announce(text: string): void;
}

/** The question that waits for the reader, above the place where they write. */
export interface QuestionPanel {
  readonly element: HTMLElement;
  show(question: OpenQuestion | undefined): void;
}

const headings = {
  clarification: "question",
  decision: "question",
  env_var: "secretNeeded",
  permission: "permissionNeeded",
} as const;

export function createQuestionPanel(actions: QuestionActions): QuestionPanel {
  const column = h("div", { class: "column" });
  const element = h("section", { class: "question", "aria-labelledby": "question-title" }, column);
  let shown: string | undefined;
  element.hidden = true;

  function show(question: OpenQuestion | undefined): void {
    if (question?.requestId === shown) return;
    shown = question?.requestId;
    element.hidden = question === undefined;
    const said = question && inWords(question);
    column.replaceChildren(...(said === undefined ? [] : [cardOf(said, actions)]));
    if (said !== undefined) actions.announce(`${chatWords.t(headings[said.kind])} ${said.question}`);
  }

  return { element, show };
}

/** As the reader's language has it, with who asks. */
function inWords(asked: OpenQuestion): OpenQuestion {
  const said = asked.kind === "permission" ? { ...asked, ...permissionText(asked) } : asked;
  const { agent, question } = said;
  return agent === undefined ? said : { ...said, question: chatWords.t("agentAsks", { agent, question }) };
}

function cardOf(question: OpenQuestion, actions: QuestionActions): HTMLElement {
  const problem = h("p", { class: "question-problem", role: "alert" });
  const reply = async (answer: QuestionReply): Promise<void> => {
    setText(problem, "");
    setDisabled(card, true);
    try {
      await actions.answer(question.requestId, answer);
    } catch (error) {
      setText(problem, sentenceOf(error));
      setDisabled(card, false);
    }
  };
  const card = h(
    "div",
    { class: "question-card", "data-kind": question.kind },
    h("h2", { id: "question-title" }, chatWords.t(headings[question.kind])),
    h("p", { class: "question-text" }, question.question),
    inputOf(question),
    secretsForm(question, reply),
    choicesOf(question, reply),
    ownWordsForm(question, reply),
    problem,
    h("p", { class: "question-end" }, untilText(question.expiresAt)),
  );
  return card;
}

/** Everything that would run: nobody may allow what they cannot read to its end. */
function inputOf({ input }: OpenQuestion): HTMLElement | undefined {
  if (input.length === 0) return undefined;
  const fields = input.flatMap(({ name, value }) => [
    h("dt", {}, name),
    h("dd", {}, h("pre", { tabindex: "0" }, value)),
  ]);
  return h("dl", { class: "question-input" }, ...fields);
}

type Reply = (answer: QuestionReply) => Promise<void>;

function choicesOf({ options, kind }: OpenQuestion, reply: Reply): HTMLElement | undefined {
  if (options.length === 0) return undefined;
  // A permission has no best answer: nothing there is pushed forward.
  const buttons = options.map(({ id, label, description, isRecommended }) =>
    h(
      "button",
      {
        type: "button",
        class: isRecommended && kind !== "permission" ? "choice primary" : "choice",
        title: description,
        onclick: () => void reply({ answer: id }),
      },
      h("span", {}, label),
      description === undefined ? undefined : h("small", {}, description),
    ),
  );
  return h("div", { class: "choices" }, ...buttons);
}

function ownWordsForm({ allowCustom, options }: OpenQuestion, reply: Reply): HTMLElement | undefined {
  if (!allowCustom) return undefined;
  const label = chatWords.t(options.length === 0 ? "yourAnswer" : "ownAnswer");
  const field = h("input", { type: "text", "aria-label": label, placeholder: label, maxlength: "10000" });
  field.autocomplete = "off";
  return formOf([field], chatWords.t("answer"), options.length === 0, () => {
    const answer = field.value.trim();
    if (answer !== "") void reply({ answer });
  });
}

function secretsForm({ fields }: OpenQuestion, reply: Reply): HTMLElement | undefined {
  if (fields.length === 0) return undefined;
  const inputs = fields.map((name) => {
    const input = h("input", { type: "password", name, id: `secret-${name}`, required: true });
    input.autocomplete = "off";
    return input;
  });
  const rows = inputs.flatMap((input) => [h("label", { for: input.id }, input.name), input]);
  const note = h("p", { class: "secret-note" }, chatWords.t("secretNote"));
  return formOf([...rows, note], chatWords.t("save"), true, () => {
    const values = Object.fromEntries(inputs.map(({ name, value }) => [name, value]));
    void reply({ values });
  });
}

function formOf(
  children: readonly HTMLElement[],
  action: string,
  isPrimary: boolean,
  onSubmit: () => void,
): HTMLElement {
  const button = h("button", { type: "submit", class: isPrimary ? "choice primary" : "choice" }, action);
  const form = h("form", {}, ...children, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onSubmit();
  });
  return form;
}

function setDisabled(card: HTMLElement, isDisabled: boolean): void {
  for (const control of card.querySelectorAll<HTMLButtonElement | HTMLInputElement>("button, input"))
    control.disabled = isDisabled;
}

function untilText(expiresAt: string): string {
  const date = new Date(expiresAt);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date().toDateString();
  const locale = localeOfPage();
  const time = isToday
    ? date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleString(locale);
  return chatWords.t("waitsUntil", { time });
}
