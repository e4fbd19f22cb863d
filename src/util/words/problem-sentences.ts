import { readerOf, type Sentence, sentencesOf } from "./sentences.js";

/** What can be wrong in the config, or is missing there, in English. These words are here alone: a page knows a sentence by its code. */
export const problemSentences = {
  no_provider: "No model provider is configured. Set providers.<name>.apiKey, e.g. by `maxclaw onboard`.",
  no_model: 'No model is chosen. Set agents.defaults.model, e.g. to "{provider}/<model>".',
  unused: "The changed config is not used: {reason}",
  restart: "Restart the gateway: the config has changed at {keys}.",
  default_used: "{reason}; its default is used",
  files_used: "{reason}; session documents are files",
  not_started: "{reason}; the gateway does not start until that is corrected",
  rules_closed: "{reason}; until that is corrected, every use of a tool asks",
  token_closed: "{reason}; until that is corrected, no token is accepted",
  part_off: "{reason}; {part} is off",
  part_ignored: "{reason}; {part} is ignored",
  unknown_meant: 'unknown key "{key}" is ignored; did you mean "{near}"?',
  unknown_ignored: 'unknown key "{key}" is ignored',
  unknown_key: 'unknown key "{key}"',
  expected: "{key}: expected {wanted}, got {found}",
  no_variable: "{key} uses {names}, but no such variable is in the environment or in secrets.json",
  no_channel: "channels.{name} is configured, but maxclaw has no {title} channel yet",
  no_platform:
    "channels.{name} is not used: it is not a platform, and a further account is named after its platform, as in slack-acme",
  account_name: "channels.{name} is not used: a further account is named after its platform. Call it {near}",
  account_shared:
    "channels.{name} has the same {key} as channels.{other}: the platform gives each message to only one of them",
  channel_lacks: "channels.{name} is enabled but has no {missing}",
  engine_lacks: "engine.kind is postgres, but engine.url is not set",
  server_lacks: "{part} needs either a command or a url",
  proxies_closed:
    "gateway.trustedProxies is set, but gateway.token is not: only this machine is served, and nobody through a proxy",
  host_closed:
    "gateway.host is {host}, but gateway.token is not set: only this machine can reach the gateway until it is (gateway.token in the config, or MAXCLAW_TOKEN)",
  token_short:
    "gateway.token has less than {least} characters, and others can reach {host}: make one with openssl rand -hex 32",
  home_changeable: "Others on this machine can change what is in {folder}",
  home_readable: "Others on this machine can look into {folder}",
  file_changeable: "{path} can be changed by others on this machine",
  file_readable: "{path} can be read by others on this machine",
  mode_todo: "{what}: chmod {mode} {path}",
  two_files: "both {first} and {second} exist: the first one counts",
} as const;

export type ProblemCode = keyof typeof problemSentences;
export const problemSentence: Sentence<typeof problemSentences> = sentencesOf(problemSentences);

export const readProblem = readerOf(problemSentences);
