// The package's public face: what a program may build on.

export type {
  GatewayApi,
  SendOutcome,
  SendRequest,
  SessionStatus,
  SessionUsage,
  SubscribeOptions,
  Subscription,
  TurnOutcome,
} from "./api/gateway-api.js";
export type { GatewayStatus } from "./api/gateway-status.js";
export type { InboundMessage, OutboundMessage } from "./bus/messages.js";
export type {
  Channel,
  ChannelContext,
  PublishOutcome,
  ReceivedMessage,
} from "./channels/channel.js";
export type { Delivery, Engine, Work } from "./engine/engine.js";
export {
  ChannelError,
  ConfigError,
  EngineError,
  ProviderError,
  RequestError,
  StorageError,
} from "./errors.js";
export type { ContentPart, Usage } from "./events/content.js";
export type { GatewayEvent, StoredEvent } from "./events/event.js";
export type { Machine, MachineInput, MachineOutput } from "./events/machines/input.js";
export type { EventConsumer } from "./events/system-bus.js";
export {
  type Agent,
  type AgentConfig,
  type AgentDependencies,
  createAgent,
  type SessionPage,
} from "./library/agent.js";
export type { AgentSession, SendOptions } from "./library/session.js";
export type { Logger } from "./log.js";
export type { ModelMessage, ModelRequest, Provider, ProviderChunk, ToolDeclaration } from "./providers/provider.js";
export type { Reactor } from "./reactors/reactor.js";
export type { DocumentMessage, SessionDocument, SessionSummary } from "./sessions/session.js";
export type { StorageDriver } from "./sessions/storage/storage.js";
export { defineTool, type Tool, type ToolContext, type ToolResult } from "./tools/tool.js";
export type { Extension, ExtensionContext, ExtensionFactory } from "./wiring/extension.js";
