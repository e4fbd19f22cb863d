/**
 * Why a channel does not receive, and why a message did not arrive, for who reads Chinese: by the English sentence, with names for what
 * is different each time. Channels write their sentences where they throw them; a test reads those places, and wants each here.
 */
export const channelsInChinese: Readonly<Record<string, string>> = {
  // Any channel
  "The send was aborted before it began.": "发送在开始之前就被中止。",
  "The call was aborted before it began.": "请求在开始之前就被中止。",
  "The call was aborted: the request may have arrived.": "请求被中止：请求可能已送达。",
  "The call was aborted.": "请求被中止。",
  "{title} did not answer in time: the request may have arrived.": "{title} 没有及时回应：请求可能已送达。",
  "{title} did not answer in time.": "{title} 没有及时回应。",
  "The connection to {title} broke ({reason}).": "与 {title} 的连接中断（{reason}）。",
  "no connection came about": "没有建立连接",
  "it was cut": "被切断",
  "the connection broke": "连接中断",
  "it does not answer": "它没有回应",
  "A token for {title} has a character that no token has. Copy it into the config again.":
    "{title} 的一个令牌含有令牌中不会出现的字符。请把它重新复制到配置中。",
  "What answers ({code}) is not {title}. Check its address and the proxy.":
    "回应的程序不是 {title}（{code}）。请检查它的地址和代理。",
  "What {title} answered is not as documented.": "{title} 的回答与它的文档不符。",
  "What answers is not {title}. Check {where}.": "回应的程序不是 {title}。请检查 {where}。",
  "What answers is not a Matrix homeserver. Check {where}.": "回应的程序不是 Matrix 主服务器。请检查 {where}。",
  "channels.feishu.domain and channels.feishu.apiRoot": "channels.feishu.domain 和 channels.feishu.apiRoot",
  "{title} refused the request ({reason}).": "{title} 拒绝了请求（{reason}）。",
  "{title} refused the connection ({reason}).": "{title} 拒绝了连接（{reason}）。",
  "{title} refused {what} ({said}). {reason}": "{title} 拒绝了{what}（{said}）。{reason}",
  "{title} refused the message ({said}). {reason}": "{title} 拒绝了消息（{said}）。{reason}",
  "code {code}: {reason}": "代码 {code}：{reason}",
  "{status}, code {code}: {reason}": "{status}，代码 {code}：{reason}",
  "a request": "请求",
  "the message": "消息",
  "the file": "文件",
  "the login": "登录",
  "The answer is larger than {n} bytes.": "回答超过 {n} 字节。",
  "Nothing was heard from {title} for {n} s.": "{n} 秒内没有从 {title} 收到任何内容。",
  "{key} is not a web address: it must begin with {kinds}.": "{key} 不是网址：它必须以 {kinds} 开头。",
  "{key} must begin with one of {kinds}.": "{key} 必须以其中之一开头：{kinds}。",
  "http:// or https://": "http:// 或 https://",
  "one of {kinds}": "其中之一（{kinds}）",
  "{title} did not give the file ({reason}).": "{title} 没有给出文件（{reason}）。",
  "The file could not be fetched from {title}: {reason}.": "无法从 {title} 取得文件：{reason}。",
  "The file of a long answer could not be written: {reason}.": "无法写入较长回答的文件：{reason}。",
  "The file of {title} leads from one address to the next.": "{title} 的文件从一个地址转到另一个地址，没有尽头。",
  "A file of {title} could not be fetched: {reason}.": "无法取得 {title} 的一个文件：{reason}。",
  "A file of {title} is not there ({code}).": "{title} 的一个文件不存在（{code}）。",
  "A file of {title} has an address that is not opened.": "{title} 的一个文件使用不会被打开的地址。",
  "A file of {title} is at an address of this machine or of a private network, which is not opened.":
    "{title} 的一个文件位于本机或内部网络的地址，这种地址不会被打开。",
  "The file {name} is empty, and {title} takes no empty files.": "文件 {name} 是空的，而 {title} 不接受空文件。",
  "The file {name} is empty, and XMPP servers take no empty files.": "文件 {name} 是空的，而 XMPP 服务器不接受空文件。",
  "{title} did not say where the file is.": "{title} 没有说文件在哪里。",
  "Another channel has the path {path}.": "另一个渠道已经使用路径 {path}。",
  "channels.{name} needs an address to listen on. Set channels.{same}.listenAddr.":
    "channels.{name} 需要一个监听地址。请设置 channels.{same}.listenAddr。",
  "channels.{name}.listenAddr is not an address such as {example}.":
    "channels.{name}.listenAddr 不是像 {example} 这样的地址。",
  "channels.{name}.listenAddr: {address} cannot be listened on ({reason}). Choose another port.":
    "channels.{name}.listenAddr：无法在 {address} 上监听（{reason}）。请换一个端口。",
  "channels.{name}.listenAddr: {reason}. Choose another port.": "channels.{name}.listenAddr：{reason}。请换一个端口。",

  // Discord
  "The person does not accept direct messages from this server, or has blocked the bot.":
    "此人不接受来自这个服务器的私信，或已屏蔽机器人。",
  "Give the bot the permissions that docs/discord.md names.": "请给机器人 docs/discord.md 中列出的权限。",
  "Discord does not know this bot token (4004). Put the token that the developer portal shows under Bot into channels.discord.token.":
    "Discord 不认识这个机器人令牌（4004）。请把开发者门户中 Bot 下显示的令牌写入 channels.discord.token。",
  "Discord does not let this bot read messages (4014). Switch on Message Content Intent on the Bot page of the developer portal, save, and start again.":
    "Discord 不让这个机器人读取消息（4014）。请在开发者门户的 Bot 页面打开 Message Content Intent，保存，然后重新启动。",
  "Discord closed the connection for good ({code}). {reason}": "Discord 永久关闭了连接（{code}）。{reason}",
  "Discord closed the connection for good ({code}).": "Discord 永久关闭了连接（{code}）。",
  "The bot is in too many servers for one connection.": "机器人所在的服务器太多，一个连接不够。",
  "The connection to Discord broke ({code}) and did not come back.": "与 Discord 的连接中断（{code}），没有恢复。",
  "Discord cannot be reached: what answers there is not Discord. Check channels.discord.apiRoot.":
    "无法连接 Discord：那里回应的程序不是 Discord。请检查 channels.discord.apiRoot。",

  // Email
  "channels.email.{key} cannot be read: {reason}": "无法读取 channels.email.{key}：{reason}",
  "{host} has no access token at the moment ({reason})": "{host} 现在没有访问令牌（{reason}）",
  "{host} does not renew the login: log in again, and put the new refresh token into channels.email.oauth.refreshToken ({reason})":
    "{host} 不延长登录：请重新登录，并把新的 refresh token 写入 channels.email.oauth.refreshToken（{reason}）",
  "The token endpoint {address} cannot be reached: {reason}": "无法连接令牌地址 {address}：{reason}",
  "The mailbox cannot be used: {reason}.": "无法使用邮箱：{reason}。",
  "The connection was given up before it began.": "连接在开始之前就被放弃。",
  "The {kind} server {host}: {reason}": "{kind} 服务器 {host}：{reason}",
  "The IMAP server {host} refused the login ({said}): {reason}.": "IMAP 服务器 {host} 拒绝了登录（{said}）：{reason}。",
  "The IMAP server {host} refused the login: {reason}.": "IMAP 服务器 {host} 拒绝了登录：{reason}。",
  "check channels.email.imapUsername and imapPassword": "请检查 channels.email.imapUsername 和 imapPassword",
  "its access token has run out or is not for this mailbox": "它的访问令牌已过期，或不属于这个邮箱",
  "The SMTP server {host} failed: {reason}.": "SMTP 服务器 {host} 出错：{reason}。",
  "The SMTP server {host} refused the mail: {reason}": "SMTP 服务器 {host} 拒绝了邮件：{reason}",
  "A mail has vanished while it was read.": "一封邮件在读取时消失了。",
  "The mailbox of {account} has renumbered its mails.": "{account} 的邮箱给邮件重新编了号。",
  "The mail is not in the mailbox any more.": "这封邮件已不在邮箱中。",
  "The mail could not be written: {reason}": "无法写成邮件：{reason}",
  "Nothing is sent by mail, because channels.email.autoReplyEnabled is false.":
    "不通过邮件发送任何内容，因为 channels.email.autoReplyEnabled 是 false。",

  // Feishu
  "Feishu named no address for the connection.": "飞书没有给出连接的地址。",
  "Feishu did not say which message it has shown.": "飞书没有说它显示了哪条消息。",
  "Put the App ID and the App Secret of the page Credentials & Basic Info into channels.feishu.appId and channels.feishu.appSecret. An app of Lark needs channels.feishu.domain lark.":
    "请把“凭证与基础信息”页面的 App ID 和 App Secret 写入 channels.feishu.appId 和 channels.feishu.appSecret。Lark 的应用需要把 channels.feishu.domain 设为 lark。",
  "Give the app {right} on its page Permissions & Scopes, and publish a new version.":
    "请在应用的“权限管理”页面给它{right}，并发布新版本。",
  "the right that is missing (docs/feishu.md lists all)": "缺少的权限（docs/feishu.md 列出了全部）",
  "the right {name}": "权限 {name}",
  "one of the rights {names}": "这些权限之一：{names}",
  "Add the ability Bot on the app's page Add Features, and publish a new version.":
    "请在应用的“添加应用能力”页面添加“机器人”，并发布新版本。",
  "Publish the app on its page Version Management & Release.": "请在“版本管理与发布”页面发布应用。",
  "Add the address of this machine to the app's IP whitelist (Security Settings), or empty that list.":
    "请把本机的地址加入应用的 IP 白名单（安全设置），或清空该名单。",
  "The app has too many connections: 50 are the most.": "应用的连接太多：最多 50 个。",
  "Take this person into the app's range of availability (Version Management & Release).":
    "请把此人加入应用的可用范围（版本管理与发布）。",

  // Matrix
  "The access token for Matrix has no device, which encryption needs. Log in by password.":
    "Matrix 的访问令牌没有设备，而加密需要设备。请用密码登录。",
  "The access token for Matrix belongs to a device whose keys another program has, such as Element. Encryption needs a device of its own: set channels.matrix.userId and password instead of accessToken, or make a new token.":
    "Matrix 的访问令牌属于一个设备，它的密钥在另一个程序手中，例如 Element。加密需要自己的设备：请设置 channels.matrix.userId 和 password 来代替 accessToken，或生成新的令牌。",
  "The encrypted file on Matrix is damaged: it is not what its sender has put there.":
    "Matrix 上的加密文件已损坏：它不是发送者放在那里的内容。",
  "channels.matrix.recoveryKey is not a recovery key: it has 48 letters and digits, such as EsTc …":
    "channels.matrix.recoveryKey 不是恢复密钥：恢复密钥有 48 个字母和数字，例如 EsTc …",
  "channels.matrix.recoveryKey does not fit the bot's account. In Element, logged in as the bot: All settings, Encryption, shows how to make a new one.":
    "channels.matrix.recoveryKey 与机器人的帐户不符。请以机器人的身份登录 Element：“所有设置 › 加密”说明了如何生成新的密钥。",
  "Matrix named no web address for the file.": "Matrix 没有给出文件的网址。",
  "What came from Matrix could not be taken: {reason}": "无法接收来自 Matrix 的内容：{reason}",
  "The Matrix room is encrypted, and nothing is sent there without encryption.":
    "这个 Matrix 房间是加密的，不会不加密地向那里发送内容。",
  "Matrix asks for a password before it takes {what}. Set channels.matrix.userId and password.":
    "Matrix 在接受{what}之前要求密码。请设置 channels.matrix.userId 和 password。",
  "The access token is not valid any more: put a new one into channels.matrix.accessToken.":
    "访问令牌已失效：请把新的令牌写入 channels.matrix.accessToken。",
  "Log in as the bot, for example in Element, and accept the terms at {address}.":
    "请以机器人的身份登录（例如在 Element 中），并在 {address} 接受条款。",
  "Log in as the bot, for example in Element, and accept the terms.":
    "请以机器人的身份登录（例如在 Element 中），并接受条款。",
  "Ask the people who run the homeserver what is wrong with the bot's account.":
    "请询问主服务器的管理者，机器人的帐户出了什么问题。",
  "It is larger than the homeserver allows.": "它超过主服务器允许的大小。",

  // QQ
  "QQ closed the connection for good: it does not take this shard ({code}).":
    "QQ 永久关闭了连接：它不接受这个分片（{code}）。",
  "QQ closed the connection for good: the bot is in too many guilds for one connection ({code}).":
    "QQ 永久关闭了连接：机器人所在的频道太多，一个连接不够（{code}）。",
  "QQ closed the connection for good: it does not take this version of the protocol ({code}).":
    "QQ 永久关闭了连接：它不接受这个版本的协议（{code}）。",
  "QQ has taken this bot off line. Publish it at q.qq.com, or set channels.qq.apiRoot to the sandbox ({code}).":
    "QQ 已让这个机器人下线。请在 q.qq.com 发布它，或把 channels.qq.apiRoot 设为沙箱（{code}）。",
  "QQ has banned this bot. Ask QQ to lift the ban, and start it again ({code}).":
    "QQ 已封禁这个机器人。请向 QQ 申请解封，然后重新启动（{code}）。",
  "Put the AppID and the AppSecret that q.qq.com shows into channels.qq.appId and channels.qq.appSecret.":
    "请把 q.qq.com 显示的 AppID 和 AppSecret 写入 channels.qq.appId 和 channels.qq.appSecret。",
  "Add the address of this machine to the bot's IP whitelist at q.qq.com (Development settings).":
    "请在 q.qq.com（开发设置）把本机的地址加入机器人的 IP 白名单。",
  "Give the bot this right at q.qq.com (Development, Interfaces).":
    "请在 q.qq.com（开发 › 接口权限）给机器人这个权限。",
  "QQ has banned this bot.": "QQ 已封禁这个机器人。",
  "QQ lets this bot receive nothing (4014). At q.qq.com give it one of these: private chats and groups (1<<25), guild messages (1<<30), direct messages of guilds (1<<12).":
    "QQ 不让这个机器人接收任何内容（4014）。请在 q.qq.com 给它其中之一：私聊和群聊（1<<25）、频道消息（1<<30）、频道私信（1<<12）。",
  "QQ named no gateway. Check channels.qq.apiRoot.": "QQ 没有给出网关。请检查 channels.qq.apiRoot。",
  "What answers at {where} is not QQ's gateway.": "{where} 处回应的程序不是 QQ 的网关。",
  "QQ's gateway did not name its heartbeat.": "QQ 的网关没有给出心跳间隔。",
  "QQ did not name the session.": "QQ 没有给出会话。",
  "{reason} Check channels.qq.appId and channels.qq.appSecret.":
    "{reason}请检查 channels.qq.appId 和 channels.qq.appSecret。",
  "QQ did not take the login.": "QQ 没有接受登录。",
  "QQ took none of the replies that were tried.": "QQ 没有接受任何一个尝试的回复。",
  "QQ takes only png and jpg pictures in guilds.": "QQ 在频道中只接受 png 和 jpg 图片。",
  "QQ lets a bot answer a message for {n} minutes, five times at most, and this bot may not begin by itself (code {code}). The person reads with the next answer that this one is missing.":
    "QQ 只让机器人在 {n} 分钟内回复一条消息，最多五次，而这个机器人不能主动发送（代码 {code}）。对方会在下一个回答中看到缺少这一条。",

  // Slack
  "The file is not kept by Slack, so it is not fetched.": "这个文件不是由 Slack 保存的，所以不去取它。",
  "Slack did not give the file. The app may lack the right files:read: add it, and install the app again.":
    "Slack 没有给出文件。应用可能缺少 files:read 权限：请添加它，并重新安装应用。",
  "The Slack app lacks the rights {names}. Add them on its page OAuth & Permissions, and install it again.":
    "Slack 应用缺少权限 {names}。请在它的 OAuth & Permissions 页面添加，并重新安装应用。",
  "The app lacks the right {name}. Add it on the page OAuth & Permissions, install the app again, and start again.":
    "应用缺少权限 {name}。请在 OAuth & Permissions 页面添加，重新安装应用，然后重新启动。",
  "that docs/slack.md names": "（见 docs/slack.md）",
  "Allow messages to the app: its page App Home, Messages Tab, “Allow users to send messages”.":
    "请允许向应用发送消息：应用的 App Home 页面，Messages Tab，“Allow users to send messages”。",
  "Invite the bot to the channel.": "请邀请机器人加入频道。",
  "Put the token that the app's page {page} shows ({form}) into channels.slack.{key}.":
    "请把应用的 {page} 页面显示的令牌（{form}）写入 channels.slack.{key}。",
  "Slack gave no address for the connection.": "Slack 没有给出连接的地址。",
  "Slack closed the connection: Socket Mode is off. Switch it on, on the app's page Socket Mode.":
    "Slack 关闭了连接：Socket Mode 是关闭的。请在应用的 Socket Mode 页面打开它。",

  // Telegram
  "Telegram does not give this file.": "Telegram 不给出这个文件。",
  "Another program has taken this bot's webhook away. Stop it, or use a bot of its own.":
    "另一个程序取走了这个机器人的 webhook。请停止它，或使用自己的机器人。",
  "Telegram cannot reach channels.telegram.webhook.url ({reason}).":
    "Telegram 无法访问 channels.telegram.webhook.url（{reason}）。",
  "channels.telegram.webhook: {address} cannot be listened on ({reason}). Choose another port.":
    "channels.telegram.webhook：无法在 {address} 上监听（{reason}）。请换一个端口。",
  "what answers there is not Telegram: check channels.telegram.apiRoot and proxy":
    "那里回应的程序不是 Telegram：请检查 channels.telegram.apiRoot 和 proxy",
  "the request failed": "请求失败",

  // Programs on the WebSocket
  "The program of {chat} went away: the message may have arrived.": "{chat} 的程序离开了：消息可能已送达。",
  "The program of {chat} did not answer in time: the message may have arrived.":
    "{chat} 的程序没有及时回应：消息可能已送达。",
  "No program is connected for {chat}: the message waits for it.": "{chat} 没有连接程序：消息会等待它。",
  "No program is connected for {chat}.": "{chat} 没有连接程序。",
  "channels.websocket.host is {host}, which others can reach: set channels.websocket.token first.":
    "channels.websocket.host 是 {host}，别人可以访问：请先设置 channels.websocket.token。",
  "channels.websocket cannot listen on {address} ({reason}).":
    "channels.websocket 无法在 {address} 上监听（{reason}）。",

  // WhatsApp Business
  "{reason} (code {code}).": "{reason}（代码 {code}）",
  "WhatsApp refused the request: {reason}": "WhatsApp 拒绝了请求：{reason}",
  "WhatsApp refused the request.": "WhatsApp 拒绝了请求。",
  "WhatsApp named a place for a file that is not Meta's.": "WhatsApp 给出的文件地址不属于 Meta。",
  "The app secret is not that of the access token's app. Correct {section}.appSecret.":
    "app secret 不是访问令牌所属应用的。请改正 {section}.appSecret。",
  "WhatsApp does not know this phone number id, or the access token may not use it. Correct {section}.phoneNumberId.":
    "WhatsApp 不认识这个电话号码 id，或访问令牌不能使用它。请改正 {section}.phoneNumberId。",
  "{reason} This text does not fit into the template.": "{reason}这段文字不适合模板。",
  "The access token lacks the right whatsapp_business_messaging. Add it to the system user and make a new {section}.accessToken.":
    "访问令牌缺少权限 whatsapp_business_messaging。请把它给系统用户，并生成新的 {section}.accessToken。",
  "WhatsApp does not take the access token: it is wrong or has ended. Correct {section}.accessToken.":
    "WhatsApp 不接受访问令牌：它是错的，或已过期。请改正 {section}.accessToken。",
  "WhatsApp wants fewer messages for a while.": "WhatsApp 要求暂时少发消息。",
  "WhatsApp wants fewer messages to this person for a while.": "WhatsApp 要求暂时少给此人发消息。",
  "Meta has blocked this account for a while because of its rules. Look at the page Business support home.":
    "Meta 因为它的规则暂时封锁了这个帐户。请查看“商务支持主页”。",
  "Meta has locked this account. Look at the page Business support home.":
    "Meta 已锁定这个帐户。请查看“商务支持主页”。",
  "Too many people have reported messages of this number, so WhatsApp sends fewer of them. Look at its quality in the WhatsApp Manager.":
    "太多人举报了这个号码的消息，所以 WhatsApp 减少了发送。请在 WhatsApp 管理工具中查看它的质量。",
  "Something went wrong at WhatsApp.": "WhatsApp 出了问题。",
  "WhatsApp is overloaded or in maintenance.": "WhatsApp 过载或正在维护。",
  "The number is in maintenance at WhatsApp.": "WhatsApp 正在维护这个号码。",
  "The assistant cannot write to its own number.": "助手不能给自己的号码写消息。",
  "The message cannot be delivered: this number has no WhatsApp, has an old one, or has not accepted its terms.":
    "消息无法送达：这个号码没有 WhatsApp，版本太旧，或没有接受它的条款。",
  "A test number can only write to numbers on its list. Add this one on the page API Setup.":
    "测试号码只能给列表中的号码写消息。请在 API Setup 页面添加这个号码。",
  "WhatsApp needs a means of payment for this account. Add one in the WhatsApp Manager.":
    "WhatsApp 需要这个帐户有付款方式。请在 WhatsApp 管理工具中添加。",
  "The number is not registered. Register it in the WhatsApp Manager.":
    "这个号码没有注册。请在 WhatsApp 管理工具中注册。",
  "This person last wrote more than 24 hours ago. WhatsApp allows only an approved template then: set {section}.template, or wait until they write.":
    "此人上次写消息是在 24 小时以前。这时 WhatsApp 只允许经过批准的模板：请设置 {section}.template，或等对方写消息。",
  "Meta has chosen not to deliver this message, so that people do not get too many from businesses.":
    "Meta 决定不送达这条消息，以免人们收到太多商家消息。",
  "WhatsApp could not fetch the file that this person sent.": "WhatsApp 无法取得此人发送的文件。",
  "WhatsApp does not take this file: its kind or its size is not allowed.":
    "WhatsApp 不接受这个文件：不允许它的类型或大小。",
  "The template of {section}.template must have exactly one variable in its text.":
    "{section}.template 的模板文字中必须正好有一个变量。",
  "There is no approved template with the name and language of {section}.template.":
    "没有名称和语言与 {section}.template 相同的已批准模板。",
  "The text is too long for the template.": "这段文字对模板来说太长。",
  "Meta has paused the template of {section}.template because of its quality.":
    "Meta 因为质量暂停了 {section}.template 的模板。",
  "Meta has switched off the template of {section}.template because of its quality.":
    "Meta 因为质量停用了 {section}.template 的模板。",

  // WhatsApp by the bridge
  "The WhatsApp bridge wants a token. Set {key} to its BRIDGE_TOKEN.":
    "WhatsApp 网桥需要令牌。请把 {key} 设为它的 BRIDGE_TOKEN。",
  "The WhatsApp bridge does not take the token. Correct {key}: it is the bridge's BRIDGE_TOKEN.":
    "WhatsApp 网桥不接受令牌。请改正 {key}：它是网桥的 BRIDGE_TOKEN。",
  "The bridge has closed the connection.": "网桥关闭了连接。",
  "The WhatsApp bridge did not answer: the message may have arrived.": "WhatsApp 网桥没有回应：消息可能已送达。",
  "The WhatsApp bridge did not answer in time.": "WhatsApp 网桥没有及时回应。",
  "The WhatsApp bridge did not send the message: {reason}.": "WhatsApp 网桥没有发送消息：{reason}。",
  "it does not say why": "它没有说明原因",
  "The file {name} did not reach {title}: {reason}.": "文件 {name} 没有送达 {title}：{reason}。",
  "The WhatsApp bridge did not take the file {name} ({code}).": "WhatsApp 网桥没有接受文件 {name}（{code}）。",
  "The WhatsApp bridge runs, but it is not connected to WhatsApp. {reason}":
    "WhatsApp 网桥在运行，但没有连接到 WhatsApp。{reason}",
  "If its device was removed on the phone, delete the bridge's folder whatsapp-auth and start it again.":
    "如果在手机上移除了它的设备，请删除网桥的文件夹 whatsapp-auth，然后重新启动它。",
  "The WhatsApp bridge runs, but it is not connected to WhatsApp, and it shows no code to scan":
    "WhatsApp 网桥在运行，但没有连接到 WhatsApp，也没有显示可以扫描的二维码",

  // XMPP
  "{jid} is not a room.": "{jid} 不是聊天室。",
  "The bot was invited into {n} rooms already, and goes into no more.":
    "机器人已被邀请进入 {n} 个聊天室，不再进入更多。",
  "The room {room} was destroyed.": "聊天室 {room} 已被销毁。",
  "The room {room} has banned the bot.": "聊天室 {room} 禁止机器人进入。",
  "The room {room} has thrown the bot out.": "聊天室 {room} 踢出了机器人。",
  "The room {room} takes only its members now.": "聊天室 {room} 现在只接受成员。",
  "The room {room} does not answer.": "聊天室 {room} 没有回应。",
  "channels.xmpp.service is not an address that can be used. Write xmpp://host:5222, xmpps://host:5223 or wss://host/path.":
    "channels.xmpp.service 不是可用的地址。请写 xmpp://host:5222、xmpps://host:5223 或 wss://host/path。",
  "The XMPP server does not answer.": "XMPP 服务器没有回应。",
  "The server of {jid} was not found.": "找不到 {jid} 的服务器。",
  "The server of {jid} did not begin TLS.": "{jid} 的服务器没有开始 TLS。",
  "The server of {jid} offers no TLS. Without it the password is not sent.":
    "{jid} 的服务器不提供 TLS。没有它就不发送密码。",
  "What answers there is not an XMPP server.": "那里回应的程序不是 XMPP 服务器。",
  "The server of {jid} offers no way to log in that is known here.": "{jid} 的服务器不提供这里认识的登录方式。",
  "What answers for {jid} does not know the password: it is not the server.":
    "为 {jid} 回应的程序不知道密码：它不是真正的服务器。",
  "The server of {jid} asks for a login that makes no sense.": "{jid} 的服务器要求一种没有意义的登录。",
  "The XMPP server gave no address ({reason}).": "XMPP 服务器没有给出地址（{reason}）。",
  "There is no connection to the XMPP server now.": "现在没有与 XMPP 服务器的连接。",
  "The XMPP server gave no answer.": "XMPP 服务器没有回答。",
  "The XMPP server did not answer within {n} ms.": "XMPP 服务器在 {n} 毫秒内没有回答。",
  "The XMPP server did not take a message in time.": "XMPP 服务器没有及时接受消息。",
  "What the XMPP server sent cannot be read: {reason}.": "无法读取 XMPP 服务器发送的内容：{reason}。",
  "It was given up before the XMPP server answered.": "在 XMPP 服务器回答之前就被放弃。",
  "It was given up before the XMPP server was reached.": "在连接到 XMPP 服务器之前就被放弃。",
  "The connection was given up.": "连接被放弃。",
  "The connection to the XMPP server was closed.": "与 XMPP 服务器的连接被关闭。",
  "The connection to the XMPP server was lost.": "与 XMPP 服务器的连接丢失。",
  "The XMPP server has no service for files (HTTP File Upload), so that none can be sent.":
    "XMPP 服务器没有文件服务（HTTP File Upload），所以不能发送文件。",
  "The file {name} is larger than the {n} bytes that the XMPP server takes.":
    "文件 {name} 超过 XMPP 服务器接受的 {n} 字节。",
  "The XMPP server gave no place for a file.": "XMPP 服务器没有给出存放文件的地方。",
  "Entering the room {room} was refused ({reason}).": "进入聊天室 {room} 被拒绝（{reason}）。",
  "Looking into the archive of {archive} was refused ({reason}).": "查看 {archive} 的存档被拒绝（{reason}）。",
  "A message to {chat} was refused ({reason}).": "给 {chat} 的消息被拒绝（{reason}）。",
  "The file {name} was refused ({reason}).": "文件 {name} 被拒绝（{reason}）。",
  "The server of {jid} cannot check the password now.": "{jid} 的服务器现在无法检查密码。",
  "The server refused the login of {jid} ({code}). {reason}": "服务器拒绝了 {jid} 的登录（{code}）。{reason}",
  "Check channels.xmpp.jid and channels.xmpp.password.": "请检查 channels.xmpp.jid 和 channels.xmpp.password。",
  "The account is switched off there.": "那里的帐户已停用。",
  "The password has run out.": "密码已过期。",
  "It wants an encrypted connection: use an address with xmpps://.": "它要求加密连接：请使用 xmpps:// 开头的地址。",
  "The XMPP server ended the connection: another program has logged in with the same resource (conflict). Does a copy of this gateway run?":
    "XMPP 服务器结束了连接：另一个程序用相同的资源名登录（conflict）。是否有这个网关的另一份在运行？",
  "The XMPP server ended the connection ({reason}).": "XMPP 服务器结束了连接（{reason}）。",
};
