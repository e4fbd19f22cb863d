import { createCompaction } from "../../agent/model/compaction.js";
import type {
  AgentPorts,
  ChatPorts,
  CommandPorts,
  ContextSources,
  FilePorts,
  PlannedUse,
  SessionPorts,
  ToolPolicy,
} from "../../agent/ports.js";
import { choicesFor } from "../../agent/questions/text.js";
import type { Status } from "../../api/status/status.js";
import { destinationOf, isGroup, questionRepliesOf, repliesOf } from "../../bus/replies.js";
import { draft } from "../../events/event.js";
import { rootKeyOf, sessionKeyOf } from "../../events/session-key.js";
import { ChatContext } from "../../memory/chat-context.js";
import { isOpenCommand, type ToolDecision, type ToolUse } from "../../policy/access.js";
import { filesOfCommand } from "../../policy/commands/command-files.js";
import { stricterOf } from "../../policy/stricter.js";
import { isOfGuest } from "../../sessions/history/history-entries.js";
import { haveJobsSaid } from "../../sessions/history/jobs-said.js";
import { createToolRegistry, type ToolSource } from "../../tools/registry.js";
import type { Tool } from "../../tools/tool.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** What the assistant works with, besides what it always has. */
export interface Hands {
  readonly tools: readonly Tool[];
  /** Those that the config can change, as they are at the moment. */
  readonly changing: () => readonly Tool[];
  /** Of MCP servers. */
  readonly source: ToolSource | undefined;
  readonly commands: Pick<CommandPorts, "mayCommand" | "operate">;
  readonly artifacts: FilePorts["artifacts"];
  readonly tasks: AgentPorts["tasks"];
  readonly onModelAnswered: AgentPorts["onModelAnswered"];
}

/** Everything that a turn needs of the rest. */
export function agentPorts(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  status: Status,
  { tools, changing, source, commands, artifacts, tasks, onModelAnswered }: Hands,
): AgentPorts {
  const { config, log } = { ...options, config: options.config.config };
  const { inbound, mind, people, live } = assistant;
  const { sources, keepOlderText } = context(options, core, assistant);
  return {
    sessions: {
      open: (key) => core.sessions.open(key),
      running: inbound.running,
      pieces: core.growing.pieces,
      onSend: (request) => mind.sent.keep(request),
      keepOlderText,
      wasAnswered: (text) => haveJobsSaid(core.sessions, text),
    },
    tasks,
    models: mind.models,
    budgets: mind.budgets,
    context: {
      ...sources,
      compaction: createCompaction({ threshold: () => live.running.agents.defaults.compactAt, log }),
    },
    tools: createToolRegistry(tools, { log, source, changing }),
    policy: toolPolicy(options, core, assistant),
    chat: { isOwner: people.isOwner, isGroup, questions: inbound.questions, ...replies(assistant) },
    files: {
      // A sub-agent works where its parent does, so that each can read what the other has written.
      folderOf: (key) => core.folders.files.folder(rootKeyOf(key)),
      whyFull: core.folders.whyFull,
      workspace: config.agents.defaults.workspace,
      artifacts,
      outsideOf: people.policy.outsideOf,
      sendersIn: (folder) => core.folders.provenance.sendersIn(folder),
      labels: core.folders.provenance.files,
    },
    commands: {
      ...commands,
      async statusLine() {
        const now = await status.read();
        // The question itself is still among those that wait.
        const others = Math.max(0, now.inboundWaiting - 1);
        return `maxclaw ${options.version} is ${now.state}. Model: ${now.model}. Other messages waiting: ${others}.`;
      },
    },
    onModelAnswered,
    log,
  };
}

