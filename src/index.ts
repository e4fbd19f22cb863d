// The package's public face: what a program may build on.

export type { FilesApi } from "./api/files/files-api.js";
export type { GatewayApi } from "./api/gateway-api.js";
export type { GatewayStatus } from "./api/gateway-status.js";
export type { EventsApi, SubscribeOptions, Subscription } from "./api/messages/events-api.js";
export type { MessagesApi, SendOutcome, SendRequest, TurnOutcome } from "./api/messages/messages-api.js";
export type { PairingsApi } from "./api/policy/pairings-api.js";
export type { PolicyApi } from "./api/policy/policy-api.js";
export type { SessionStatus, SessionsApi, SessionUsage } from "./api/sessions/sessions-api.js";
export type { KnownSkillsApi } from "./api/skills-api.js";
export type { StatusApi } from "./api/status/status-api.js";
export type {
  Attachment,
  Button,
  ChatPlace,
  InboundMessage,
  MessageMode,
  OutboundMessage,
  Quoted,
  Retry,
  Silence,
} from "./bus/messages.js";
export type {
  Channel,
  ChannelContext,
  ChannelRecords,
  OwnChannelContext,
  OwnerToDo,
  PlatformContext,
  Press,
  PressOutcome,
  Publish,
  PublishOutcome,
  Receipt,
  ReceivedFile,
  ReceivedMessage,
  ReceivedPress,
  WebhookPaths,
} from "./channels/channel.js";
export type { Marks } from "./channels/formatting/markdown.js";
export type { Inbox, InboxOptions, Taken } from "./channels/intake/inbox.js";
export type { Position } from "./channels/intake/position.js";
export type { Call, CallAnswer } from "./channels/wire/call.js";
export type { OpenSocket, SocketLimits, SocketOptions } from "./channels/wire/socket.js";
export type { TakeWebhook, Webhook, WebhookAnswer, WebhookOptions, WebhookRequest } from "./channels/wire/webhook.js";
export type { Delivery, Engine, Work } from "./engine/engine.js";
export {
  ChannelError,
  ConfigError,
  EngineError,
  type EngineErrorKind,
  type ErrorCode,
  type Fault,
  type FaultOptions,
  ProviderError,
  type ProviderErrorKind,
  type ProviderErrorOptions,
  RequestError,
  StorageError,
  type Unreached,
} from "./errors.js";
export type { EventConsumer, EventsOf, Unsubscribe } from "./events/bus/system-bus.js";
export type { AgentState, EventType } from "./events/catalogue.js";
export type {
  ContentPart,
  ImagePart,
  StopReason,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  ToolUsePart,
  Usage,
} from "./events/content.js";
export type { EventOf, GatewayEvent, StoredEvent } from "./events/event.js";
export type {
  AnswerChunk,
  CutUse,
  Machine,
  MachineInput,
  MachineOutput,
  OutputOf,
  Rates,
  Step,
  TokenPrice,
  TurnEnd,
} from "./events/machines/input.js";
export type { Guess, ModelUse } from "./events/model-use.js";
export {
  type Agent,
  type AgentConfig,
  type AgentDependencies,
  createAgent,
  type SessionPage,
} from "./library/agent.js";
export type { AgentSession, SendOptions } from "./library/session.js";
export type { LogFields, Logger } from "./log.js";
export type {
  ModelMessage,
  ModelRequest,
  NamedUsage,
  Provider,
  ProviderChunk,
  Thinking,
  ToolDeclaration,
} from "./providers/provider.js";
export type { Reactor } from "./reactors/reactor.js";
export type { DocumentMessage, SessionDocument, SessionSummary } from "./sessions/session.js";
export type { Change, StorageDriver } from "./sessions/storage/storage.js";
export {
  defineTool,
  type PlanAdjustment,
  type PlanRequest,
  type Tool,
  type ToolAccess,
  type ToolAgent,
  type ToolAnswer,
  type ToolArtifact,
  type ToolAttachment,
  type ToolCallChat,
  type ToolCallIds,
  type ToolChat,
  type ToolCommands,
  type ToolContext,
  type ToolConversation,
  type ToolFiles,
  type ToolImage,
  type ToolPermissions,
  type ToolQuestion,
  type ToolResult,
  type ToolRun,
  type ToolTask,
  type ToolTasks,
  type ToolTraits,
} from "./tools/tool.js";
export type { ChannelKit } from "./wiring/extensions/channel-kit.js";
export {
  defineExtension,
  type Extension,
  type ExtensionContext,
  type ExtensionFactory,
  type ExtensionTool,
} from "./wiring/extensions/extension.js";
export { loadExtensionTools } from "./wiring/extensions/load-tools.js";
export type { ExtensionTools } from "./wiring/extensions/tools.js";
