import { processorMs } from '@belay/testing';
import { neutralLineOfText, neutralText } from './neutral-text.js';

const neutral = (text: string): string => neutralText(text, 10_000);

describe('text of agents', () => {
  it.each([
    'It fails because `x` is undefined: see **src/a.ts**, line 3.',
    'Write to joe@acme.example.',
    '- one\n- two\n\n1. three',
    'Use `@Injectable()` and `#12` and `Fixes #1`.',
    '```ts\n@Injectable()\nclass A<T> {} // Fixes #12\n```',
    '~~~\n`@team`\n~~~',
    'a `` b ` c `` d',
    'C# and F# and a \\* star',
  ])('keeps %j', (text) => {
    expect(neutral(text)).toBe(text);
  });

  it.each([
    ['@team, look', '`@team`, look'],
    ['**@acme/team**', '**`@acme/team`**'],
    ['_@team_', '_`@team_`'],
    ['\\@team', '`@team`'],
    ['\\\\@team', '\\\\`@team`'],
    ['`x`@team', '`x` `@team`'],
    ['&#64;team &commat;team', '&amp;`#64`;team &amp;commat;team'],
    ['Fixes #12', 'Fixes `#12`'],
    ['Closes: acme/api#12, !3 and GH-4', 'Closes: `acme/api#12`, `!3` and `GH-4`'],
    [
      'Fixes [#12](https://x.example/a/b/issues/12)',
      'Fixes [`#12`](`https://x.example/a/b/issues/12`)',
    ],
    ['/merge', '\\/merge'],
    ['a\n  /close', 'a\n  \\/close'],
    ['[//]: # (hidden)', '\\[//]: # (hidden)'],
    ['a <!-- belay:run:x --> b', 'a &lt;!-- belay:run:x --> b'],
    ['<img src=x>', '&lt;img src=x>'],
    ['` and\n`@team`', '\\` and\n`@team`'],
    ['`a | @team` | b', '\\`a | `@team`\\` | b'],
    ['- ```\n  x\n  ```\n@team', '- \\`\\`\\`\n  x\n  \\`\\`\\`\n`@team`'],
    ['```\nx', '```\nx\n```'],
    ['```\n/merge\n```', '```\n /merge\n```'],
    ['a\u200b@team\u202e', 'a<U+200B>`@team`<U+202E>'.replaceAll('<', '&lt;')],
  ])('turns %j into %j', (text, expected) => {
    expect(neutral(text)).toBe(expected);
  });

  it('is cut, and takes no time however it is made', () => {
    expect(neutralText('x'.repeat(200), 100)).toHaveLength(100);
    const took = processorMs(() => {
      for (const unit of ['`', '`a', 'a/', '@', '[', '\\', '<', '#', 'a.'])
        neutralText(unit.repeat(5_000), 10_000);
    });
    expect(took).toBeLessThan(20_000);
  });
});

it.each([
  ['Fix the total of an order', 'Fix the total of an order'],
  ['Fixes #12 for @@team\n\nBelay-Evidence: x', 'Fixes 12 for team Belay-Evidence: x'],
  ['See #!#12 and GH-GH-4 and https://x.example/issues/3', 'See 12 and 4 and'],
])('makes %j a line: %j', (text, expected) => {
  expect(neutralLineOfText(text, 200)).toBe(expected);
});
