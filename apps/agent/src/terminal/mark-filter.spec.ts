import { MarkFilter } from './mark-filter.js';

const mark = '\x1b]6973;secret;';

function filtered(chunks: string[]): { text: string; marks: { nonce: string; at: number }[] } {
  let text = '';
  const marks: { nonce: string; at: number }[] = [];
  const filter = new MarkFilter(
    mark,
    (bytes) => (text += bytes.toString('latin1')),
    (nonce) => marks.push({ nonce, at: text.length }),
  );
  for (const chunk of chunks) filter.push(Buffer.from(chunk, 'latin1'));
  filter.flush();
  return { text, marks };
}

test('removes marks and reports where they were', () => {
  const { text, marks } = filtered([`one${mark}1\x07two${mark}2\x07`, 'three']);
  expect(text).toBe('onetwothree');
  expect(marks).toEqual([
    { nonce: '1', at: 3 },
    { nonce: '2', at: 6 },
  ]);
});

test('finds a mark however it is split', () => {
  const whole = `before${mark}42\x07after`;
  for (let cut = 0; cut <= whole.length; cut += 1) {
    for (let second = cut; second <= whole.length; second += 1) {
      const chunks = [whole.slice(0, cut), whole.slice(cut, second), whole.slice(second)];
      expect(filtered(chunks)).toEqual({ text: 'beforeafter', marks: [{ nonce: '42', at: 6 }] });
    }
  }
});

test('lets everything else through, also what looks almost like a mark', () => {
  const texts = [
    '\x1b]6973;other;1\x07',
    '\x1b]6973;secre',
    '\x1b\x1b\x1b]6973;\x1b',
    `${mark}${'9'.repeat(40)}\x07`,
    mark,
  ];
  for (const text of texts) {
    expect(filtered([text]).text).toBe(text);
    expect(filtered(text.split('')).text).toBe(text);
    expect(filtered([...text.split(''), `${mark}7\x07`])).toMatchObject({
      text,
      marks: [{ nonce: '7' }],
    });
  }
});
