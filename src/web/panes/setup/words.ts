import { defineWords } from "../../words/words.js";

export const setupWords = defineWords(
  {
    title: "Set up the assistant",
    whoTitle: "Choose who answers",
    whoAbout:
      "The assistant needs a model to think with. Choose a provider; you need an account there, or a model on your own machine.",
    modelTitle: "Choose a model",
    modelAbout: "You can change it at any time in the settings.",
    whereTitle: "Where do you want to chat?",
    whereAbout: "Here on this page it works already. You can also write to it from elsewhere.",
    here: "Only here for now",
    ready: "Ready: {model} answers.",
    skip: "Not now",
    step: "Step {n} of 3",
    back: "Another provider",
    finish: "Start chatting",
    connected: "{name} is being connected. See Settings, Channels.",
    inSettings: "Set up {name}",
  },
  {
    title: "设置助手",
    whoTitle: "选择由谁回答",
    whoAbout: "助手需要一个模型来思考。请选择服务商；您需要在那里有账户，或在自己的机器上有模型。",
    modelTitle: "选择模型",
    modelAbout: "以后可以随时在设置中更改。",
    whereTitle: "您想在哪里聊天？",
    whereAbout: "在本页面已经可以用了。您也可以从其他地方给它写消息。",
    here: "暂时只在这里",
    ready: "就绪：由 {model} 回答。",
    skip: "以后再说",
    step: "第 {n} 步，共 3 步",
    back: "换一个服务商",
    finish: "开始聊天",
    connected: "正在连接 {name}。请看“设置”中的“渠道”。",
    inSettings: "设置 {name}",
  },
);
