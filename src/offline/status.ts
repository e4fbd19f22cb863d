import { messageOf } from "../errors.js";
import { type PolicyOptions, problemsOfPolicy } from "../policy/policy.js";
import { type NamedModels, unusableModels } from "../providers/catalogue/find-model.js";
import { fullDisk } from "../util/files/free-room.js";
import { systemSentence } from "../util/files/system-fault.js";
import { examineJournal } from "./doctor.js";
import type { GatewayFiles } from "./events.js";
import { whyNotWritable } from "./home-copy.js";
import { holderOf } from "./running-gateway.js";
import { unfinishedRestore } from "./unfinished.js";
import { findUnusable, type UnusableFile } from "./unusable-files.js";

/** The parts of the config that policy and models are made of. */
interface CheckedConfig extends NamedModels {
  readonly owners: readonly string[];
  readonly channels: Readonly<Record<string, PolicyOptions["channels"][string] | undefined>>;
  readonly policy: Pick<PolicyOptions, "rules">;
}

export interface OfflineStatus {
  /** One sentence each, with what to do. */
  readonly problems: readonly string[];
  /** Messages that the next start answers, and replies that it sends. */
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
}

/** What the files tell about a gateway that does not run. Reads config and journal, and hardly anything of the logs. Changes nothing. */
export async function readOfflineStatus(files: GatewayFiles, config: CheckedConfig): Promise<OfflineStatus> {
  const unfinished = unfinishedRestore(files.home);
  // Everything else would be about half of a home.
  if (unfinished !== undefined) return { problems: [unfinished], inboundWaiting: 0, outboundWaiting: 0 };
  const { owners, policy } = config;
  const channels = Object.fromEntries(
    Object.entries(config.channels).flatMap(([name, channel]) => (channel === undefined ? [] : [[name, channel]])),
  );
  const problems = [...problemsOfPolicy({ owners, channels, rules: policy.rules }), ...unusableModels(config)];
  const refusal = systemSentence(await whyNotWritable(files));
  if (refusal !== undefined) problems.push(`${refusal} The gateway does not start until then.`);
  const unusable = refusal === undefined ? await findUnusable(files) : [];
  problems.push(...unusable.map(unusableSentence));
  const full = await fullDisk([files.home, files.workspace]);
  if (full !== undefined) problems.push(`${full} The gateway does not start until then.`);
  const nothing = { problems, inboundWaiting: 0, outboundWaiting: 0 };
  if (unusable.some(({ isNeeded }) => isNeeded)) return nothing;
  // One without HTTP writes at this moment.
  if ((await holderOf(files.home)) !== undefined) return nothing;
  try {
    const { problem, problems: found, records } = examineJournal(files);
    if (problem !== undefined) problems.push(`${problem} The gateway does not start until then.`);
    const { work } = records;
    return {
      problems: [...problems, ...found],
      inboundWaiting: work.count("inbound"),
      outboundWaiting: work.count("outbound"),
    };
  } catch (error) {
    return { ...nothing, problems: [...problems, systemSentence(error) ?? messageOf(error)] };
  }
}

/** What is wrong with a file, and what to do. */
export function unusableSentence({ path, error, isNeeded }: UnusableFile): string {
  const sentence = systemSentence(error) ?? `${path} cannot be used: ${messageOf(error)}.`;
  return isNeeded ? `${sentence} The gateway does not start until then.` : sentence;
}
