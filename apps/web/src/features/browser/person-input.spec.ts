import { personInput } from './person-input';

/** Takes what is sent, and answers it when the test says so. */
function slowBrowser() {
  const sent: [string, object][] = [];
  const answers: (() => void)[] = [];
  const act = personInput((operation, input) => {
    sent.push([operation, input]);
    return new Promise<void>((resolve) => answers.push(resolve));
  });
  const answer = async () => {
    answers.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { act, answer, sent };
}

describe('personInput', () => {
  it('sends one call at a time, in order; letters typed meanwhile go together', async () => {
    const { act, answer, sent } = slowBrowser();
    for (const text of ['a', 'b', 'c']) act('browser.type', { text });
    act('browser.type', { text: '', key: 'Enter' });
    act('browser.type', { text: 'd' });
    expect(sent).toEqual([['browser.type', { text: 'a' }]]);
    for (let calls = 0; calls < 4; calls += 1) await answer();
    expect(sent.slice(1)).toEqual([
      ['browser.type', { text: 'bc' }],
      ['browser.type', { text: '', key: 'Enter' }],
      ['browser.type', { text: 'd' }],
    ]);
  });

  it('adds up what is scrolled, and never joins clicks', async () => {
    const { act, answer, sent } = slowBrowser();
    act('browser.click', { x: 1, y: 1 });
    act('browser.scroll', { y: 100 });
    act('browser.scroll', { y: -30 });
    act('browser.click', { x: 2, y: 2 });
    act('browser.click', { x: 2, y: 2 });
    for (let calls = 0; calls < 4; calls += 1) await answer();
    expect(sent.slice(1)).toEqual([
      ['browser.scroll', { y: 70 }],
      ['browser.click', { x: 2, y: 2 }],
      ['browser.click', { x: 2, y: 2 }],
    ]);
  });
});
