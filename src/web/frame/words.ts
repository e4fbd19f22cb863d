import { defineWords } from "../words/words.js";

export const frameWords = defineWords(
  {
    chats: "Chats",
    menu: "Menu",
    skip: "Go to the conversation",
    areas: "Parts of the page",
    settings: "Settings",
    welcome: "What can I do for you?",
    standIn: "offline stand-in",
    standInHint: "No model is configured, so a small rule-based stand-in answers.",
    chooseModel: "Choose who answers",
    newChat: "New chat",
    tokenNeeded: "Token needed",
    signOut: "Sign out",
    unknownPane: "There is no such page here.",
  },
  {
    chats: "对话",
    menu: "菜单",
    skip: "跳到对话",
    areas: "页面的各部分",
    settings: "设置",
    welcome: "有什么可以帮您？",
    standIn: "离线替身",
    standInHint: "尚未配置模型，目前由一个简单的规则程序回答。",
    chooseModel: "选择由谁回答",
    newChat: "新对话",
    tokenNeeded: "需要令牌",
    signOut: "退出登录",
    unknownPane: "这里没有这个页面。",
  },
);
