import { problemText } from "../../failures/said.js";
import { Button, Buttons, CardHead, OpenChat, useWork } from "./card-parts.js";
import type { CardProps } from "./inbox-pane.js";
import { inboxWords } from "./words.js";

const { t } = inboxWords;

export function StrangerCard({ world, item }: CardProps) {
  const work = useWork(world, item);
  const { title, senderId, channel, name: code, at } = item;
  const who = senderId === title ? title : `${title} (${senderId})`;
  const post = (path: string) => world.api.post(`api/pairings/${path}`, { code });
  return (
    <>
      <CardHead heading={t("stranger")} at={at} />
      <p>{t("strangerText", { who, channel })}</p>
      <p class="muted">{t("code", { code })}</p>
      <Buttons work={work}>
        <Button work={work} kind="primary" act={() => post("approve")}>
          {t("letIn")}
        </Button>
        <Button work={work} act={() => post("refuse")}>
          {t("refuse")}
        </Button>
      </Buttons>
      <p class="field-hint">{t("refuseHint")}</p>
    </>
  );
}

export function FailedJobCard({ world, item }: CardProps) {
  const work = useWork(world, item);
  const { id, title, text, at, chatKey, name: jobId } = item;
  const dismiss = () => world.api.post(`api/inbox/${encodeURIComponent(id)}/dismiss`);
  const open = async (): Promise<void> => {
    await dismiss();
    world.openChat(chatKey);
  };
  return (
    <>
      <CardHead heading={t("failed_job")} at={at} />
      <p class="inbox-subject">{title}</p>
      <p class="inbox-text">{problemText(text)}</p>
      <Buttons work={work}>
        <Button work={work} act={open}>
          {t("openChat")}
        </Button>
        <Button work={work} act={() => world.api.post(`api/cron/${encodeURIComponent(jobId)}/run`)}>
          {t("runAgain")}
        </Button>
        <Button work={work} act={dismiss}>
          {t("dismiss")}
        </Button>
      </Buttons>
    </>
  );
}

export function LetterCard({ world, item }: CardProps) {
  const work = useWork(world, item);
  const { text, channel, at, chatKey, name, letter } = item;
  if (letter === undefined) return undefined;
  const { isReply, chatId: chat, reason } = letter;
  const path = `api/dead/${encodeURIComponent(name)}`;
  const drop = async (): Promise<void> => {
    const question = { title: t("dropTitle"), text: t("dropText"), action: t("drop"), isDangerous: true };
    if ((await world.ask(question)) !== undefined) await world.api.delete(path);
  };
  return (
    <>
      <CardHead heading={t(isReply ? "dead_reply" : "dead_message")} at={at} />
      <p class="muted">{t("deadTo", { channel, chat })}</p>
      <blockquote class="inbox-quote">{text}</blockquote>
      <p class="inbox-text">{problemText(reason)}</p>
      <Buttons work={work}>
        <Button work={work} kind="primary" act={() => world.api.post(`${path}/redrive`)}>
          {t(isReply ? "sendAgain" : "tryAgain")}
        </Button>
        <Button work={work} kind="danger" act={drop}>
          {t("drop")}
        </Button>
        <OpenChat world={world} chatKey={chatKey} />
      </Buttons>
    </>
  );
}
