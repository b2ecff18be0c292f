import type { Message } from '@belay/protocol';
import { withoutOldPictures } from './without-old-pictures.js';

const picture = 'a'.repeat(64);
const shots = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: 'tool',
    results: [
      { id: `c${index}`, operation: 'x', output: { index }, failed: false, images: [picture] },
    ],
  }));
const kept = (messages: Message[]): number =>
  messages.filter((message) => message.role === 'tool' && message.results[0]!.images.length > 0)
    .length;

describe('pictures in a prompt', () => {
  it.each([
    [20, 20],
    [21, 11],
    [30, 20],
    [31, 11],
    [95, 15],
  ])('of %i results the newest %i are kept, so that the beginning seldom changes', (all, left) => {
    const messages = withoutOldPictures(shots(all));
    expect(kept(messages)).toBe(left);
    expect(kept(messages.slice(-left))).toBe(left);
  });

  it('are noted as gone, and those of the user stay', () => {
    const sent: Message = { role: 'user', text: 'Like this', images: [picture] };
    const [first, second] = withoutOldPictures([sent, ...shots(21)]);
    expect(first).toBe(sent);
    expect(second).toMatchObject({
      results: [{ images: [], output: { index: 0, note: expect.stringMatching(/left out/) } }],
    });
  });

  it('leave the same messages behind for each prompt, so that none is sent again', () => {
    const all = shots(40);
    const [before, after] = [withoutOldPictures(all.slice(0, 38)), withoutOldPictures(all)];
    expect(kept(after)).toBe(20);
    expect(after.slice(0, 20).every((message, index) => message === before[index])).toBe(true);
  });
});
