import { useEffect } from "preact/hooks";
import type { PaneProps } from "../list.js";
import { useKnown } from "../parts/known.js";
import { Loading } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { AttentionSection } from "./attention-section.js";
import { FailedJobCard, LetterCard, StrangerCard } from "./cards.js";
import type { InboxItem } from "./inbox-items.js";
import { QuestionCard } from "./question-card.js";
import { inboxWords } from "./words.js";

/** Everything that waits, answered in place. `argument` is the id of what is to be looked at. */
export function InboxPane({ world, argument }: PaneProps) {
  const list = useKnown(world.store, "inbox");
  useEffect(() => void world.refreshInbox(), []);
  // It may come with the next look: a push is faster than the list.
  const isThere = list?.items.some(({ id }) => id === argument) === true;
  useEffect(() => {
    const card = isThere ? document.getElementById(argument) : null;
    card?.scrollIntoView({ block: "nearest" });
    card?.focus();
  }, [argument, isThere]);
  if (list === undefined) return <Loading />;
  const { items, count } = list;
  return (
    <>
      {items.length === 0 ? (
        <p class="inbox-none">{inboxWords.t("none")}</p>
      ) : (
        <ul class="cards inbox">
          {items.map((item) => (
            <li class="card inbox-card" data-kind={item.kind} id={item.id} key={item.id} tabIndex={-1}>
              <Card world={world} item={item} />
            </li>
          ))}
        </ul>
      )}
      {count > items.length ? <p class="muted">{inboxWords.t("more", { n: count - items.length })}</p> : undefined}
      <AttentionSection world={world} />
    </>
  );
}

export interface CardProps {
  readonly world: PaneWorld;
  readonly item: InboxItem;
}

function Card(props: CardProps) {
  switch (props.item.kind) {
    case "question":
    case "approval":
      return <QuestionCard {...props} />;
    case "stranger":
      return <StrangerCard {...props} />;
    case "failed_job":
      return <FailedJobCard {...props} />;
    case "dead":
      return <LetterCard {...props} />;
    default:
      return props.item.kind satisfies never;
  }
}
