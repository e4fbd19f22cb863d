import { permissionText } from "../../failures/said.js";
import { momentOf } from "../../parts/format.js";
import { Field } from "../parts/controls.js";
import { CardHead, CardProblem, chatTitleOf, OpenChat, useWork, type Work } from "./card-parts.js";
import type { InboxQuestion } from "./inbox-items.js";
import type { CardProps } from "./inbox-pane.js";
import { inboxWords } from "./words.js";

const { t } = inboxWords;

interface Reply {
  readonly answer?: string;
  readonly values?: Readonly<Record<string, string>>;
}

interface FormProps {
  readonly question: InboxQuestion;
  readonly work: Work;
  readonly reply: (reply: Reply) => void;
}

/** A question of the assistant: by its buttons, in own words, or with secrets in fields that show nothing. */
export function QuestionCard({ world, item }: CardProps) {
  const work = useWork(world, item);
  const { at, expiresAt, chatKey } = item;
  if (item.question === undefined) return undefined;
  const { text, question } = inWords(item.text, item.question);
  const { requestId, sessionKey } = question;
  const reply = (given: Reply): void =>
    work.run(() => world.api.post(`api/sessions/${encodeURIComponent(sessionKey)}/answer`, { requestId, ...given }));
  const parts = { question, work, reply };
  return (
    <>
      <CardHead heading={headingOf(question)} at={at} />
      <div class="card-line inbox-chat">
        <span class="muted">{t("inChat", { title: chatTitleOf(world, item) })}</span>
        <OpenChat world={world} chatKey={chatKey} />
      </div>
      <p class="question-text">{text}</p>
      <Input question={question} />
      <Secrets {...parts} />
      <Choices {...parts} />
      <OwnWords {...parts} />
      <CardProblem work={work} />
      <p class="field-hint">{t("until", { time: momentOf(new Date(expiresAt)) })}</p>
    </>
  );
}

function inWords(text: string, question: InboxQuestion): { readonly text: string; readonly question: InboxQuestion } {
  if (question.asks !== "permission") return { text, question };
  const said = permissionText({ question: text, input: question.input, options: question.options });
  return { text: said.question, question: { ...question, options: said.options } };
}

function headingOf({ asks }: InboxQuestion): string {
  if (asks === "permission") return t("asks_permission");
  return asks === "env_var" ? t("asks_env_var") : t("asks_decision");
}

/** Nobody may allow what they cannot read to its end. */
function Input({ question: { input } }: Pick<FormProps, "question">) {
  if (input.length === 0) return undefined;
  return (
    <dl class="question-input">
      {input.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <pre>{value}</pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A permission has no best answer: nothing there is pushed forward. */
function Choices({ question: { options, asks }, work, reply }: FormProps) {
  if (options.length === 0) return undefined;
  return (
    <div class="choices">
      {options.map(({ id, label, description, isRecommended }) => (
        <button
          key={id}
          type="button"
          class={isRecommended && asks !== "permission" ? "choice primary" : "choice"}
          aria-disabled={work.isBusy}
          onClick={() => reply({ answer: id })}
        >
          <span>{label}</span>
          {description === "" ? undefined : <small>{description}</small>}
        </button>
      ))}
    </div>
  );
}

function OwnWords({ question: { allowCustom, options, requestId }, work, reply }: FormProps) {
  if (!allowCustom) return undefined;
  const label = t(options.length === 0 ? "yourAnswer" : "ownAnswer");
  const onSubmit = (event: SubmitEvent): void => {
    const answer = valuesOf(event).answer?.trim() ?? "";
    if (answer !== "") reply({ answer });
  };
  return (
    <form class="inbox-form" onSubmit={onSubmit}>
      <input
        type="text"
        name="answer"
        id={`own-${requestId}`}
        aria-label={label}
        placeholder={label}
        maxLength={10_000}
        autocomplete="off"
      />
      <button type="submit" class="choice" aria-disabled={work.isBusy}>
        {t("answer")}
      </button>
    </form>
  );
}

function Secrets({ question: { fields }, work, reply }: FormProps) {
  if (fields.length === 0) return undefined;
  return (
    <form class="inbox-form" onSubmit={(event) => reply({ values: valuesOf(event) })}>
      {fields.map((name) => (
        <Field key={name} label={name}>
          {(ids) => <input type="password" name={name} {...ids} required autocomplete="off" />}
        </Field>
      ))}
      <p class="field-hint">{t("secretNote")}</p>
      <button type="submit" class="choice primary" aria-disabled={work.isBusy}>
        {t("save")}
      </button>
    </form>
  );
}

function valuesOf(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return {};
  const entries = [...new FormData(event.currentTarget)];
  return Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}
