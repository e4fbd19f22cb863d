/** Why a message was given up and why a job failed, for who reads Chinese: by the English sentence, as in `channels`. */
export const turnsInChinese: Readonly<Record<string, string>> = {
  "{reason} (turn_{id})": "{reason}（turn_{id}）",
  "It was stopped.": "它被停止了。",
  "Stopped.": "已停止。",
  "It may have been sent several times, and no attempt was confirmed.": "它可能发送了多次，但没有一次得到确认。",

  "The model is busy right now. Please try again in a little while.": "模型现在很忙，请稍后再试。",
  "This conversation has grown too long for the model. Send /new to start a fresh one.":
    "这个对话对模型来说太长了。请发送 /new 开始新对话。",
  "A tool failed, and I could not go on without it.": "一个工具失败了，没有它无法继续。",
  "The model refused our key or our account. The owner needs to check the provider settings.":
    "模型拒绝了密钥或帐户。主人需要检查服务商的设置。",
  "The model refused our key or our account. Check the provider settings.":
    "模型拒绝了密钥或帐户。请检查服务商的设置。",
  "The model did not answer in time. Please try again.": "模型没有及时回答，请重试。",
  "The model did not answer in time (provider {name}). Please try again.":
    "模型没有及时回答（服务商 {name}），请重试。",
  "The model has failed several times in a row, so I am giving it a moment. Please try again soon.":
    "模型连续失败多次，暂时不再询问它。请稍后再试。",
  "I could not write this to disk, so I stopped. The owner needs to check the gateway's disk.":
    "无法写入磁盘，所以停止了。主人需要检查网关的磁盘。",
  "I could not write this to disk, so I stopped. Check the gateway's disk.":
    "无法写入磁盘，所以停止了。请检查网关的磁盘。",
  "I have too much waiting at the moment. Please send this again in a minute.":
    "现在等待处理的内容太多，请一分钟后再发送。",
  "The model did not accept the request. The owner needs to check the model settings.":
    "模型不接受这个请求。主人需要检查模型的设置。",
  "The model did not accept the request. Check the model settings.": "模型不接受这个请求。请检查模型的设置。",
  "The budget for this is used up.": "这项预算已用完。",
  "I was interrupted several times while working on this and have given up. Please send it again.":
    "处理时多次被中断，已放弃。请重新发送。",
  "I cannot read what I have stored of this conversation. Your message is kept. The owner needs to check the gateway's disk.":
    "这个对话的存储内容无法读取。消息已保留。主人需要检查网关的磁盘。",
  "I cannot read what I have stored of this conversation. Your message is kept. Check the gateway's disk.":
    "这个对话的存储内容无法读取。消息已保留。请检查网关的磁盘。",
  "Something went wrong while I was working on this. Please try again.": "处理时出了问题，请重试。",

  "I cannot reach the model: {reason}": "无法连接模型：{reason}",
  "nothing answers at the address of {name}. The owner needs to check that it runs and that {key} is right.":
    "{name} 的地址没有回应。主人需要检查它是否在运行，以及 {key} 是否正确。",
  "nothing answers at the address of {name}. Check that it runs and that {key} is right.":
    "{name} 的地址没有回应。请检查它是否在运行，以及 {key} 是否正确。",
  "the server of {name} was not found. The owner needs to check the internet connection and {key}.":
    "找不到 {name} 的服务器。主人需要检查网络连接和 {key}。",
  "the server of {name} was not found. Check the internet connection and {key}.":
    "找不到 {name} 的服务器。请检查网络连接和 {key}。",
  "the certificate of {name} was not accepted. The owner needs to check {key} and the clock of this machine.":
    "没有接受 {name} 的证书。主人需要检查 {key} 和本机的时钟。",
  "the certificate of {name} was not accepted. Check {key} and the clock of this machine.":
    "没有接受 {name} 的证书。请检查 {key} 和本机的时钟。",
  "the server of {name} does not answer. Please try again. If it happens again, the owner needs to check the network and {key}.":
    "{name} 的服务器没有回应，请重试。如果再次发生，主人需要检查网络和 {key}。",
  "the server of {name} does not answer. Please try again. If it happens again, check the network and {key}.":
    "{name} 的服务器没有回应，请重试。如果再次发生，请检查网络和 {key}。",
  "the connection to {name} was cut. Please try again.": "与 {name} 的连接被切断，请重试。",
  "I could not read the answer of the model (provider {name}). Please try again. If it happens again, the owner needs to check {key}.":
    "无法读取模型的回答（服务商 {name}），请重试。如果再次发生，主人需要检查 {key}。",
  "I could not read the answer of the model (provider {name}). Please try again. If it happens again, check {key}.":
    "无法读取模型的回答（服务商 {name}），请重试。如果再次发生，请检查 {key}。",

  "The model gave an empty answer. Please ask again or put it differently.":
    "模型给出了空的回答。请再问一次，或换个说法。",
  "The model kept thinking and gave no answer. Please ask again or put it differently.":
    "模型一直在思考，没有给出回答。请再问一次，或换个说法。",
  "The model declined to answer this.": "模型拒绝回答。",
};
