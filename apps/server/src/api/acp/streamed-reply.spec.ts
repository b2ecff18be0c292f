import { StreamedReply } from './streamed-reply.js';

/** An editor that takes one piece at a time, each when it is told to. */
function slowEditor() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const reply = new StreamedReply((kind, text) => {
    taken.push(`${kind} ${text}`);
    return new Promise((resolve) => waiting.push(resolve));
  });
  const takeAll = async (done: Promise<void>) => {
    const timer = setInterval(() => waiting.shift()?.(), 1);
    await done;
    clearInterval(timer);
  };
  return { taken, reply, takeAll };
}

describe('a reply that is shown while it is written', () => {
  it('is sent in pieces, what waits as one of them, and then the rest', async () => {
    const { taken, reply, takeAll } = slowEditor();
    reply.add('reasoning', 'Hm');
    reply.add('text', ' I');
    reply.add('text', ' will');
    const pieces = takeAll(Promise.resolve());
    await pieces;
    await takeAll(reply.end({ reasoning: 'Hm.', text: 'I will paint.' }));
    expect(taken).toEqual(['reasoning Hm', 'reasoning .', 'text I will paint.']);
    await takeAll(reply.end({ text: 'Done.' }));
    expect(taken.at(-1)).toBe('text Done.');
  });

  it('is sent whole after what an attempt that failed has left', async () => {
    const { taken, reply, takeAll } = slowEditor();
    reply.add('text', 'I wi');
    await takeAll(reply.end({ text: 'Sure.' }));
    expect(taken).toEqual(['text I wi', 'text \n\nSure.']);
    reply.add('text', '\nSame ');
    await takeAll(reply.end({ text: 'Same' }));
    expect(taken).toHaveLength(3);
  });
});
