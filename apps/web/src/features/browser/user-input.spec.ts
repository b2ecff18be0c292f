import { userInput } from './user-input';

/** Records what is sent, and resolves the oldest pending call on `answer`. */
function slowBrowser() {
  const sent: [string, object][] = [];
  const answers: (() => void)[] = [];
  const action = userInput(({ operation, input }) => {
    sent.push([operation, input]);
    return new Promise<void>((resolve) => answers.push(resolve));
  });
  const answer = async () => {
    answers.shift()?.();
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { action, answer, sent };
}

describe('userInput', () => {
  it('sends one call at a time, in order, and combines letters typed meanwhile', async () => {
    const { action, answer, sent } = slowBrowser();
    for (const text of ['a', 'b', 'c']) action('browser.type', { text });
    action('browser.type', { text: '', key: 'Enter' });
    action('browser.type', { text: 'd' });
    expect(sent).toEqual([['browser.type', { text: 'a' }]]);
    for (let calls = 0; calls < 4; calls += 1) await answer();
    expect(sent.slice(1)).toEqual([
      ['browser.type', { text: 'bc' }],
      ['browser.type', { text: '', key: 'Enter' }],
      ['browser.type', { text: 'd' }],
    ]);
  });

  it('adds up scrolling, and never combines clicks', async () => {
    const { action, answer, sent } = slowBrowser();
    action('browser.click', { x: 1, y: 1 });
    action('browser.scroll', { y: 100 });
    action('browser.scroll', { y: -30 });
    action('browser.click', { x: 2, y: 2 });
    action('browser.click', { x: 2, y: 2 });
    for (let calls = 0; calls < 4; calls += 1) await answer();
    expect(sent.slice(1)).toEqual([
      ['browser.scroll', { y: 70 }],
      ['browser.click', { x: 2, y: 2 }],
      ['browser.click', { x: 2, y: 2 }],
    ]);
  });
});
