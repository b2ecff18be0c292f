/**
 * The text of an answer. Of a stream of events, which does not end, what comes up to the event with this number; the request
 * then ends.
 */
export async function textUpTo(answer: Response, seq: () => Promise<number>): Promise<string> {
  const type = answer.headers.get('content-type') ?? '';
  if (!answer.body || !type.startsWith('text/event-stream')) return answer.text();
  const last = new RegExp(`^id: ${await seq()}$`, 'm');
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (last.test(text)) break;
  }
  return text;
}
