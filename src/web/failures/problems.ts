import type { ProblemCode } from "../../util/words/problem-sentences.js";

/** What is wrong in the config, for who reads Chinese. The English page shows the gateway's own sentence. */
export const problemsInChinese: Readonly<Record<ProblemCode, string>> = {
  no_provider: "还没有设置模型服务商。请设置 providers.<name>.apiKey，例如用 `maxclaw onboard`。",
  no_model: "还没有选择模型。请设置 agents.defaults.model，例如“{provider}/<model>”。",
  unused: "改动后的配置没有生效：{reason}",
  restart: "请重新启动网关：配置已在 {keys} 处改动。",
  default_used: "{reason}；使用默认值",
  files_used: "{reason}；对话文档保存为文件",
  not_started: "{reason}；改正之前网关不会启动",
  rules_closed: "{reason}；改正之前，每次使用工具都会询问",
  token_closed: "{reason}；改正之前，不接受任何令牌",
  part_off: "{reason}；{part} 已关闭",
  part_ignored: "{reason}；{part} 被忽略",
  unknown_meant: "未知的键“{key}”被忽略；是否想写“{near}”？",
  unknown_ignored: "未知的键“{key}”被忽略",
  unknown_key: "未知的键“{key}”",
  expected: "{key}：应为 {wanted}，实际为 {found}",
  no_channel: "已配置 channels.{name}，但 maxclaw 还没有 {title} 渠道",
  channel_lacks: "channels.{name} 已开启，但缺少 {missing}",
  engine_lacks: "engine.kind 是 postgres，但没有设置 engine.url",
  server_lacks: "{part} 需要 command 或 url 之一",
  proxies_closed: "已设置 gateway.trustedProxies，但没有设置 gateway.token：只服务本机，不服务经过代理的任何人",
  host_closed:
    "gateway.host 是 {host}，但没有设置 gateway.token：设置之前只有本机能访问网关（配置中的 gateway.token，或 MAXCLAW_TOKEN）",
  token_short: "gateway.token 少于 {least} 个字符，而别人可以访问 {host}：请用 openssl rand -hex 32 生成一个",
  home_changeable: "本机的其他用户可以更改 {folder} 中的内容",
  home_readable: "本机的其他用户可以查看 {folder}",
  file_changeable: "本机的其他用户可以更改 {path}",
  file_readable: "本机的其他用户可以读取 {path}",
  mode_todo: "{what}：chmod {mode} {path}",
  two_files: "{first} 和 {second} 都存在：以前者为准",
};
