import { defineWords } from "../../words/words.js";

export const chatsWords = defineWords(
  {
    title: "Title",
    renameChat: "Rename chat",
    rename: "Rename",
    deleteChat: "Delete this chat?",
    deleteText: "“{title}” and all its messages and scheduled jobs will be gone.",
    delete: "Delete",
    showMore: "Show more",
    none: "Your chats will appear here.",
    newChat: "New chat",
    chats: "Chats",
    yesterday: "Yesterday",
    renameNamed: "Rename {title}",
    deleteNamed: "Delete {title}",
  },
  {
    title: "标题",
    renameChat: "重命名对话",
    rename: "重命名",
    deleteChat: "删除此对话？",
    deleteText: "“{title}”及其所有消息和定时任务都会被删除。",
    delete: "删除",
    showMore: "显示更多",
    none: "您的对话会显示在这里。",
    newChat: "新对话",
    chats: "对话",
    yesterday: "昨天",
    renameNamed: "重命名 {title}",
    deleteNamed: "删除 {title}",
  },
);
