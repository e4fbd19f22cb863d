import { type Sentence, sentencesOf } from "./sentences.js";

/** What a person is asked before a tool does something, in English. `reason` is what a person, a model or the system names. */
export const permissionSentences = {
  may_i: "May I {what}? {because}.",
  may_i_for: "May I {what} for {who}? {because}.",
  go_on_anyway: "{name} was called {n} times with the same input. Should I go on with it?",

  allow_once: "Allow once",
  allow_always: "Always allow",
  always_this: "{what}, exactly so and in this chat",
  deny: "Deny",
  go_on: "Go on",
  stop_that: "Stop that",
} as const;

/** What a tool would do. */
export const deedSentences = {
  do_read: "read {reason}",
  do_write: "write {reason}",
  do_send: "send to {reason}",
  do_fetch: "fetch {reason}",
  do_message: "write to {reason}",
  do_run: "run {reason}",
  do_search_memory: "search the memory",
  do_change_memory: "change the memory",
  do_search_chat_memory: "search the memory of this chat",
  do_change_chat_memory: "change the memory of this chat",
  do_job: "{name} a scheduled job",
  do_use: "use {reason}",
} as const;

/** Why a person is asked about it. */
export const askingSentences = {
  by_rule: "{rule} says to ask",
  others_text: "this conversation holds text that others wrote: {reason}; /new leaves it behind",
  others_files:
    "this conversation holds text that others wrote: {reason}; /new leaves it behind, until one of these files is used again (commands use all files in this chat's folder)",
  others_here: "others write in this chat too",

  sends_out: "that sends something out",
  other_chat: "that is another chat",
  open_network: "that runs with the network, this machine's own ports included",
  no_walls_here: "that runs without a sandbox",
  unknown_call: "nobody knows what it may change",
  may_change: "it may change something",
  steers: "that steers the assistant",
  speaks_later: "that speaks to every later conversation",
  outside_workspace: "that is outside of the workspace",
  outside_folder: "that is outside of this chat's own folder",

  unclear_command: "that runs without a sandbox, and its words do not say what it names",
  own_code: "that runs code that is written in the command itself, without a sandbox",
  reaches_secrets: "that reaches {reason}, which can hold secrets",
  reaches_hidden: "that reaches {reason}, which is not for this chat",
  reaches: "that reaches {reason}",
  leaves_workspace: "that leaves the workspace for {reason}",
  whole_workspace: "that takes in the whole workspace with {reason}",

  endless_programs: "that starts programs without end",
  nested: "that is nested too deep to be looked through",
  to_device: "that writes to the device {reason}",
  stops_machine: "that stops the machine",
  erases_disk: "that can erase a disk",
  ends_programs: "that ends every program",
  destroys: "that can destroy all that is in {reason}",
} as const;

export const permissionSentence: Sentence<typeof permissionSentences> = sentencesOf(permissionSentences);
export const deedSentence: Sentence<typeof deedSentences> = sentencesOf(deedSentences);
export const askingSentence: Sentence<typeof askingSentences> = sentencesOf(askingSentences);
