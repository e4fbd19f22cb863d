export interface Recording {
  end(): Promise<File>;
}

/** `onSecond` is told how many seconds it has gone on. @throws where the reader or the system gives no microphone */
export async function record(onSecond: (seconds: number) => void): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  const ended = new Promise<void>((resolve) => {
    recorder.addEventListener("stop", () => resolve());
  });
  recorder.addEventListener("dataavailable", ({ data }) => void parts.push(data));
  recorder.start(1000);
  let seconds = 0;
  onSecond(seconds);
  const clock = setInterval(() => {
    seconds += 1;
    onSecond(seconds);
  }, 1000);
  return {
    async end() {
      clearInterval(clock);
      if (recorder.state !== "inactive") recorder.stop();
      await ended;
      for (const track of stream.getTracks()) track.stop();
      const type = recorder.mimeType.split(";")[0] ?? "";
      const name = type.endsWith("/mp4") ? "voice.m4a" : type.endsWith("/ogg") ? "voice.ogg" : "voice.webm";
      return new File(parts, name, { type });
    },
  };
}
