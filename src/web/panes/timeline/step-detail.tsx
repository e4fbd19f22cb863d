import type { AgentStep, CompactionStep, DeliveryStep, ModelStep, Step } from "../../../events/folds/timeline/step.js";
import { costOf, durationOf, numberOf } from "../../parts/format.js";
import { Action } from "../parts/controls.js";
import type { PaneWorld } from "../world.js";
import { AgentTurns } from "./agent-turns.js";
import { Facts, Part, Said } from "./facts.js";
import type { TurnReader } from "./read.js";
import { SentPart } from "./sent-part.js";
import { channelName, inPageWords, statusOf } from "./step-words.js";
import { timelineWords } from "./words.js";

const { t } = timelineWords;

interface DetailProps {
  readonly step: Step;
  readonly world: PaneWorld;
  readonly reader: TurnReader;
  readonly turnId: string;
}

/** What is below a step when it is open. */
export function StepDetail({ step, world, reader, turnId }: DetailProps) {
  const fork = async (): Promise<void> => world.openChat(await reader.fork(lastSeqOf(step)));
  return (
    <div class="timeline-detail">
      <StepBody step={step} world={world} reader={reader} turnId={turnId} />
      {step.kind === "model" || step.kind === "tool" ? <Action run={fork}>{t("forkAfter")}</Action> : undefined}
    </div>
  );
}

function lastSeqOf(step: Step): number {
  if (step.kind === "model") return step.answer?.seq ?? step.seq;
  return (step.kind === "tool" ? step.resultSeq : undefined) ?? step.seq;
}

function StepBody({ step, world, reader, turnId }: DetailProps) {
  switch (step.kind) {
    case "wait":
      return (
        <>
          <Facts
            rows={[
              [t("from"), step.sender],
              [t("channel"), channelName(step.channel)],
            ]}
          />
          <Said title={t("said")} said={step.said} seq={step.seq} reader={reader} />
        </>
      );
    case "model":
      return <ModelDetail step={step} reader={reader} turnId={turnId} />;
    case "tool":
      return (
        <>
          <Facts
            rows={[
              [t("tool"), step.origin === "mcp" ? `${step.name} (${t("ofServer")})` : step.name],
              [t("summary"), step.summary],
              [t("errorCode"), step.errorCode],
            ]}
          />
          <Said title={t("input")} said={step.input} seq={step.seq} reader={reader} />
          <Said title={t("output")} said={step.output} seq={step.resultSeq} reader={reader} />
        </>
      );
    case "agent":
      return <AgentDetail step={step} world={world} />;
    case "question":
      return (
        <>
          <Facts
            rows={[
              [t("asks"), t(`about_${step.about}`)],
              [t("tool"), step.toolName],
              [t("outcome"), step.outcome === undefined ? t("notOver") : t(`outcome_${step.outcome}`)],
              [t("by"), step.outcome === "answered" ? step.responder : undefined],
              [t("thatAnswer"), step.answer && inPageWords(step, step.answer)],
            ]}
          />
          <Said
            title={t("question")}
            said={{ text: inPageWords(step, step.question), isCut: false }}
            seq={undefined}
            reader={reader}
          />
        </>
      );
    case "delivery":
      return <DeliveryDetail step={step} reader={reader} />;
    case "compaction":
      return <CompactionDetail step={step} reader={reader} />;
    case "note":
      return <p>{step.detail}</p>;
    case "error":
      return (
        <Facts
          rows={[
            [t("errorCode"), step.code],
            [t("error"), step.detail],
          ]}
        />
      );
    default:
      return step satisfies never;
  }
}

function ModelDetail({ step, reader, turnId }: Pick<DetailProps, "reader" | "turnId"> & { readonly step: ModelStep }) {
  const { used, answer, restarts } = step;
  const tokens = (n: number | undefined): string | undefined => (n === undefined || n === 0 ? undefined : numberOf(n));
  return (
    <>
      <Facts
        rows={[
          [t("model"), step.model],
          [t("firstWord"), step.firstMs === undefined ? undefined : durationOf(step.firstMs - step.atMs)],
          [t("restarts"), restarts === 0 ? undefined : timelineWords.count(restarts, "restartOf", "restartsOf")],
          [t("inTokens"), used === undefined ? undefined : numberOf(used.usage.input_tokens)],
          [t("cacheRead"), tokens(used?.usage.cache_read_tokens)],
          [t("cacheWrite"), tokens(used?.usage.cache_write_tokens)],
          [t("outTokens"), used === undefined ? undefined : numberOf(used.usage.output_tokens)],
          [t("guessed"), tokens(used?.guessedTokens)],
          [
            t("cost"),
            used === undefined ? undefined : used.costUsd === undefined ? t("costUnknown") : costOf(used.costUsd),
          ],
          [t("stopReason"), answer === undefined ? undefined : t(`stop_${answer.stopReason}`)],
          [t("askedFor"), answer?.calls.join(", ")],
        ]}
      />
      {step.isTimed ? undefined : <p class="muted">{t("untimed")}</p>}
      {answer?.isPartial ? <p class="muted">{t("partial")}</p> : undefined}
      <Said title={t("answer")} said={answer?.said} seq={answer?.seq} reader={reader} />
      <SentPart reader={reader} turnId={turnId} iteration={step.iteration} />
    </>
  );
}

function DeliveryDetail({ step, reader }: { readonly step: DeliveryStep; readonly reader: TurnReader }) {
  return (
    <>
      <Facts
        rows={[
          [t("chat"), `${step.channel}:${step.chatId}`],
          [t("attempts"), numberOf(step.attempts)],
          [t("receipt"), step.receipt],
        ]}
      />
      {step.maybeTwice ? <p class="problem-text">{t("twice")}</p> : undefined}
      <Part title={t("way")}>
        <ol class="timeline-way">
          {step.changes.map(({ status, atMs, error }) => (
            <li key={`${status} ${atMs}`}>
              <span class="muted">{durationOf(atMs)}</span> {t(`delivery_${statusOf(status)}`)}
              {error === undefined ? undefined : <span class="problem-text"> {error}</span>}
            </li>
          ))}
        </ol>
      </Part>
      <Said title={t("said")} said={step.said} seq={step.seq} reader={reader} />
    </>
  );
}

function AgentDetail({ step, world }: { readonly step: AgentStep; readonly world: PaneWorld }) {
  return (
    <>
      <Facts
        rows={[
          [t("state"), t(`agent_${step.state}`)],
          [t("tokens"), step.tokens === undefined ? undefined : numberOf(step.tokens)],
          [t("cost"), step.costUsd === undefined ? undefined : costOf(step.costUsd)],
          [t("error"), step.error],
          [t("summary"), step.summary],
        ]}
      />
      <Part title={t("itsTurns")}>
        <AgentTurns world={world} sessionKey={step.sessionKey} />
      </Part>
    </>
  );
}

function CompactionDetail({ step, reader }: { readonly step: CompactionStep; readonly reader: TurnReader }) {
  return (
    <>
      <Facts
        rows={[
          [t("messagesTo", { from: step.messagesBefore, to: step.messagesAfter }), `${numberOf(step.tokensBefore)}`],
          [t("model"), step.model],
          [t("tokens"), step.tokens === undefined ? undefined : numberOf(step.tokens)],
          [t("cost"), step.costUsd === undefined ? undefined : costOf(step.costUsd)],
        ]}
      />
      <Said title={t("summary")} said={step.summary} seq={step.seq} reader={reader} />
    </>
  );
}
