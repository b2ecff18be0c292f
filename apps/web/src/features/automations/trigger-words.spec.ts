import { automationTrigger } from '@belay/protocol';
import { runTitle, triggerWords } from './trigger-words';

const wordsOf = (on: object): string => triggerWords(automationTrigger.parse(on));
const host = { host: 'github.com', repository: 'acme/api' };

it.each([
  [
    { ...host, event: ['issue.labelled', 'issue.command'], label: 'belay', command: 'fix' },
    'When an issue gets the label “belay” or /belay fix is written on an issue, in acme/api',
  ],
  [{ ...host, event: 'pull.labelled' }, 'When a pull request is labelled, in acme/api'],
  [{ ...host, event: 'checks.failed' }, 'When checks fail, in acme/api'],
  [{ schedule: '30 2 * * 1-5' }, 'At 02:30 from Monday to Friday (UTC)'],
  [{ url: true }, 'On a request to its URL'],
  [{ hand: true }, 'Only by hand'],
])('%j begins by: %s', (on, words) => {
  expect(wordsOf(on)).toBe(words);
});

it('a run about nothing has what began it as its title', () => {
  expect(runTitle({ subject: 'hand', event: 'hand' })).toBe('By hand');
  expect(runTitle({ subject: '#12', event: 'hand' })).toBe('#12');
  expect(runTitle({ subject: 'constructor', event: 'push' })).toBe('constructor');
});
