import { problemSentences } from "../../util/words/problem-sentences.js";
import { type StatusCode, statusSentences } from "../../util/words/status-sentences.js";
import { channelsInChinese } from "./channels.js";
import { chineseOf } from "./chinese.js";
import { problemsInChinese } from "./problems.js";
import { serversInChinese } from "./servers.js";
import { turnsInChinese } from "./turns.js";

/** How the gateway and its channels are, what was given up, and why, for who reads Chinese. */
export const statusInChinese: Readonly<Record<StatusCode, string>> = {
  nothing_there: "那里没有程序在监听（{code}）",
  nothing_at: "{address} 没有程序在监听（{code}）",
  its_name: "找不到它的名称（{code}）",
  name_unknown: "找不到名称 {name}（{code}）",
  closed_port: "网页请求从不发送到这个端口（{code}）",
  no_way: "从本机无法到达（{code}）",
  no_reply: "它没有回应（{code}）",
  no_tls: "它在这个端口上不使用 TLS（{code}）",
  bad_certificate: "它的证书无效（{code}）",
  was_cut: "连接被切断（{code}）",
  is_absent: "它不存在",
  no_folder: "文件夹 {folder} 不存在",
  is_file: "它是文件，不是文件夹",
  is_folder: "它是文件夹，不是文件",
  dead_link: "它是链接，但链接的目标不存在",
  long_name: "它的名称太长",
  not_plain: "它不是普通文件",
  no_right: "帐户 {account} 没有权限",
  read_only: "它所在的磁盘以只读方式挂载",
  disk_full: "磁盘已满",
  disk_failed: "磁盘读写失败",
  many_files: "打开的文件太多",

  unreachable: "无法连接 {title}：{reason}。",
  late_poll: "{title} 没有及时回应，连没有新消息也没有说。",
  late_send: "{title} 没有及时回应：消息可能已送达。",
  cut_send: "发送被中止：消息可能已送达。",
  broke_call: "与 {title} 的连接中断（{reason}）：请求可能已送达。",
  broke_send: "与 {title} 的连接中断（{reason}）：消息可能已送达。",
  troubled: "{title} 出现问题（{code}）。",
  troubled_send: "{title} 出现问题（{code}）：消息可能已送达。",
  asks_to_wait: "{title} 要求等待（{code}）。",
  bot_unknown: "{title} 不认识这个机器人令牌（{code}）。请把{where}的令牌写入 {key}。",
  where_botfather: " @BotFather 显示",
  where_portal: "开发者门户中 Bot 下显示",
  two_polls: "另一个程序正在用同一个机器人令牌读取 {title}（{code}）。请停止它，或给这个网关一个自己的机器人。",
  message_refused: "{title} 拒绝了消息（{reason}）。",
  call_refused: "{title} 拒绝了 {call}（{reason}）。",
  server_unreachable: "无法连接 {kind} 服务器 {host}：{reason}。",
  no_connection: "现在没有与 {title} 的连接。",
  connection_broke: "与 {title} 的连接中断。",
  connection_closed: "与 {title} 的连接被关闭（{code}）。",
  nothing_heard: "{n} 秒内没有收到任何内容。",
  senders_unchecked: "channels.{name}.verifySender 是“off”：任何人都可以冒用允许交谈的人的名义写信。",
  own_chat_absent: "channels.{name}.allowSelf 只在 channels.{same}.allowFrom 列出的聊天中有效。请把您自己的号码加进去",
  channel_gone: "渠道 {name} 不再有设置，或已关闭。",
  stopped_receiving: "它没有原因地停止了接收。",
  undelivered_one: "最近一周有一条消息无法在 {name} 上送达。它要发到聊天 {chat}：{reason}（maxclaw dead list）",
  undelivered: "最近一周有 {n} 条消息无法在 {name} 上送达。最后一条要发到聊天 {chat}：{reason}（maxclaw dead list）",

  stuck_broken: "无法接收消息：{reason}",
  stuck_question: "有一个没有人回答的问题",
  stuck_running: "有一个回合从 {time} 起一直在运行",
  stuck_suspect: "在等待，因为它的第一条消息可能使网关结束过：它会单独再运行一次",
  stuck_retries: "在等待，因为它的第一条消息失败了，正在重试",
  stuck_waits: "在排队等待",

  log_mended: "{key} 的记录曾损坏，已经修复（发现于 {time}）。{reason}对话继续进行。这条消息将于 {date} 消失。",
  log_kept:
    "{key} 的记录曾损坏，已经修复（发现于 {time}）。{reason}对话继续进行。损坏的文件保存为 {file}；删除它后，这条消息会消失。",
  all_restored: "全部内容都已恢复。",
  lost_event: "丢失：事件 {list}。其他内容都可以读取。",
  lost_events: "丢失：事件 {list}。其他内容全部可以读取。",
  no_writes: "磁盘拒绝写入。",

  guests_file: "AGENTS.md 只供主人使用，而这里允许客人交谈：请把助手与客人交谈时应知道的内容写入 GUESTS.md。",
  silent_heartbeat: "heartbeat.chat：{chat} 中还有别人在看，所以那里不使用心跳清单。请写主人的私聊。",
  changeable_name: "channels.{name}.allowFrom：{id} 是可以转给别人的名称；请改用发送者的 id。",
  no_person: "owners：{owner} 永远不会匹配；请写某个人的 channel:id，例如 telegram:42。",
  rule_in_vain: "policy.rules[{n}] 不允许任何命令：{reason}。",
  no_address: "maxclaw 不知道服务商 {name} 的地址。请设置 providers.{same}.apiBase。",
  misplaced_key:
    "providers.{name}.apiKey 看起来是 {owner} 的密钥，所以不发送给 {receiver}（{host}）。请把它移到 providers.{same}，或改正 providers.{self}。",
  open_key: "providers.{name}.apiBase 以 http:// 开头，所以到 {host} 途中的任何人都能读取密钥。请使用 https://。",
  unpriced: "以美元计的预算不计算 {label}，因为不知道它的价格。请设置 prices.{same}。",
  no_host: "tools.web.fetch.allow：{text} 不是主机、地址或网络（可带端口）。",
  package_absent: "没有安装软件包 {packages}。请运行：maxclaw add {option}，然后重新启动网关",
  packages_absent: "没有安装这些软件包：{packages}。请运行：maxclaw add {option}，然后重新启动网关",
  channel_is_off: "channels.{name} 已关闭：{reason}",
  extension_out: "扩展 {module} 没有加载：{reason}",
  mcp_away: "MCP 服务器 {name} 没有连接：{reason}",
  mcp_wants: "MCP 服务器 {name} 无法完成它提供的全部功能：{reason}",
  wrong_tokens: "10 分钟内有 {n} 次错误的令牌，最后一次来自 {place}。没有一次进入。",
  sandbox_no_system: "这个系统没有可用的沙箱。",
  sandbox_no_bubblewrap: "没有安装 bubblewrap。请用系统的包管理器安装，例如“apt install bubblewrap”。",
  sandbox_fails: "{name} 在这里不能工作：{reason}。",
};

/** What has no code, but is known by its English words. */
export const wordedInChinese = { ...channelsInChinese, ...serversInChinese, ...turnsInChinese };
const worded = Object.fromEntries(Object.keys(wordedInChinese).map((words) => [words, words]));

export const gatewaySentences = { ...problemSentences, ...statusSentences, ...worded };
export const gatewaySentencesInChinese = { ...problemsInChinese, ...statusInChinese, ...wordedInChinese };

export const sayStatus = chineseOf(gatewaySentences, gatewaySentencesInChinese);
