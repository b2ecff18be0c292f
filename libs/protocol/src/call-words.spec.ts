import { labelOfCall, sentenceOfCall } from './call-words.js';

describe('a call in words', () => {
  const sentence = (action: string, args: object) =>
    sentenceOfCall({
      seq: 1,
      time: '2026-01-01T00:00:00.000Z',
      source: 'agent',
      message: `${action} …`,
      id: 'c',
      action,
      args: args as never,
    });

  it.each([
    ['terminal.run', { command: 'ls' }, 'Run: ls'],
    ['files.read', { path: 'hello.sh' }, 'Read: hello.sh'],
    ['browser.open', { url: 'http://a.test/' }, 'Open a page: http://a.test/'],
    ['terminal.list', {}, 'List terminals.'],
    ['think', { thought: 'I see.' }, 'I see.'],
    ['ask', { question: 'What next?' }, 'What next?'],
    ['finish', { outcome: 'success', summary: 'All done.' }, 'All done.'],
    ['think', {}, 'Think.'],
    ['mcp.git.log', { path: 'a' }, 'log (git): {"path":"a"}'],
    ['unheard.of', { a: 1 }, 'unheard.of: {"a":1}'],
  ])('says what %s does', (action, args, said) => {
    expect(sentence(action, args)).toBe(said);
  });

  it('has one line of an input', () => {
    const args = { command: `echo a\necho ${'b'.repeat(1_000)}` };
    expect(labelOfCall({ action: 'terminal.run', args })).toEqual({
      verb: 'Run',
      subject: 'echo a',
    });
  });
});
