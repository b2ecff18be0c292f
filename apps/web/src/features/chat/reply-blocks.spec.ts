import { replyBlocks } from './reply-blocks';

describe('replyBlocks', () => {
  it('keeps completed blocks unchanged while text is appended', () => {
    const text = 'First, *so*.\n\n# Then\n\nMore\nof it';
    expect(replyBlocks(text)).toEqual(['First, *so*.\n', '# Then\n', 'More\nof it']);
    expect(replyBlocks(`${text} and on`).slice(0, 2)).toEqual(replyBlocks(text).slice(0, 2));
  });

  it('does not split code, lists, quotes and tables', () => {
    for (const whole of [
      '```js\nif (a) {\n\nb();\n```',
      '1. one\n\n2. two\n\n   more of two',
      '- one\n\n- two',
      '> a\n\n> b',
      '| a |\n| - |',
    ])
      expect(replyBlocks(whole)).toEqual([whole]);
  });

  it('splits after a closed fence', () => {
    expect(replyBlocks('~~~\na\n\nb\n~~~\n\nText')).toEqual(['~~~\na\n\nb\n~~~\n', 'Text']);
  });
});
