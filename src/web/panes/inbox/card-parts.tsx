import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { sentenceOf } from "../../failures/said.js";
import { momentOf } from "../../parts/format.js";
import { titleOf } from "../chats/session-list.js";
import type { PaneWorld } from "../world.js";
import type { InboxItem } from "./inbox-items.js";
import { inboxWords } from "./words.js";

/** What a card does: one thing at a time, and what went wrong stays on the card. */
export interface Work {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  run(act: () => Promise<unknown>): void;
}

/** The card goes with the next reading of the inbox, which begins once the act is over. */
export function useWork(world: PaneWorld, item: Pick<InboxItem, "id">): Work {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (act: () => Promise<unknown>): Promise<void> => {
    // Its buttons keep the focus meanwhile.
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      await world.refreshInbox();
    } catch (error) {
      setProblem(sentenceOf(error));
      // Somebody else may have answered: the card goes then, with what it says.
      await world.refreshInbox();
      const isThere = world.store.known.inbox?.items.some(({ id }) => id === item.id);
      if (isThere !== true) world.failed(error);
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run: (act) => void run(act) };
}

export function CardHead({ heading, at }: { readonly heading: string; readonly at: string }) {
  return (
    <div class="inbox-head">
      <h2>{heading}</h2>
      <time class="muted" dateTime={at} title={inboxWords.t("since", { time: momentOf(new Date(at)) })}>
        {momentOf(new Date(at))}
      </time>
    </div>
  );
}

export function Buttons({ work, children }: { readonly work: Work; readonly children: ComponentChildren }) {
  return (
    <>
      <div class="card-line">{children}</div>
      <CardProblem work={work} />
    </>
  );
}

export function CardProblem({ work: { problem } }: { readonly work: Work }) {
  return (
    <p class="problem-text" role="alert" hidden={problem === undefined}>
      {problem}
    </p>
  );
}

export function Button({
  work,
  act,
  kind = "quiet",
  children,
}: {
  readonly work: Work;
  readonly act: () => Promise<unknown>;
  readonly kind?: "primary" | "quiet" | "danger";
  readonly children: ComponentChildren;
}) {
  return (
    <button type="button" class={`button ${kind}`} aria-disabled={work.isBusy} onClick={() => work.run(act)}>
      {children}
    </button>
  );
}

export function OpenChat({ world, chatKey }: { readonly world: PaneWorld; readonly chatKey: string }) {
  return (
    <button type="button" class="link" onClick={() => world.openChat(chatKey)}>
      {inboxWords.t("openChat")}
    </button>
  );
}

export function chatTitleOf({ store }: PaneWorld, { chatKey, title }: InboxItem): string {
  const entry = store.known.chats.entries.find(({ key }) => key === chatKey);
  return entry === undefined ? title : titleOf(entry);
}
