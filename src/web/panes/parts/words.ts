import { defineWords } from "../../words/words.js";

export const partWords = defineWords(
  {
    loading: "Loading …",
    retry: "Try again",
    cancel: "Cancel",
    save: "Save",
    saved: "Saved",
    working: "One moment …",
    delete: "Delete",
  },
  {
    loading: "加载中…",
    retry: "重试",
    cancel: "取消",
    save: "保存",
    saved: "已保存",
    working: "请稍候…",
    delete: "删除",
  },
);
