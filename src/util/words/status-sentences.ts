import { type Sentence, sentencesOf } from "./sentences.js";

/** How the gateway and its channels are, what was given up, and why, in English. */
export const statusSentences = {
  // Why something failed: ends of sentences
  nothing_there: "nothing listens there ({code})",
  nothing_at: "nothing listens at {address} ({code})",
  its_name: "its name was not found ({code})",
  name_unknown: "the name {name} was not found ({code})",
  closed_port: "no web request is ever sent to this port ({code})",
  no_way: "there is no way to it from this machine ({code})",
  no_reply: "it does not answer ({code})",
  no_tls: "it does not speak TLS on this port ({code})",
  bad_certificate: "its certificate is not valid ({code})",
  was_cut: "the connection was cut ({code})",
  is_absent: "it is not there",
  no_folder: "the folder {folder} is not there",
  is_file: "it is a file, not a folder",
  is_folder: "it is a folder, not a file",
  dead_link: "it is a link, and what it leads to is not there",
  long_name: "its name is too long",
  not_plain: "it is not a regular file",
  no_right: "the account {account} has no right to it",
  read_only: "its disk is mounted read-only",
  disk_full: "the disk is full",
  disk_failed: "the disk has failed to read or write it",
  many_files: "too many files are open",

  // Channels, and replies that did not arrive
  unreachable: "{title} cannot be reached: {reason}.",
  late_poll: "{title} did not answer in time, not even to say that there is nothing new.",
  late_send: "{title} did not answer in time: the message may have arrived.",
  cut_send: "The send was aborted: the message may have arrived.",
  broke_call: "The connection to {title} broke ({reason}): the request may have arrived.",
  broke_send: "The connection to {title} broke ({reason}): the message may have arrived.",
  troubled: "{title} is having problems ({code}).",
  troubled_send: "{title} is having problems ({code}): the message may have arrived.",
  asks_to_wait: "{title} asks to wait ({code}).",
  bot_unknown: "{title} does not know this bot token ({code}). Put the token that {where} into {key}.",
  where_botfather: "@BotFather shows",
  where_portal: "the developer portal shows under Bot",
  two_polls:
    "Another program polls {title} with the same bot token ({code}). Stop it, or give this gateway a bot of its own.",
  message_refused: "{title} refused the message ({reason}).",
  call_refused: "{title} refused {call} ({reason}).",
  server_unreachable: "The {kind} server {host} cannot be reached: {reason}.",
  no_connection: "There is no connection to {title} now.",
  connection_broke: "The connection to {title} broke.",
  connection_closed: "The connection to {title} was closed ({code}).",
  nothing_heard: "Nothing was heard for {n} s.",
  senders_unchecked: 'channels.{name}.verifySender is "off": anybody can write in the name of a person who may talk.',
  own_chat_absent:
    "channels.{name}.allowSelf counts only in chats that channels.{same}.allowFrom names. Add your own number there",
  channel_gone: "The channel {name} is not configured any more, or is off.",
  stopped_receiving: "It stopped receiving without a reason.",
  undelivered_one:
    "One message of the last week could not be delivered on {name}. It was for chat {chat}: {reason} (maxclaw dead list)",
  undelivered:
    "{n} messages of the last week could not be delivered on {name}. The last one was for chat {chat}: {reason} (maxclaw dead list)",

  // Chats that do not get on
  stuck_broken: "cannot take messages: {reason}",
  stuck_question: "has a question open that nobody has answered",
  stuck_running: "has a turn running since {time}",
  stuck_suspect: "waits, because its first message may have ended the gateway: it runs again alone",
  stuck_retries: "waits, because its first message has failed and is tried again",
  stuck_waits: "waits for its turn",

  // Damage
  log_mended:
    "The log of {key} was damaged, and has been repaired (found {time}). {reason} The conversation goes on. This message disappears on {date}.",
  log_kept:
    "The log of {key} was damaged, and has been repaired (found {time}). {reason} The conversation goes on. The damaged file is kept as {file}; once you delete it, this message goes.",
  all_restored: "All of it could be restored.",
  lost_event: "Lost: event {list}. Everything else could be read.",
  lost_events: "Lost: events {list}. Everything else could be read.",
  no_writes: "The disk refuses writes.",

  // Guests, the policy, models, tools
  guests_file:
    "AGENTS.md is for owners alone, and guests may talk here: write what the assistant should know with them into GUESTS.md.",
  silent_heartbeat:
    "heartbeat.chat: others read along in {chat}, so the list of the heartbeat is not used there. Name an owner's direct chat.",
  changeable_name: "channels.{name}.allowFrom: {id} is a name that can change hands; use the sender's id instead.",
  no_person: "owners: {owner} never matches; write channel:id of a person, e.g. telegram:42.",
  rule_in_vain: "policy.rules[{n}] allows no command: {reason}.",
  no_address: "maxclaw does not know the address of the provider {name}. Set providers.{same}.apiBase.",
  misplaced_key:
    "providers.{name}.apiKey looks like a key of {owner}, so it is not sent to {receiver} ({host}). Move it to providers.{same}, or correct providers.{self}.",
  open_key:
    "providers.{name}.apiBase begins with http://, so everybody on the way to {host} can read the key. Use https://.",
  unpriced: "The budgets in usd count nothing for {label}, because its price is not known. Set prices.{same}.",
  no_host: "tools.web.fetch.allow: {text} is not a host, address or network, with or without a port.",
  package_absent: "the package {packages} is not installed. Run: maxclaw add {option}, then restart the gateway",
  packages_absent: "the packages {packages} are not installed. Run: maxclaw add {option}, then restart the gateway",
  channel_is_off: "channels.{name} is off: {reason}",
  extension_out: "The extension {module} is left out: {reason}",
  mcp_away: "MCP server {name} is not connected: {reason}",
  mcp_wants: "MCP server {name} cannot do all that it offers: {reason}",
  wrong_tokens: "{n} wrong tokens were tried within 10 minutes, the last one from {place}. None of them got in.",
  sandbox_no_system: "There is no sandbox for this system.",
  sandbox_no_bubblewrap:
    'bubblewrap is not installed. Install it with your package manager, e.g. "apt install bubblewrap".',
  sandbox_fails: "{name} does not work here: {reason}.",
} as const;

export type StatusCode = keyof typeof statusSentences;

export const statusSentence: Sentence<typeof statusSentences> = sentencesOf(statusSentences);
