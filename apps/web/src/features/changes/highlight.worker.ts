import { highlight } from './highlight';
import type { HighlightReply, HighlightRequest } from './syntax';

addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, language, texts } = data;
  const reply: HighlightReply = { id, texts: texts.map((text) => highlight(language, text)) };
  postMessage(reply, {
    transfer: reply.texts.flatMap(({ starts, runs }) => [starts.buffer, runs.buffer]),
  });
});