function toolPolicy({ config: { config } }: GatewayOptions, core: Core, assistant: Assistant): ToolPolicy {
  const { workspace } = config.agents.defaults;
  const { grants } = assistant.people;
  const decide = (use: PlannedUse, { people, readers }: Standing): ToolDecision =>
    people.policy.mayUseTool(toToolUse(use, { people, readers }));
  const policy: ToolPolicy = {
    decide: (use) => decide(use, assistant),
    ofTurn() {
      const begun = { people: assistant.people.now(), readers: assistant.readers.now() };
      return { ...policy, decide: (use) => stricterOf(decide(use, assistant), decide(use, begun)) };
    },
    filesOf: async (access, folder) =>
      access.kind === "command" && isOpenCommand(access)
        ? await filesOfCommand(access, { folder, workspace })
        : undefined,
    async allowAlways(use, responderId) {
      const grant = await grants.add(toToolUse(use, assistant), responderId);
      if (grant === undefined) return;
      const to = grants.nameOf(grant);
      core.logEvent(draft("settings_changed", { scope: "gateway", key: "allow_always", to }, { source: "agent" }));
    },
  };
  return policy;
}

/** Who is who, and who reads along. */
interface Standing {
  readonly people: Pick<Assistant["people"], "policy" | "isOwner">;
  readonly readers: Pick<Assistant["readers"], "of">;
}

/** The same for every route: whose message it is decides, whatever carried it. */
function toToolUse(use: PlannedUse, { people, readers }: Standing): ToolUse {
  const { tool, access, folder, earlier, files, isPlanning, message } = use;
  const { channel, senderId, chatId, thread } = message;
  const chat = sessionKeyOf(channel, chatId, thread);
  const role = people.isOwner(channel, senderId) ? "owner" : "guest";
  const chatType = isGroup(message) ? "group" : "dm";
  const { audience } = readers.of(message);
  // A chat's own memory is for what its people say there.
  const isOfChat = access.kind === "memory" && access.of === "chat";
  const outside = isOfChat ? use.outside.filter((source) => !isOfGuest(source)) : use.outside;
  const speaker = { channel, senderId, chatType, role, audience } as const;
  return { tool, access, folder, earlier, chat, files, outside, isPlanning, speaker };
}

/** What shapes a conversation, and what is kept of it. */
function context(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
): {
  readonly sources: Omit<ContextSources, "compaction">;
  readonly keepOlderText: SessionPorts["keepOlderText"];
} {
  const { readers } = assistant;
  const { skills } = assistant.mind;
  const chat = chatContextOf(options, core, assistant);
  return {
    sources: {
      files: (message) => chat.filesFor(readers.of(message)),
      skills: skills.select,
      readSkill: skills.read,
    },
    keepOlderText: ({ key, document }, message) => {
      const older = { sessionKey: key, ...document.conversation };
      return chat.keepOlderText(older, document.origins, readers.of(message));
    },
  };
}

export function chatContextOf(
  { config: { config }, log }: GatewayOptions,
  { folders: { provenance } }: Core,
  { mind: { contextFiles, chatMemory }, readers }: Assistant,
): ChatContext {
  return new ChatContext({
    workspace: config.agents.defaults.workspace,
    contextFiles,
    chatMemory,
    whoseOf: readers.ofSession,
    markForeign: provenance.markForeign,
    log,
  });
}

/** How answers and questions look in their chats. */
function replies({
  platforms: { channels, shapes, previews },
  live,
}: Assistant): Pick<ChatPorts, "previews" | "patienceMs" | "replies" | "questionReplies"> {
  return {
    previews,
    patienceMs: (message) => channels.get(message.channel)?.patienceMs ?? live.running.policy.answerSeconds * 1000,
    // What a sub-agent says reaches people through its parent alone.
    replies: (message, replyId, content, turnId, attachments) =>
      message.taskId === undefined
        ? repliesOf(shapes.get(destinationOf(message)?.channel ?? ""), message, replyId, content, turnId, attachments)
        : [],
    questionReplies(message, asked, content, turnId) {
      const choices = choicesFor(asked).map(({ id, label, description }) => {
        return { label, description, value: `${asked.request_id}:${id}` };
      });
      const question = { id: asked.request_id, content, choices };
      return questionRepliesOf(shapes.get(message.channel), message, question, turnId);
    },
  };
}
